#include "sim/stop.hpp"

namespace lockstep::sim {

constinit thread_local const Stop::Scope* Stop::innermost_ = nullptr;  // tidy: bounds only
constinit thread_local std::uint64_t Stop::done_ = 0;                  // tidy: bounds only

void Stop::ask_now() {
  done_ = 0;
  for (const Scope* scope = innermost_; scope != nullptr; scope = scope->outer_) {
    if (scope->question_()) throw Stopped();
  }
}

}  // namespace lockstep::sim
