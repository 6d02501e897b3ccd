#pragma once

// The command line, without a process around it: arguments in, text out, exit status back. Start here.

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>

#include "models/locks/catalogue.hpp"

namespace lockstep::scenarios {
class ProgramMaker;
class Ranks;
}  // namespace lockstep::scenarios

namespace lockstep::cli {

/// What stdout and stderr are connected to.
struct Terminal {
  bool is_tty = false;
  bool is_err_tty = false;
  std::size_t width = 0;  ///< columns; 0: unknown
  bool no_color = false;  ///< the environment has NO_COLOR
};

/// One call of the program. `args` are without the program's name. Results go to `out`, messages to `err`; under
/// `--json` exactly one document goes to `out`, or nothing if there is none.
///
/// Returns the exit status: 0 everything as expected, 1 something was not, 2 the input or the call was wrong, 3 a bound
/// was hit so that the answer is not complete. Bad input is refused before anything is reported: `out` is then empty.
///
/// `ranks`: the processes of which this is one; null: it is alone. The first one reports what all of them have done;
/// the others' `out` and `err` stay empty, and their status is 0.
///
/// `programs`: who runs clients that are programs; null: stories with such clients are refused.
int run(std::span<const std::string> args, std::ostream& out, std::ostream& err,
        const models::locks::Catalogue& catalogue, Terminal terminal, scenarios::Ranks* ranks = nullptr,
        const scenarios::ProgramMaker* programs = nullptr);

}  // namespace lockstep::cli
