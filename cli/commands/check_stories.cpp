#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>

#include "checker/graphs/state_graph_format.hpp"
#include "checker/properties/belief/wait_for.hpp"
#include "cli/commands/load_all.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"
#include "cli/guard.hpp"
#include "cli/interrupt.hpp"
#include "cli/join_ranks.hpp"
#include "cli/progress.hpp"
#include "cli/seconds_now.hpp"
#include "reports/check/exploration.hpp"
#include "reports/check/headline.hpp"
#include "reports/check/margins_json.hpp"
#include "reports/export/sarif.hpp"
#include "reports/run/json.hpp"
#include "reports/text/output_file.hpp"
#include "scenarios/checking/agreement.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/checking/parameters.hpp"
#include "scenarios/exploring/state_graph.hpp"
#include "scenarios/families/families.hpp"
#include "scenarios/families/no_return.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/told_results.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/suggestion.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/stop.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using scenarios::Diagnostic;
using scenarios::Exploration;
using scenarios::Scenario;
using Explored = std::variant<Exploration, Diagnostic>;

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

/// What the other processes have explored.
void share_results(const std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue,
                   const scenarios::CheckOptions& options, scenarios::Ranks* ranks, std::vector<Explored>& results) {
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
std::vector<Explored> check_each(const std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue,
                                 const scenarios::CheckOptions& options, scenarios::Threads& threads,
                                 ProgressLine& progress, scenarios::Ranks* ranks) {
  std::vector<Explored> results(stories.size());
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
  try {
    auto outcome = scenarios::run(witness, catalogue, {.trace = true});
    if (auto* happened = std::get_if<scenarios::Outcome>(&outcome)) story.replay = {witness, std::move(*happened)};
  } catch (const sim::Stopped&) {
    // A bound was hit: then there is no picture of it.
  }
}

/// The circle of the deadlock, if there is one.
bool write_wait_for(const std::string& path, const reports::ExploredStory& story, std::ostream& err) {
  const std::vector<checker::WaitFor>& waits = story.exploration.property("no-deadlock").waits;
  if (!waits.empty()) return write_file(path, checker::wait_for_dot(waits, reports::client_names(story.scenario)), err);
  err << fmt::format("lockstep: there is no deadlock, so {} is not written\n", path);
  return true;
}

Exit exit_of(const std::vector<reports::ExploredStory>& stories) {
  const auto differs = [](const reports::ExploredStory& story) {
    return reports::agreement(story) == scenarios::Agreement::differs;
  };
  if (std::any_of(stories.begin(), stories.end(), differs)) return Exit::not_as_expected;
  // A bound, a mistake in a script, or what somebody claims or expects: not judged, shown by no replay, or missed by
  // the search. Of what nobody asked for the report says the same, and it decides nothing.
  const bool is_open = std::any_of(stories.begin(), stories.end(), [](const reports::ExploredStory& story) {
    return reports::agreement(story) == scenarios::Agreement::open;
  });
  return is_open || reports::count_complete(stories) != stories.size() ? Exit::incomplete : Exit::as_expected;
}

using File = std::optional<std::string>;

class Check final : public Call {
 public:
  Manual manual() override;
  std::string mistake() override;
  bool takes_programs() const override { return true; }  // to leave them out, or to say why not
  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  std::string take_given(const std::string& value);
  std::string take_export(const std::string& value);
  std::string objection(const std::vector<Scenario>& stories, reports::LeftOut left_out) const;
  std::string give_all(std::vector<Scenario>& stories) const;
  static std::string no_range(std::string_view option, const std::vector<Scenario>& stories);
  /// True unless a file that should be written could not be.
  bool write_files(const reports::ExploredStory& story, std::ostream& err) const;
  bool write_margins(const reports::ExploredStory& story, const models::locks::Catalogue& catalogue,
                     const Interrupt& interrupt, std::ostream& err) const;
  /// How the search for the states ended: a graph with too many is not written, and the rest of the answer stands.
  Exit write_graph(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::ostream& err) const;
  reports::Lines lines(const std::vector<reports::ExploredStory>& stories, reports::LeftOut left_out,
                       const Output& output) const;
  std::optional<scenarios::FormulaOptions> wanted_formulas(const reports::ExploredStory& story) const;

  scenarios::CheckOptions options_;
  std::uint64_t max_memory_ = half_of_memory();
  std::vector<std::pair<std::string, sim::Duration>> given_;  ///< faults of this parameter are no larger
  File witness_, worst_, graph_, wait_for_, margins_, checkpoint_;
  bool all_ = false;  ///< of directories also what is slow or rare
  bool resume_ = false;
  bool times_ = true;
  bool only_failures_ = false;
  bool formula_ = false;
  bool full_ = false;
  File sarif_;
};

std::string Check::take_given(const std::string& value) {
  const std::size_t sign = value.find('=');
  const std::string name = value.substr(0, sign);
  const auto complain = [&](std::string_view what) {
    return fmt::format("--given {}: {}", scenarios::in_quotes(value), what);
  };
  if (sign == std::string::npos) return complain("expected a parameter and its value, as in skew=20ms");
  if (!sim::kind_of_parameter(name)) return complain(scenarios::suggestion(name, sim::kFaultParameters));
  const std::optional<sim::Duration> length = sim::parse_duration(value.substr(sign + 1));
  if (!length) return complain(fmt::format("expected a length of time after {}=, such as 20ms", name));
  if (name == options_.exploration.parameter) return complain("the margin of what is given cannot be looked for");
  const auto is_it = [&](const auto& other) { return other.first == name; };
  if (std::any_of(given_.begin(), given_.end(), is_it)) return complain("it is given twice");
  given_.emplace_back(name, *length);
  return std::string();
}

std::string Check::take_export(const std::string& value) {
  constexpr std::string_view kKind = "sarif=";
  if (!value.starts_with(kKind) || value.size() == kKind.size())
    return expected("--export", value, "sarif=FILE, the one format that check writes; run has others");
  sarif_ = value.substr(kKind.size());
  outputs.push_back({"--export sarif", *sarif_, {reports::kSarifMark}});
  return "";
}

Manual Check::manual() {
  constexpr std::string_view kWitnessMark = "\nsource = \"lockstep check ";
  scenarios::ExplorationOptions& how = options_.exploration;
  return {
      .name = "check",
      .summary = "explore scenario files in every order and with every delay, for verdicts and exact margins",
      .example = "check scenarios",
      .head = R"(Explores each scenario in every order, with every delay and with every fault that its file allows, and
compares the verdicts with what the file expects.

usage: lockstep check FILE|DIR... [OPTIONS]

One story is a screen: each verdict, from which pause (or jump, …) on what is promised breaks, and a run
that breaks it; --full has the rest. Several are shown as a table. Of directories only stories of cost
"fast" are explored; a file that is named is explored whatever it costs.

)",
      .options =
          {flag({"--all", "", "of directories, also the stories of cost \"slow\" and \"rare\""}, all_),
           flag({"--full", "",
                 "of one story all that is known: the times and faults, each margin and reason, what was\n"
                 "reached, and the whole run that breaks it"},
                full_),
           file({"--witness", "FILE",
                 "write the run that breaks the first broken property as a scenario file\n"
                 "(needs exactly one story)"},
                {kWitnessMark}, witness_),
           file({"--worst", "FILE", "likewise the run in which several hold the lock at once for longest"},
                {kWitnessMark}, worst_),
           file({"--graph", "FILE",
                 "write the graph of all states, as DOT (.dot) or GraphML (.graphml); for small\n"
                 "worlds (needs exactly one story)"},
                {"digraph G {", "<graphml"}, graph_),
           file({"--wait-for", "FILE",
                 "write who waits for whom in the deadlock that was found, as DOT (needs exactly one\nstory)"},
                {"digraph wait_for {"}, wait_for_),
           file({"--margins-json", "FILE",
                 "write what happens for every pause, delay, skew and latency of the run and of the\n"
                 "witnesses, in pieces within which all times are linear, and from which event on a\n"
                 "violation cannot be avoided any more (docs/manual/margins.md; needs exactly one story)"},
                {R"({"lockstep":)"}, margins_),
           one_of({"--parameter", "P", "look for the threshold of P alone: a fault with a length, or restart_after"},
                  {sim::kFaultParameters.begin(), sim::kFaultParameters.end()},
                  [&how](std::size_t i) { how.parameter = sim::kFaultParameters[i]; }),
           word(
               {"--given", "P=LENGTH",
                "with faults of parameter P of at most LENGTH (restarts: of just that), as in\n"
                "--parameter pause --given skew=20ms; nothing is then compared with the file"},
               [this](const std::string& value) { return take_given(value); }, Option::Takes::each),
           flag({"--formula", "",
                 "look for the condition between the file's lengths under which it is kept, and say where that was\n"
                 "shown (docs/manual/exploring.md; needs exactly one story; small ones have it anyhow)"},
                formula_),
           whole({"--max-traces", "N", "stop each story after N traces"}, {}, how.max_traces),
           whole({"--max-events", "N", "stop each story after N events, those of runs that are no traces included"}, {},
                 how.max_events),
           seconds({"--max-seconds", "S", "stop each story after S seconds"}, how.max_seconds),
           memory_bound(max_memory_),
           word({"--export", "sarif=FILE",
                 "also write what is not as expected, or still open, as SARIF 2.1.0, for code scanning"},
                [this](const std::string& value) { return take_export(value); }),
           file({"--checkpoint", "FILE",
                 "keep what has been explored in FILE, now and then and at a bound (needs\nexactly one story)"},
                {"lockstep checkpoint "}, checkpoint_),
           flag({"--resume", "", "go on from the checkpoint"}, resume_),
           flag({"--no-reduction", "", "explore all interleavings, also those that cannot make a difference"},
                how.reduction, false),
           flag({"--thorough", "",
                 "search in another way, that shares less with the usual one; takes much longer\n"
                 "(docs/argument/exploring.md, \"What time does not allow\")"},
                how.thorough),
           flag({"--no-second-opinion", "", "leave out the concrete runs that try to break what the search calls kept"},
                options_.second_opinion, false),
           word({"--ticks", "D", "brute force instead: run every multiple of D in each range, e.g. 1ms"},
                [this](const std::string& value) {
                  options_.tick = sim::parse_duration(value);
                  const bool is_good = options_.tick && *options_.tick > sim::Duration::zero();
                  return is_good ? "" : expected("--ticks", value, "a duration such as 1ms or 500us");
                }),
           flag({"--only-failures", "", "of several stories show those alone that are not as expected, or incomplete"},
                only_failures_),
           flag({"--no-times", "", "leave real time out, so that equal results are equal bytes"}, times_, false)},
      .tail = R"(
Exit status: 0 all as expected and complete, 1 something was not as expected, 2 the input or the call was
wrong, 3 nothing that was found contradicts a file, but the answer is not complete: a bound was hit, Ctrl-C
was pressed, a script made a mistake, or what is claimed or expected is unknown or was not judged. A file
that expects nothing of check is held to what its algorithm claims.

example: lockstep check scenarios --max-seconds 60
example: lockstep check scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml --witness broken.toml
)",
      .jobs = "N threads in one story, or N stories at a time; the results are the same",
      .language = "language",
      .has_cases = true,
      .is_split = true};
}

