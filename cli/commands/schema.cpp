#include <ostream>

#include "cli/commands/commands.hpp"
#include "reports/listing/scenario_schema.hpp"

namespace lockstep::cli {

Exit schema(const models::locks::Catalogue& catalogue, Output& output) {
  output.out << reports::scenario_schema(catalogue);
  return Exit::as_expected;
}

}  // namespace lockstep::cli
