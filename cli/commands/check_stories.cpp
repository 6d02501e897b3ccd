#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "checker/properties/belief/wait_for.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "reports/check/exploration.hpp"
#include "reports/check/margins_json.hpp"
#include "reports/run/json.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/output_file.hpp"
#include "scenarios/checking/agreement.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/state_graph.hpp"
#include "scenarios/families/families.hpp"
#include "scenarios/families/no_return.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/told_results.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/suggestion.hpp"
#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using scenarios::Diagnostic;
using scenarios::Exploration;
using scenarios::Scenario;
using Result = std::variant<Exploration, Diagnostic>;

double seconds_now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();  // tidy: progress only
}

/// Drops what directories hold besides stories that can be explored, and unless `all` are wanted besides fast ones.
/// Returns how many.
reports::LeftOut leave_out(std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue,
                           const std::vector<std::string>& files, bool all) {
  std::vector<fs::path> named;
  std::error_code error;
  for (const std::string& file : files) {
    if (!fs::is_directory(file, error)) named.push_back(fs::weakly_canonical(file, error));
  }
  reports::LeftOut left_out;
  std::erase_if(stories, [&](const Scenario& story) {
    const bool is_named = std::find(named.begin(), named.end(), fs::weakly_canonical(story.file, error)) != named.end();
    const bool is_too_slow = !all && story.cost != scenarios::Cost::fast;
    if (is_named || (!is_too_slow && scenarios::can_be_explored(story, catalogue))) return false;
    ++(scenarios::can_be_explored(story, catalogue) ? left_out.for_cost : left_out.not_explorable);
    return true;
  });
  return left_out;
}

/// What is wrong with the call once the stories are known; nothing if it can be done.
std::optional<std::string> objection(const Call& call, const std::vector<Scenario>& stories,
                                     reports::LeftOut left_out) {
  if (stories.empty()) {
    if (left_out.for_cost > 0)
      return fmt::format("there are only slow or rare stories ({}); --all explores them too", left_out.for_cost);
    return left_out.not_explorable > 0 ? "there are only stories that cannot be explored; lockstep run runs them"
                                       : "there is no scenario file to explore";
  }
  for (const auto& [option, file] :
       {std::pair("--witness", call.check.witness), std::pair("--graph", call.check.graph),
        std::pair("--wait-for", call.check.wait_for), std::pair("--checkpoint", call.check.checkpoint),
        std::pair("--margins-json", call.check.margins)}) {
    if (file && stories.size() != 1)
      return fmt::format("{} needs exactly one story, and here are {}; name a single file", option, stories.size());
  }
  std::vector<std::string> inputs;
  for (const Scenario& story : stories) inputs.push_back(story.file);
  const OutputOption outputs[] = {{"--witness", call.check.witness},       {"--graph", call.check.graph},
                                  {"--wait-for", call.check.wait_for},     {"--margins-json", call.check.margins},
                                  {"--checkpoint", call.check.checkpoint}, {"--junit", call.junit}};
  if (std::optional<std::string> trouble = refuse_outputs(outputs, inputs)) return trouble;
  const std::string& parameter = call.check.parameter;
  const auto has_it = [&](const Scenario& story) { return scenarios::has_parameter(story, parameter); };
  if (!parameter.empty() && std::none_of(stories.begin(), stories.end(), has_it)) {
    return fmt::format("--parameter {}: no [[may]] of {} has a range of it", parameter,
                       stories.size() == 1 ? stories.front().file : "these stories");
  }
  return std::nullopt;
}

/// `--given`, in those stories in which it says something.
std::optional<std::string> give_all(const Call& call, std::vector<Scenario>& stories) {
  for (const auto& [parameter, value] : call.check.given) {
    bool is_any = false;
    for (Scenario& story : stories) {
      if (!scenarios::has_parameter(story, parameter)) continue;
      is_any = true;
      if (std::optional<std::string> trouble = scenarios::give(story, parameter, value))
        return fmt::format("--given {}={}: {}", parameter, sim::to_string(value), *trouble);
    }
    if (is_any) continue;
    return fmt::format("--given {}={}: no [[may]] of {} has a range of it", parameter, sim::to_string(value),
                       stories.size() == 1 ? stories.front().file : "these stories");
  }
  return std::nullopt;
}