/// Options that say something about another search than the one that was asked for.
std::string Check::mistake() {
  if (graph_) {
    const auto format = checker::graph_format_of(*graph_);
    if (const auto* trouble = std::get_if<std::string>(&format)) return "--graph: " + *trouble;
  }
  const scenarios::ExplorationOptions& how = options_.exploration;
  if (resume_ && !checkpoint_) return "--resume needs --checkpoint FILE: where to go on from";
  if (!how.reduction && how.thorough) return "--no-reduction leaves nothing out, so --thorough has no meaning with it";
  if (options_.tick && how.thorough) return "--ticks leaves nothing out, so --thorough has no meaning with it";
  if (options_.tick && !how.reduction) return "--ticks reduces nothing, so --no-reduction has no meaning with it";
  if (options_.tick && checkpoint_) return "--ticks and --checkpoint exclude each other: the grid keeps no checkpoints";
  for (const auto& [option, file] : {std::pair("--witness", &witness_), std::pair("--worst", &worst_),
                                     std::pair("--margins-json", &margins_), std::pair("--wait-for", &wait_for_)}) {
    if (options_.tick && *file)
      return fmt::format("--ticks and {0} exclude each other: leave --ticks out to have {0}", option);
  }
  return files.empty() ? "check needs scenario files or directories, e.g. lockstep check scenarios" : "";
}

