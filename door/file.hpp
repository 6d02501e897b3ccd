#pragma once

namespace lockstep::door {

/// An open file of the system, closed with its owner.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  File& operator=(File&& other) noexcept;
  ~File();
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace lockstep::door