/// What a checkpoint file holds. Nothing, and a message: it cannot be read.
std::optional<std::string> read_checkpoint(const std::string& file, std::ostream& err) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  std::string text = std::move(content).str();
  if (!in || text.empty()) {
    err << fmt::format("lockstep: there is no checkpoint to read in {}; leave out --resume to begin anew\n", file);
    return std::nullopt;
  }
  return text;
}

scenarios::CheckOptions options_of(const Call& call, const Interrupt& interrupt) {
  scenarios::CheckOptions options;
  options.tick = call.check.tick;
  options.second_opinion = call.check.second_opinion;
  scenarios::ExplorationOptions& how = options.exploration;
  how.reduction = call.check.reduction;
  how.thorough = call.check.thorough;
  how.max_traces = call.check.max_traces;
  how.max_events = call.check.max_events;
  how.max_seconds = call.check.max_seconds;
  how.stopwatch = seconds_now;
  how.parameter = call.check.parameter;
  how.interrupted = [&interrupt] { return interrupt.is_requested(); };
  return options;
}

/// What the other processes have explored.
void share_results(const std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue,
                   const scenarios::CheckOptions& options, scenarios::Ranks* ranks, std::vector<Result>& results) {
  const auto write = [&](scenarios::Writing& out, std::size_t i) {
    const auto* trouble = std::get_if<Diagnostic>(&results[i]);
    out.add(std::uint64_t{trouble != nullptr});
    if (trouble != nullptr)
      scenarios::add(out, *trouble);
    else
      scenarios::add(out, std::get<Exploration>(results[i]));
  };
  const auto read = [&](scenarios::Reading& in, std::size_t i) {
    if (in.number() != 0) {
      results[i] = scenarios::read_diagnostic(in);
      return;
    }
    results[i] = scenarios::read_exploration(in, catalogue);
    scenarios::compare_with_file(stories[i], catalogue, options, std::get<Exploration>(results[i]));
  };
  [[maybe_unused]] const bool is_read = scenarios::share(ranks, stories.size(), write, read);
  assert(is_read && "all ranks run the same program");
}

/// One story with all threads, or several side by side; the results are in the order of the stories.
std::vector<Result> check_each(const std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue,
                               const scenarios::CheckOptions& options, scenarios::Threads& threads,
                               ProgressLine& progress, scenarios::Ranks* ranks) {
  std::vector<Result> results(stories.size());
  const auto check = [&](std::size_t i, scenarios::Threads* all) {
    if (!scenarios::is_mine(ranks, i)) return;
    scenarios::CheckOptions own = options;
    own.exploration.threads = all;
    if (progress.is_shown()) {
      own.exploration.progress = [&, i](const scenarios::ExplorationProgress& p) { progress.show(stories[i].id, p); };
    }
    results[i] = scenarios::check(stories[i], catalogue, own);
    progress.one_done();
  };
  if (stories.size() == 1) {
    check(0, &threads);
  } else {
    scenarios::in_parallel(stories.size(), threads, [&](std::size_t i) { check(i, nullptr); });
  }
  share_results(stories, catalogue, options, ranks, results);
  return results;
}

std::filesystem::path folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

/// A run of the witness that is shown.
void replay_witness(reports::ExploredStory& story, const models::locks::Catalogue& catalogue) {
  const std::optional<std::size_t> shown = reports::shown_witness(story);
  if (!shown) return;
  const Scenario& witness = *story.exploration.properties[*shown].witness;
  auto outcome = scenarios::run(witness, catalogue, {.trace = true});
  if (auto* happened = std::get_if<scenarios::Outcome>(&outcome)) story.replay = {witness, std::move(*happened)};
}

/// How the search for the states ended: a graph with too many of them is not written, and the rest of the answer
/// stands.
Exit write_graph(const Call& call, const Scenario& scenario, const models::locks::Catalogue& catalogue,
                 std::ostream& err) {
  if (!call.check.graph) return Exit::as_expected;
  const auto format = std::get<checker::GraphFormat>(checker::graph_format_of(*call.check.graph));
  const auto text = scenarios::state_graph(scenario, catalogue, format, call.check.reduction);
  if (const auto* trouble = std::get_if<Diagnostic>(&text)) {
    err << fmt::format("{}\nlockstep: {} is not written\n", trouble->to_string(), *call.check.graph);
    return Exit::incomplete;
  }
  return write_file(*call.check.graph, std::get<std::string>(text), err) ? Exit::as_expected : Exit::bad_input;
}

