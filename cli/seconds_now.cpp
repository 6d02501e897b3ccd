#include "cli/seconds_now.hpp"

#include <chrono>

namespace lockstep::cli {

double seconds_now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();  // tidy: progress only
}

}  // namespace lockstep::cli