/// What is wrong with the call once the stories are known; empty if it can be done.
std::string Check::objection(const std::vector<Scenario>& stories, reports::LeftOut left_out) const {
  if (stories.empty()) {
    if (left_out.for_cost > 0)
      return fmt::format("there are only slow or rare stories ({}); --all explores them too", left_out.for_cost);
    return left_out.not_explorable > 0 ? "there are only stories that cannot be explored; lockstep run runs them"
                                       : "there is no scenario file to explore";
  }
  for (const OutputFile& each : outputs) {
    const bool is_of_all = each.option == "--export sarif" ||
                           std::any_of(written.begin(), written.end(),
                                       [&](const auto& format) { return format.first->option == each.option; });
    if (!is_of_all && stories.size() != 1)
      return fmt::format("{} needs exactly one story, and here are {}; name a single file", each.option,
                         stories.size());
  }
  if (formula_ && stories.size() != 1)
    return fmt::format("--formula needs exactly one story, and here are {}; name a single file", stories.size());
  if (full_ && stories.size() != 1)
    return fmt::format("--full needs exactly one story, and here are {}; name a single file", stories.size());
  const std::string& parameter = options_.exploration.parameter;
  const auto has_it = [&](const Scenario& story) { return scenarios::has_parameter(story, parameter); };
  const bool is_any = parameter.empty() || std::any_of(stories.begin(), stories.end(), has_it);
  return is_any ? "" : no_range("--parameter " + parameter, stories);
}