/// The circle of the deadlock, if there is one.
bool write_wait_for(const std::string& path, const reports::ExploredStory& story, std::ostream& err) {
  const std::vector<checker::WaitFor>& waits = story.exploration.property("no-deadlock").waits;
  if (!waits.empty()) return write_file(path, checker::wait_for_dot(waits, reports::client_names(story.scenario)), err);
  err << fmt::format("lockstep: there is no deadlock, so {} is not written\n", path);
  return true;
}

/// What one length of the story after the other does. Ctrl-C ends it early, and the document says so.
bool write_margins(const Call& call, const reports::ExploredStory& story, const models::locks::Catalogue& catalogue,
                   const Interrupt& interrupt, std::ostream& err) {
  if (!call.check.margins) return true;
  scenarios::FamilyOptions options;
  options.interrupted = [&interrupt] { return interrupt.is_requested(); };
  const scenarios::StoryFamilies families =
      scenarios::families_of(story.scenario, catalogue, &story.exploration, options);
  const std::vector<scenarios::NoReturn> points =
      scenarios::points_of_no_return(story.scenario, catalogue, story.exploration);
  return write_file(*call.check.margins, reports::margins_json(story.scenario, story.exploration, families, points),
                    err);
}

/// True unless a file that should be written could not be.
bool write_files(const Call& call, const std::vector<reports::ExploredStory>& stories, std::ostream& err) {
  bool done = true;
  if (call.check.witness) {
    const reports::ExploredStory& story = stories.front();
    const std::optional<std::size_t> shown = reports::shown_witness(story);
    if (shown && *shown < story.witness_files.size())
      done = write_file(
          *call.check.witness,
          scenarios::to_toml(*story.exploration.properties[*shown].witness, folder_of(*call.check.witness)), err);
    else
      err << fmt::format("lockstep: there is no witness, so {} is not written\n", *call.check.witness);
  }
  if (call.check.wait_for) done = write_wait_for(*call.check.wait_for, stories.front(), err) && done;
  if (call.junit) done = write_file(*call.junit, reports::junit_xml(stories), err) && done;
  return done;
}

void show(const std::vector<reports::ExploredStory>& stories, reports::LeftOut left_out, const Call& call,
          Output& output) {
  const reports::ExplorationOptions options{.width = output.width,
                                            .language = call.language,
                                            .times = call.check.times,
                                            .only_failures = call.only_failures,
                                            .witness = call.check.witness.value_or("")};
  reports::Lines lines =
      stories.size() == 1 ? reports::exploration(stories.front(), options) : reports::explorations(stories, options);
  const bool zh = call.language == reports::Language::zh;
  if (left_out.for_cost > 0) {
    lines.emplace_back(zh ? fmt::format("另有 {} 个故事较慢或很少运行，未探索；--all 也会探索它们", left_out.for_cost)
                          : fmt::format("{} slow or rare left out; --all explores them too",
                                        reports::counted(left_out.for_cost, "story", "stories")),
                       reports::Ink::faint);
  }
  if (left_out.not_explorable > 0) {
    lines.emplace_back(zh ? fmt::format("另有 {} 个故事无法探索，只能运行（lockstep run）", left_out.not_explorable)
                          : fmt::format("{} left out that cannot be explored, only run",
                                        reports::counted(left_out.not_explorable, "story", "stories")),
                       reports::Ink::faint);
  }
  output.out << reports::to_string(lines, output.colour);
}

Exit exit_of(const std::vector<reports::ExploredStory>& stories) {
  const auto differs = [](const reports::ExploredStory& story) {
    return reports::agreement(story) == scenarios::Agreement::differs;
  };
  if (std::any_of(stories.begin(), stories.end(), differs)) return Exit::not_as_expected;
  // A bound, a violation that no replay shows, or one that the search had missed: something is still open.
  const bool is_open = std::any_of(stories.begin(), stories.end(), [](const reports::ExploredStory& story) {
    return reports::agreement(story) == scenarios::Agreement::open || story.exploration.unconfirmed > 0 ||
           story.exploration.disagreements > 0;
  });
  return is_open || reports::count_complete(stories) != stories.size() ? Exit::incomplete : Exit::as_expected;
}

}  // namespace

