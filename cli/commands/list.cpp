#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/load_all.hpp"
#include "cli/formats/format.hpp"
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

constexpr std::string_view kLists[] = {"algorithms", "scenarios", "properties", "faults", "failures", "specs"};

class List final : public Call {
 public:
  bool takes_programs() const override { return true; }
  Manual manual() override {
    return {.name = "list",
            .summary = "what there is: lock algorithms, scenarios, properties, faults, failures, specs",
            .example = "list algorithms",
            .head = R"(Shows what there is to use in scenario files.

usage: lockstep list [algorithms|scenarios|properties|faults|failures|specs] [NAME|DIR|FILE...] [OPTIONS]

  algorithms   lock algorithms (this is the default); with NAMEs, the parameters and claims of these
  scenarios    the scenario files below each DIR ("scenarios" if none is given)
  properties   what is judged, and whose truth it is about
  faults       what can go wrong in a scenario
  failures     the documented failures, and the scenario files below each DIR that reproduce them
  specs        the models of lockstep linearize, and their functions

)",
            .tail = R"(
example: lockstep list scenarios --json
example: lockstep list algorithms redlock-seq
)",
            .language = "language of titles and meanings"};
  }

  std::string mistake() override {
    if (!files.empty()) {
      what_ = files.front();
      files.erase(files.begin());
    }
    if (std::find(std::begin(kLists), std::end(kLists), what_) == std::end(kLists))
      return not_one_of("list", what_, kLists);
    const bool of_files = what_ == "scenarios" || what_ == "failures";
    if (!of_files && what_ != "algorithms" && !files.empty())
      return fmt::format("list {} takes no files, but was given {}", what_, scenarios::in_quotes(files.front()));
    if (of_files && files.empty()) files = {"scenarios"};
    return "";
  }

  std::vector<std::string>* lock_names() override { return what_ == "algorithms" ? &files : nullptr; }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override {
    const reports::ListingOptions options{.width = output.width, .language = language};
    const auto show = [&](auto lines, auto json) {
      return report(*this, {.lines = lines, .json = json}, output) ? Exit::as_expected : Exit::bad_input;
    };
    if (what_ == "specs") return show([&] { return reports::list_models(output.width); }, reports::models_json);
    if (what_ == "properties") return show([&] { return reports::list_properties(options); }, reports::properties_json);
    if (what_ == "faults") return show([&] { return reports::list_faults(options); }, reports::faults_json);
    if (what_ == "algorithms") {
      std::vector<models::locks::Entry> named;
      for (const std::string& name : files) {
        const models::locks::Entry* entry = catalogue.find(name);
        if (entry == nullptr) return refuse(output, not_one_of("list algorithms", name, catalogue.ids()));
        named.push_back(*entry);
      }
      return show(
          [&] {
            return named.empty() ? reports::list_algorithms(catalogue, options)
                                 : reports::describe_algorithms(named, options);
          },
          [&] { return reports::algorithms_json(named.empty() ? catalogue.entries() : named); });
    }
    const auto stories = load_all(*this, files, catalogue, output.err);
    if (!stories) return Exit::bad_input;
    if (what_ == "scenarios")
      return show([&] { return reports::list_scenarios(*stories, options); },
                  [&] { return reports::scenarios_json(*stories); });
    const reports::ConfirmedFiles confirmed = still_confirmed(*stories, catalogue);
    return show([&] { return reports::list_failures(*stories, confirmed, options); },
                [&] { return reports::failures_json(*stories, confirmed); });
  }

 private:
  std::string what_ = "algorithms";
};

}  // namespace

std::unique_ptr<Call> list_call() { return std::make_unique<List>(); }

}  // namespace lockstep::cli
