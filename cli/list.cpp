#include <fmt/format.h>

#include <ostream>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "reports/json.hpp"
#include "reports/linearization.hpp"
#include "reports/listing.hpp"
#include "scenarios/suggestion.hpp"

namespace lockstep::cli {

Exit list(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const reports::ListingOptions options{.width = output.width, .language = call.language};
  const auto show = [&](const reports::Lines& lines) { output.out << reports::to_string(lines, output.colour); };
  if (call.what == "scenarios" || call.what == "failures") {
    const auto loaded = load_all(call.files, catalogue, output.err);
    if (!loaded) return Exit::bad_input;
    const bool failures = call.what == "failures";
    if (call.json)
      output.out << (failures ? reports::failures_json(*loaded) : reports::scenarios_json(*loaded));
    else
      show(failures ? reports::list_failures(*loaded, options) : reports::list_scenarios(*loaded, options));
  } else if (call.what == "algorithms") {
    std::vector<models::locks::Entry> named;
    const std::vector<std::string_view> known = catalogue.ids();
    for (const std::string& name : call.files) {
      const models::locks::Entry* entry = catalogue.find(name);
      if (entry == nullptr) {
        output.err << fmt::format("lockstep: list algorithms {}: {}\n", scenarios::in_quotes(name),
                                  scenarios::suggestion(name, known));
        return Exit::bad_input;
      }
      named.push_back(*entry);
    }
    if (call.json)
      output.out << reports::algorithms_json(named.empty() ? catalogue.entries() : named);
    else
      show(named.empty() ? reports::list_algorithms(catalogue, options) : reports::describe_algorithms(named, options));
  } else if (call.what == "specs") {
    if (call.json)
      output.out << reports::models_json();
    else
      show(reports::list_models(output.width));
  } else if (call.what == "properties") {
    if (call.json)
      output.out << reports::properties_json();
    else
      show(reports::list_properties(options));
  } else {
    if (call.json)
      output.out << reports::faults_json();
    else
      show(reports::list_faults(options));
  }
  return Exit::as_expected;
}

}  // namespace lockstep::cli
