#pragma once

// What is executed, and what it calls.

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::programs::tracer {

struct Command {
  std::vector<std::string> arguments;    ///< the first names the program, as for a shell
  std::vector<std::string> environment;  ///< "NAME=value": all that it has
  std::string directory;                 ///< empty: the present one
};

/// A system call that the filter shows. `name`: lives for ever.
struct CallMade {
  std::uint32_t thread = 0;  ///< the first of a program is 1, others have numbers in the order of their births
  const char* name = "";
};

}  // namespace lockstep::programs::tracer
