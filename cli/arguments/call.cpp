#include "cli/arguments/call.hpp"

#include <ostream>

namespace lockstep::cli {

Exit refuse(const Output& output, std::string_view why) {
  output.err << "lockstep: " << why << '\n';
  return Exit::bad_input;
}

}  // namespace lockstep::cli
