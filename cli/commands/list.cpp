#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/commands.hpp"
#include "confirm/confirm.hpp"
#include "confirm/record.hpp"
#include "reports/linearization/linearization.hpp"
#include "reports/listing/listing.hpp"
#include "reports/run/json.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

/// The record that has something to say of this story: of its folder, or of one above it.
const confirm::Recorded* recorded(const std::string& file, std::map<std::string, confirm::Record>& records) {
  namespace fs = std::filesystem;
  constexpr int kFoldersUp = 3;
  fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  for (int i = 0; i < kFoldersUp; ++i, folder = folder.parent_path()) {
    const auto [record, is_new] = records.try_emplace(folder.string());
    if (is_new) {
      std::ifstream in(folder / confirm::kRecordName, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      auto read = confirm::read_record(text);
      // A record that cannot be read confirms nothing.
      if (auto* content = std::get_if<confirm::Record>(&read)) record->second = std::move(*content);
    }
    const auto entry = record->second.find(confirm::key_of(file, folder.string()));
    if (entry != record->second.end()) return &entry->second;
  }
  return nullptr;
}

/// What was confirmed once, and has not changed since.
reports::ConfirmedFiles still_confirmed(const std::vector<scenarios::Scenario>& stories,
                                        const models::locks::Catalogue& catalogue) {
  reports::ConfirmedFiles confirmed;
  std::map<std::string, confirm::Record> records;
  for (const scenarios::Scenario& story : stories) {
    if (story.reproduces.empty()) continue;
    const confirm::Recorded* entry = recorded(story.file, records);
    if (entry == nullptr || entry->standing != to_string(confirm::Standing::confirmed)) continue;
    if (confirm::digest_of(story, catalogue) == entry->digest) confirmed.emplace(story.file, entry->redis);
  }
  return confirmed;
}

}  // namespace

Exit list(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const reports::ListingOptions options{.width = output.width, .language = call.language};
  const auto show = [&](const reports::Lines& lines) { output.out << reports::to_string(lines, output.colour); };
  if (call.what == "scenarios" || call.what == "failures") {
    const auto loaded = load_all(call.files, catalogue, output.err);
    if (!loaded) return Exit::bad_input;
    const bool failures = call.what == "failures";
    if (call.json)
      output.out << (failures ? reports::failures_json(*loaded, still_confirmed(*loaded, catalogue))
                              : reports::scenarios_json(*loaded));
    else
      show(failures ? reports::list_failures(*loaded, still_confirmed(*loaded, catalogue), options)
                    : reports::list_scenarios(*loaded, options));
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
