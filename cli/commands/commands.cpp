#include "cli/commands/commands.hpp"

namespace lockstep::cli {

/// In the order of help. Whoever adds a command adds its line here, and nowhere else.
#define LOCKSTEP_COMMANDS(X) \
  X(list)                    \
  X(new)                     \
  X(run)                     \
  X(check)                   \
  X(fuzz)                    \
  X(linearize)               \
  X(matrix)                  \
  X(compare)                 \
  X(report)                  \
  X(confirm)                 \
  X(serve)                   \
  X(play)                    \
  X(schema)

#define LOCKSTEP_DECLARE(command) std::unique_ptr<Call> command##_call();
LOCKSTEP_COMMANDS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

std::vector<std::unique_ptr<Call>> all_commands() {
  std::vector<std::unique_ptr<Call>> commands;
#define LOCKSTEP_ADD(command) commands.push_back(command##_call());
  LOCKSTEP_COMMANDS(LOCKSTEP_ADD)
#undef LOCKSTEP_ADD
  return commands;
}

}  // namespace lockstep::cli
