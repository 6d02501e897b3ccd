#include "door/file.hpp"

#include <unistd.h>

#include <utility>

namespace lockstep::door {

File& File::operator=(File&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

File::~File() {
  if (number_ >= 0) close(number_);
}

}  // namespace lockstep::door