std::string Check::no_range(std::string_view option, const std::vector<Scenario>& stories) {
  return fmt::format("{}: no [[may]] of {} has a range of it", option,
                     stories.size() == 1 ? stories.front().file : "these stories");
}

/// `--given`, in those stories in which it says something.
std::string Check::give_all(std::vector<Scenario>& stories) const {
  for (const auto& [parameter, value] : given_) {
    const std::string option = fmt::format("--given {}={}", parameter, sim::to_string(value));
    bool is_any = false;
    for (Scenario& story : stories) {
      if (!scenarios::has_parameter(story, parameter)) continue;
      is_any = true;
      if (std::optional<std::string> trouble = scenarios::give(story, parameter, value))
        return fmt::format("{}: {}", option, *trouble);
    }
    if (!is_any) return no_range(option, stories);
  }
  return "";
}

/// Where it takes no longer than people wait; and where they ask.
std::optional<scenarios::FormulaOptions> Check::wanted_formulas(const reports::ExploredStory& story) const {
  if (options_.tick || !given_.empty() || !options_.exploration.parameter.empty()) return std::nullopt;
  constexpr std::uint64_t kAsked = 100'000'000;
  std::optional<scenarios::FormulaOptions> how = scenarios::unasked_formulas(story.exploration);
  if (formula_) how = scenarios::FormulaOptions{.max_events = kAsked};
  if (how) how->exploration = options_.exploration;
  return how;
}

Exit Check::write_graph(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::ostream& err) const {
  if (!graph_) return Exit::as_expected;
  const auto format = std::get<checker::GraphFormat>(checker::graph_format_of(*graph_));
  const auto text = scenarios::state_graph(scenario, catalogue, format, options_.exploration.reduction);
  if (const auto* trouble = std::get_if<Diagnostic>(&text)) {
    err << fmt::format("{}\nlockstep: {} is not written\n", trouble->to_string(), *graph_);
    return Exit::incomplete;
  }
  return write_file(*graph_, std::get<std::string>(text), err) ? Exit::as_expected : Exit::bad_input;
}

/// What one length of the story after the other does. Ctrl-C ends it early, and the document says so.
bool Check::write_margins(const reports::ExploredStory& story, const models::locks::Catalogue& catalogue,
                          const Interrupt& interrupt, std::ostream& err) const {
  if (!margins_) return true;
  scenarios::FamilyOptions options;
  options.interrupted = [&interrupt] { return interrupt.is_requested(); };
  const scenarios::StoryFamilies families =
      scenarios::families_of(story.scenario, catalogue, &story.exploration, options);
  const std::vector<scenarios::NoReturn> points =
      scenarios::points_of_no_return(story.scenario, catalogue, story.exploration);
  return write_file(*margins_, reports::margins_json(story.scenario, story.exploration, families, points), err);
}

