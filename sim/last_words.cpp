#include "sim/last_words.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace lockstep::sim {

void end_with(std::string_view mistake, std::string_view remedy) noexcept {
  std::fprintf(stderr, "lockstep: %.*s\n  %.*s (docs/adding-an-algorithm.md, \"What other locks need\")\n",
               static_cast<int>(mistake.size()), mistake.data(), static_cast<int>(remedy.size()), remedy.data());
  std::abort();
}

void end_with_exception() noexcept {
  std::string what = "of a type that is no std::exception";
  try {
    throw;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
    // Then there is nothing more to say.
  }
  end_with("an exception left the code of a client, a server or a lock algorithm: " + what,
           "In an algorithm nothing may throw: acquire tells failure by std::nullopt, release by false.");
}

void end_with_divergence() noexcept {
  end_with(
      "an execution did not go again as it went before",
      "An algorithm keeps something outside of its Hold, its client and the servers: in a member or a static variable, "
      "in an address, in real time or chance. One object serves all clients and all executions, so it must have no "
      "state. If no algorithm of yours is involved, this is an error of lockstep.");
}

}  // namespace lockstep::sim
