#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/load_all.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"
#include "cli/guard.hpp"
#include "reports/export/export.hpp"
#include "reports/run/history_file.hpp"
#include "reports/run/json.hpp"
#include "reports/run/summary.hpp"
#include "reports/run/timeline.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/running/sample.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"
#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::cli {
namespace {

using scenarios::Diagnostic;
using scenarios::Outcome;
using scenarios::Scenario;

/// A run in the format of another tool.
struct Export {
  const reports::ExportFormat* format;
  std::string file;
};

class Run final : public Call {
 public:
  Manual manual() override;
  std::string mistake() override;
  bool takes_programs() const override { return true; }
  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  std::string take_export(const std::string& value);
  bool any_export(bool reports::ExportFormat::* needs) const {
    return std::any_of(exports_.begin(), exports_.end(), [&](const Export& each) { return each.format->*needs; });
  }
  std::string objection(const std::vector<Scenario>& stories) const;
  reports::Lines lines(const std::vector<reports::Story>& stories, bool with_timelines, const Output& output) const;
  bool write_files(const std::vector<reports::Story>& stories, const std::vector<Diagnostic>& not_run,
                   std::ostream& err) const;

  std::uint64_t max_memory_ = half_of_memory();
  std::optional<std::uint64_t> may_seed_;  ///< of the execution of `check` that is run instead
  bool timeline_ = false;                  ///< of several stories, too
  bool no_timeline_ = false;
  bool only_failures_ = false;          ///< of several stories: no rows of those that are as expected
  std::optional<std::string> history_;  ///< where the operations of the one story go
  std::vector<Export> exports_;
};

std::string Run::take_export(const std::string& value) {
  const std::size_t sign = value.find('=');
  const std::string name = value.substr(0, sign);
  const reports::ExportFormat* format = reports::find_export_format(name);
  if (format == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& known : reports::export_formats()) names.push_back(known.name);
    return not_one_of("--export", name, names);
  }
  if (sign == std::string::npos || sign + 1 == value.size()) {
    return fmt::format("--export {} needs the name of a file, e.g. --export {}=run.out", scenarios::in_quotes(value),
                       name);
  }
  const std::string& file = exports_.emplace_back(format, value.substr(sign + 1)).file;
  outputs.push_back({"--export " + name, file, {format->mark}});
  if (format->picture_path != nullptr)
    outputs.push_back({"--export " + name + "'s picture", format->picture_path(file), {format->picture_mark}});
  return std::string();
}

Manual Run::manual() {
  return {
      .name = "run",
      .summary = "run scenario files, and compare what happens with what each file expects",
      .example = "run scenarios",
      .head = R"(Runs each scenario once, and compares what happens with what its file expects.

usage: lockstep run FILE|DIR... [OPTIONS]

One story is shown as a timeline, several as a table. All files are read before the first is run:
if one of them is bad, every bad one gets a message, and nothing is run. A story that turns out to be
impossible gets a message, and the others are run; the exit status is 2 then.

)",
      .options = {flag({"--only-failures", "", "of several stories show those alone that are not as expected"},
                       only_failures_),
                  flag({"--timeline", "", ""}, timeline_),
                  flag({"--no-timeline", "", "a timeline of each story; or of none, also when there is only one"},
                       no_timeline_),
                  whole({"--may-seed", "N",
                         "one of the executions that check looks at, drawn by N, instead of that of the file: delays,\n"
                         "and faults of [[may]]; what check expects to hold is expected of it, too"},
                        {.min = 0}, may_seed_),
                  memory_bound(max_memory_),
                  file({"--history", "FILE",
                        "also write the operations of the one story, as EDN (FILE.edn) or JSON lines (FILE.jsonl)"},
                       {":type :invoke", R"("type":"invoke")"}, history_),
                  word(
                      {"--export", "KIND=FILE",
                       "also write the run for another tool, as often as you like (docs/manual/exports.md)\n"
                       "of one story: shiviz, chrome-trace, itf, edn, dot, graphml, markdown (and FILE.svg)\n"
                       "of any number: sarif (what was not as expected), junit (as --junit)"},
                      [this](const std::string& value) { return take_export(value); }, Option::Takes::each)},
      .tail = R"(
example: lockstep run scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml
example: lockstep run scenarios --junit build/lockstep.xml
example: lockstep run mine.toml --export shiviz=mine.log --export markdown=mine.md
)",
      .seed = "random delays and ties, reproducible by N, where the file pins nothing",
      .jobs = "run N stories at a time; the results are the same for any N",
      .language = "language",
      .has_cases = true};
}

std::string Run::mistake() {
  if (timeline_ && no_timeline_) return "--timeline and --no-timeline exclude each other";
  if (history_ && !reports::history_format_of(*history_))
    return expected("--history", *history_, "a name that ends in .edn or .jsonl");
  return files.empty() ? "run needs scenario files or directories, e.g. lockstep run scenarios" : "";
}

/// What is wrong with the call once the stories are known; empty if it can be done.
std::string Run::objection(const std::vector<Scenario>& stories) const {
  if (history_ && stories.size() != 1)
    return fmt::format("--history takes the operations of one story, but there are {}; name one file", stories.size());
  for (const Export& each : exports_) {
    if (each.format->takes_many || stories.size() == 1) continue;
    return fmt::format("--export {} takes one story, but there are {}; name one file", each.format->name,
                       stories.size());
  }
  for (const Scenario& story : stories) {
    if (!may_seed_) break;
    if (const auto refusal = scenarios::refusal_of_programs(story, "check cannot explore, so there is no --may-seed"))
      return refusal->message;
  }
  return "";
}