bool Check::write_files(const reports::ExploredStory& story, std::ostream& err) const {
  bool done = true;
  const std::optional<std::size_t> shown = reports::shown_witness(story);
  const auto* const broken = shown ? &story.exploration.properties[*shown] : nullptr;
  const auto write = [&](const File& file, const std::optional<Scenario>& run, std::string_view what) {
    if (file && run)
      done = write_file(*file, scenarios::to_toml(*run, folder_of(*file)), err) && done;
    else if (file)
      err << fmt::format("lockstep: there is no {}, so {} is not written\n", what, *file);
  };
  write(witness_, broken != nullptr ? broken->witness : std::nullopt, "witness");
  write(worst_, broken != nullptr && broken->worst ? broken->worst->run : std::nullopt, "run in which two hold it");
  if (wait_for_) done = write_wait_for(*wait_for_, story, err) && done;
  return done;
}

reports::Lines Check::lines(const std::vector<reports::ExploredStory>& stories, reports::LeftOut left_out,
                            const Output& output) const {
  const reports::ExplorationOptions options{.width = output.width,
                                            .language = language,
                                            .times = times_,
                                            .full = full_,
                                            .only_failures = only_failures_,
                                            .witness = witness_.value_or("")};
  reports::Lines all =
      stories.size() == 1 ? reports::exploration(stories.front(), options) : reports::explorations(stories, options);
  const bool zh = language == reports::Language::zh;
  if (left_out.for_cost > 0) {
    all.emplace_back(zh ? fmt::format("另有 {} 个故事较慢或很少运行，未探索；--all 也会探索它们", left_out.for_cost)
                        : fmt::format("{} slow or rare left out; --all explores them too",
                                      reports::counted(left_out.for_cost, "story", "stories")),
                     reports::Ink::faint);
  }
  if (left_out.not_explorable > 0) {
    all.emplace_back(zh ? fmt::format("另有 {} 个故事无法探索，只能运行（lockstep run）", left_out.not_explorable)
                        : fmt::format("{} left out that cannot be explored, only run",
                                      reports::counted(left_out.not_explorable, "story", "stories")),
                     reports::Ink::faint);
  }
  return all;
}