Exit check_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  scenarios::Threads threads(call.jobs);  // they begin while the files are read
  std::ostringstream said;
  const Interrupt interrupt;  // from here on: reading many files takes its time, too
  std::optional<std::vector<Scenario>> loaded = load_all(call.files, catalogue, said);
  reports::LeftOut left_out;
  if (loaded) {
    left_out = leave_out(*loaded, catalogue, call.files, call.check.all);
    std::optional<std::string> trouble = objection(call, *loaded, left_out);
    if (!trouble) trouble = give_all(call, *loaded);
    if (trouble) said << "lockstep: " << *trouble << '\n';
  }
  if (const std::string trouble = objection_of_any(said.str(), output); !trouble.empty()) {
    output.err << trouble;
    return Exit::bad_input;
  }
  if (loaded->size() == 1 && output.ranks != nullptr) {
    // One search is split over threads, and not over processes.
    if (!output.is_first()) return Exit::as_expected;
    if (output.ranks->size() > 1)
      output.err << "lockstep: a single story is explored by one process, with --jobs threads; the others do nothing\n";
    output.ranks = nullptr;
  }

  std::vector<Result> results;
  scenarios::CheckOptions options = options_of(call, interrupt);
  std::optional<std::string> not_saved;
  if (call.check.resume) {
    std::optional<std::string> text = read_checkpoint(*call.check.checkpoint, output.err);
    if (!text) return Exit::bad_input;
    options.exploration.resume_from = *std::move(text);
    options.exploration.resume_name = *call.check.checkpoint;
  }
  if (call.check.checkpoint) {
    options.exploration.save = [&](const std::string& text) {
      if (auto trouble = reports::write_whole(*call.check.checkpoint, text)) not_saved = std::move(trouble);
    };
  }
  {
    ProgressLine progress(output.progress ? &output.err : nullptr, seconds_now,
                          {.width = output.width, .language = call.language, .stories = loaded->size()});
    results = check_each(*loaded, catalogue, options, threads, progress, output.ranks);
  }
  if (!output.is_first()) return Exit::as_expected;
  if (not_saved) {
    output.err << fmt::format("lockstep: {}\n", cannot_write(*call.check.checkpoint, *not_saved));
    return Exit::bad_input;
  }

  // A story that cannot be explored as its file has it is bad input, too. The others have been.
  std::vector<reports::ExploredStory> stories;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto* trouble = std::get_if<Diagnostic>(&results[i])) {
      output.err << trouble->to_string() << '\n';
      continue;
    }
    reports::ExploredStory& story = stories.emplace_back();
    story.scenario = std::move((*loaded)[i]);
    story.exploration = std::get<Exploration>(std::move(results[i]));
    warn_of_scripts(story.scenario, story.exploration.script_mistakes, output.err);
    for (const scenarios::ExploredProperty& property : story.exploration.properties)
      story.witness_files.push_back(
          property.witness ? scenarios::to_toml(*property.witness, folder_of(story.scenario.file)) : std::string());
    story.tick = call.check.tick;
    story.parameter = call.check.parameter;
    for (const auto& [parameter, value] : call.check.given) story.given.emplace_back(parameter, sim::to_string(value));
  }
  if (stories.empty()) return Exit::bad_input;

  if (call.json) {
    output.out << reports::check_json(stories, call.check.times, left_out);
  } else {
    if (stories.size() == 1) replay_witness(stories.front(), catalogue);
    show(stories, left_out, call, output);
  }
  const bool written =
      write_files(call, stories, output.err) && write_margins(call, stories.front(), catalogue, interrupt, output.err);
  const Exit graph = write_graph(call, stories.front().scenario, catalogue, output.err);
  if (stories.size() < results.size()) {
    output.err << fmt::format("lockstep: {} of {} stories could not be explored\n", results.size() - stories.size(),
                              results.size());
    return Exit::bad_input;
  }
  if (!written || graph == Exit::bad_input) return Exit::bad_input;
  const Exit exit = exit_of(stories);
  return exit == Exit::as_expected ? graph : exit;
}

}  // namespace lockstep::cli
