#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands/commands.hpp"
#include "cli/commands/export_files.hpp"
#include "cli/commands/output_files.hpp"
#include "reports/run/history_file.hpp"
#include "reports/run/json.hpp"
#include "reports/run/junit.hpp"
#include "reports/run/summary.hpp"
#include "reports/run/timeline.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/running/sample.hpp"
#include "scenarios/story/suggestion.hpp"
#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::cli {
namespace {

using scenarios::Diagnostic;
using scenarios::Outcome;
using scenarios::Scenario;

/// Each story by itself, on any thread; the result is in the order of the stories.
std::vector<std::variant<Outcome, Diagnostic>> run_each(const std::vector<Scenario>& stories,
                                                        const models::locks::Catalogue& catalogue,
                                                        const scenarios::RunOptions& options, const Call& call) {
  std::vector<std::variant<Outcome, Diagnostic>> results(stories.size());
  scenarios::in_parallel(stories.size(), call.jobs, [&](std::size_t i) {
    results[i] = call.may_seed ? scenarios::run_sample(stories[i], catalogue, *call.may_seed, options)
                               : scenarios::run(stories[i], catalogue, options);
  });
  return results;
}

void show(const std::vector<reports::Story>& stories, bool with_timelines, const Call& call, Output& output) {
  const auto put = [&](const reports::Lines& lines) { output.out << reports::to_string(lines, output.colour); };
  if (with_timelines) {
    for (const reports::Story& story : stories) {
      if (call.only_failures && story.outcome.as_expected) continue;
      put(reports::timeline(story, {.width = output.width, .language = call.language}));
      if (stories.size() > 1) put({reports::Line(), reports::Line(), reports::Line()});
    }
  }
  if (stories.size() > 1 || !with_timelines) {
    put(reports::summary(stories,
                         {.width = output.width, .language = call.language, .only_failures = call.only_failures}));
  }
}

}  // namespace

Exit run_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  std::optional<std::vector<Scenario>> loaded = load_all(call.files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;

  std::vector<std::string> inputs;
  for (const Scenario& story : *loaded) {
    inputs.push_back(story.file);
    if (story.lock.own.entry) inputs.push_back(story.lock.own.path);
  }
  const std::vector<ExportFile> exported = files_of_exports(call);
  std::vector<OutputOption> outputs{{"--junit", call.junit}, {"--history", call.history}};
  for (const ExportFile& each : exported) outputs.push_back({each.option, each.file});
  if (const std::optional<std::string> trouble = refuse_outputs(outputs, inputs)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  if (call.history && loaded->size() != 1) {
    output.err << fmt::format(
        "lockstep: --history takes the operations of one story, but there are {}; name one file\n", loaded->size());
    return Exit::bad_input;
  }
  if (const std::optional<std::string> trouble = refuse_exports(call, loaded->size())) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  const bool with_timelines = !call.json && call.timeline.value_or(loaded->size() == 1);
  scenarios::RunOptions options;
  options.seed = call.seed;
  options.trace = with_timelines || exports_need_trace(call);
  options.key_states = exports_need_key_states(call);
  std::vector<std::variant<Outcome, Diagnostic>> results = run_each(*loaded, catalogue, options, call);

  // A story that cannot happen as its file has it is bad input, too. The others have happened.
  Exit of_trouble = Exit::incomplete;
  std::vector<reports::Story> stories;
  std::vector<Diagnostic> not_run;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto* trouble = std::get_if<Diagnostic>(&results[i])) {
      output.err << trouble->to_string() << '\n';
      not_run.push_back(*trouble);
      if (trouble->kind != scenarios::Diagnostic::Kind::bound) of_trouble = Exit::bad_input;
    } else {
      stories.push_back({std::move((*loaded)[i]), std::get<Outcome>(std::move(results[i]))});
      warn_of_scripts(stories.back().scenario, stories.back().outcome.script_mistakes, output.err);
    }
  }
  if (stories.empty()) return of_trouble;

  if (call.json)
    output.out << reports::run_json(stories);
  else
    show(stories, with_timelines, call, output);

  if (call.junit && !write_file(*call.junit, reports::junit_xml(stories), output.err)) return Exit::bad_input;
  if (call.history) {
    const std::string text = reports::history_text(stories.front().outcome, *reports::history_format_of(*call.history));
    if (!write_file(*call.history, text, output.err)) return Exit::bad_input;
  }
  if (!write_exports(call, stories, not_run, output.err)) return Exit::bad_input;
  if (stories.size() < results.size()) {
    output.err << fmt::format("lockstep: {} of {} stories could not be run\n", results.size() - stories.size(),
                              results.size());
    return of_trouble;
  }
  const bool good = reports::count_as_expected(stories) == stories.size();
  return good ? Exit::as_expected : Exit::not_as_expected;
}

}  // namespace lockstep::cli
