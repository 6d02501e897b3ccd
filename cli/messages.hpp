#pragma once

// What people are told on stderr, whoever wrote it: a script, a history, a file's name may have words without end.

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace lockstep::cli {

/// Hands on what is written to it, each line cut to a screenful (`sim::screenful`).
class Messages : public std::ostream {
 public:
  /// Requires: `to` outlives it.
  explicit Messages(std::ostream& to) : std::ostream(&lines_), lines_(to) {}

 private:
  class Lines : public std::streambuf {
   public:
    explicit Lines(std::ostream& to) : to_(to) {}
    ~Lines() override;

   protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

   private:
    void take(std::string_view text);

    std::ostream& to_;
    std::string line_;  ///< its beginning, so far
  };
  Lines lines_;
};

}  // namespace lockstep::cli