Exit Check::perform(const models::locks::Catalogue& catalogue, Output& output) {
  scenarios::Threads threads(jobs);  // they begin while the files are read
  std::ostringstream said;
  const Interrupt interrupt;  // from here on: reading many files takes its time, too
  Guard guard(max_memory_, &interrupt);
  std::vector<Diagnostic> not_explored;
  std::optional<std::vector<Scenario>> loaded = load_all(*this, files, catalogue, said, &not_explored);
  const std::size_t refused = not_explored.size();
  reports::LeftOut left_out;
  bool is_bad = !loaded;
  if (loaded) {
    left_out = leave_out(*loaded, catalogue, files, all_);
    std::string trouble = objection(*loaded, left_out);
    if (trouble.empty()) trouble = give_all(*loaded);
    is_bad = !trouble.empty();
    if (is_bad) said << "lockstep: " << trouble << '\n';
  }
  // What was refused does not keep the others from being explored.
  const std::string objections = objection_of_any(said.str(), output);
  output.err << objections;
  const bool goes_on = objections.empty() || (!not_explored.empty() && output.ranks == nullptr);
  if (is_bad || !goes_on) return Exit::bad_input;
  if (loaded->size() == 1 && output.ranks != nullptr) {
    // One search is split over threads, and not over processes.
    if (!output.is_first()) return Exit::as_expected;
    if (output.ranks->size() > 1)
      output.err << "lockstep: a single story is explored by one process, with --jobs threads; the others do nothing\n";
    output.ranks = nullptr;
  }

  std::vector<Explored> results;
  scenarios::CheckOptions options = options_;
  options.exploration.stopwatch = seconds_now;
  options.exploration.interrupted = [&interrupt] { return interrupt.is_requested(); };
  std::optional<std::string> not_saved;
  if (resume_) {
    std::optional<std::string> text = read_checkpoint(*checkpoint_, output.err);
    if (!text) return Exit::bad_input;
    options.exploration.resume_from = *std::move(text);
    options.exploration.resume_name = *checkpoint_;
  }
  if (checkpoint_) {
    options.exploration.save = [&](const std::string& text) {
      if (auto trouble = reports::write_whole(*checkpoint_, text)) not_saved = std::move(trouble);
    };
  }
  const double max_seconds = loaded->size() == 1 ? options.exploration.max_seconds : 0;
  const double end = seconds_now() + max_seconds;
  if (max_seconds > 0) guard.expect_end_in(max_seconds);
  {
    ProgressLine progress(output.progress ? &output.err : nullptr, seconds_now,
                          {.width = output.width, .language = language, .stories = loaded->size()});
    results = check_each(*loaded, catalogue, options, threads, progress, output.ranks);
  }
  if (!output.is_first()) return Exit::as_expected;
  if (not_saved) {
    return refuse(output, cannot_write(*checkpoint_, *not_saved));
  }

  // A story that cannot be explored as its file has it is bad input, too. The others have been.
  std::vector<reports::ExploredStory> stories;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto* trouble = std::get_if<Diagnostic>(&results[i])) {
      output.err << trouble->to_string() << '\n';
      not_explored.push_back(*trouble);
      continue;
    }
    reports::ExploredStory& story = stories.emplace_back();
    story.scenario = std::move((*loaded)[i]);
    story.exploration = std::get<Exploration>(std::move(results[i]));
    warn_of_scripts(story.scenario, story.exploration.script_mistakes, output.err);
    for (const scenarios::ExploredProperty& property : story.exploration.properties)
      story.witness_files.push_back(
          property.witness ? scenarios::to_toml(*property.witness, folder_of(story.scenario.file)) : std::string());
    story.tick = options_.tick;
    story.parameter = options_.exploration.parameter;
    for (const auto& [parameter, value] : given_) story.given.emplace_back(parameter, sim::to_string(value));
  }
  if (stories.empty()) return Exit::bad_input;
  if (auto how = results.size() == 1 ? wanted_formulas(stories.front()) : std::nullopt) {
    reports::ExploredStory& story = stories.front();
    how->exploration.threads = &threads;
    how->exploration.interrupted = [&] {
      return interrupt.is_requested() || (max_seconds > 0 && seconds_now() >= end);
    };
    story.formulas = scenarios::formulas_of(story.scenario, catalogue, reports::headline_property(story).name, *how);
    if (!formula_) story.formulas.why.clear();
  }

  // What is written of the one story is within the bound, too.
  constexpr double kPatience = 1.4;
  const sim::Stop::Question is_late = [&] { return max_seconds > 0 && seconds_now() - end >= kPatience; };
  const sim::Stop::Scope scope(is_late);
  const auto shown = [&] {
    if (stories.size() == 1) replay_witness(stories.front(), catalogue);
    return lines(stories, left_out, output);
  };
  bool written = report(*this,
                        {.lines = shown,
                         .json = [&] { return reports::check_json(stories, times_, left_out); },
                         .cases = [&] { return reports::junit_cases(stories); }},
                        output);
  output.out.flush();
  Exit graph = Exit::as_expected;
  try {
    written = written && write_files(stories.front(), output.err) &&
              write_margins(stories.front(), catalogue, interrupt, output.err);
    graph = write_graph(stories.front().scenario, catalogue, output.err);
  } catch (const sim::Stopped&) {
    output.err << "lockstep: a bound was hit before all files were written\n";
    graph = Exit::incomplete;
  }
  if (sarif_ && !write_file(*sarif_, reports::sarif_log(stories, not_explored, kVersion), output.err)) written = false;
  if (!not_explored.empty()) {
    output.err << fmt::format("lockstep: {} of {} stories could not be explored\n", not_explored.size(),
                              results.size() + refused);
    return Exit::bad_input;
  }
  if (!written || graph == Exit::bad_input) return Exit::bad_input;
  const Exit exit = exit_of(stories);
  return exit == Exit::as_expected ? graph : exit;
}

}  // namespace

std::unique_ptr<Call> check_call() { return std::make_unique<Check>(); }

}  // namespace lockstep::cli