reports::Lines Run::lines(const std::vector<reports::Story>& stories, bool with_timelines, const Output& output) const {
  reports::Lines all;
  const auto put = [&](reports::Lines part) {
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  };
  for (const reports::Story& story : stories) {
    if (!with_timelines || (only_failures_ && story.outcome.as_expected)) continue;
    put(reports::timeline(story, {.width = output.width, .language = language}));
    if (stories.size() > 1) put(reports::Lines(3));
  }
  if (stories.size() > 1 || !with_timelines)
    put(reports::summary(stories, {.width = output.width, .language = language, .only_failures = only_failures_}));
  return all;
}

/// False after a message.
bool Run::write_files(const std::vector<reports::Story>& stories, const std::vector<Diagnostic>& not_run,
                      std::ostream& err) const {
  if (history_) {
    const auto format = *reports::history_format_of(*history_);
    if (!write_file(*history_, reports::history_text(stories.front().outcome, format), err)) return false;
  }
  const reports::ExportInput input{.stories = stories, .not_run = not_run, .language = language, .version = kVersion};
  return std::all_of(exports_.begin(), exports_.end(), [&](const Export& each) {
    const reports::ExportFormat& format = *each.format;
    return write_file(each.file, format.write(input, each.file), err) &&
           (format.picture_path == nullptr ||
            write_file(format.picture_path(each.file), format.write_picture(input), err));
  });
}

/// A program that forgets to say that it has the lock would keep every promise.
bool tell_silent(const std::vector<reports::Story>& stories, std::ostream& err) {
  bool is_any = false;
  for (const reports::Story& story : stories) {
    const auto is_open = [](const scenarios::Judgement& judgement) {
      return judgement.finding.property == "mutual-exclusion" && !judgement.expected &&
             judgement.finding.verdict == checker::Verdict::not_judged;
    };
    const std::vector<scenarios::Judgement>& all = story.outcome.properties;
    if (scenarios::first_program(story.scenario) == nullptr || std::none_of(all.begin(), all.end(), is_open)) continue;
    is_any = true;
    err << fmt::format("{}: nothing is judged: no program said that it got a lock, as in \"lockstep: acquired {}\"\n",
                       scenarios::one_line(story.scenario.file), story.scenario.lock.key);
  }
  return is_any;
}

Exit Run::perform(const models::locks::Catalogue& catalogue, Output& output) {
  const Guard guard(max_memory_);
  std::optional<std::vector<Scenario>> loaded = load_all(*this, files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (const std::string trouble = objection(*loaded); !trouble.empty()) return refuse(output, trouble);
  const bool with_timelines = shows_text() && (timeline_ || (!no_timeline_ && loaded->size() == 1));
  scenarios::RunOptions options;
  options.seed = seed;
  options.trace = with_timelines || any_export(&reports::ExportFormat::needs_trace);
  options.places_in_programs = false;  // no one of these shows them
  options.key_states = any_export(&reports::ExportFormat::needs_key_states);
  // Each story by itself, on any thread; but programs tell of themselves by a signal to the whole process.
  std::vector<std::variant<Outcome, Diagnostic>> results(loaded->size());
  const auto has_programs = [&](std::size_t i) { return scenarios::first_program((*loaded)[i]) != nullptr; };
  scenarios::in_parallel(loaded->size(), jobs, [&](std::size_t i) {
    if (has_programs(i)) return;
    results[i] = may_seed_ ? scenarios::run_sample((*loaded)[i], catalogue, *may_seed_, options)
                           : scenarios::run((*loaded)[i], catalogue, options);
  });
  for (std::size_t i = 0; i < loaded->size(); ++i) {
    if (has_programs(i)) results[i] = scenarios::run_twice((*loaded)[i], catalogue, options);
  }

  // A story that cannot happen as its file has it is bad input, too. The others have happened.
  Exit of_trouble = Exit::incomplete;
  std::vector<reports::Story> stories;
  std::vector<Diagnostic> not_run;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto* trouble = std::get_if<Diagnostic>(&results[i])) {
      output.err << trouble->to_string() << '\n';
      not_run.push_back(*trouble);
      using Kind = scenarios::Diagnostic::Kind;
      if (trouble->kind != Kind::bound && trouble->kind != Kind::not_repeatable) of_trouble = Exit::bad_input;
    } else {
      stories.push_back({std::move((*loaded)[i]), std::get<Outcome>(std::move(results[i]))});
      warn_of_scripts(stories.back().scenario, stories.back().outcome.script_mistakes, output.err);
    }
  }
  if (stories.empty()) return of_trouble;

  const Result result{.lines = [&] { return lines(stories, with_timelines, output); },
                      .json = [&] { return reports::run_json(stories); },
                      .cases = [&] { return reports::junit_cases(stories); }};
  if (!report(*this, result, output) || !write_files(stories, not_run, output.err)) return Exit::bad_input;
  if (!not_run.empty()) {
    output.err << fmt::format("lockstep: {} of {} stories could not be run\n", not_run.size(), results.size());
    return of_trouble;
  }
  const auto is_mistaken = [](const reports::Story& story) { return !story.outcome.mistake.empty(); };
  if (std::any_of(stories.begin(), stories.end(), is_mistaken)) return Exit::bad_input;
  if (reports::count_as_expected(stories) != stories.size()) return Exit::not_as_expected;
  return tell_silent(stories, output.err) ? Exit::incomplete : Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> run_call() { return std::make_unique<Run>(); }

}  // namespace lockstep::cli
