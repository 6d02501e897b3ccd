#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/load_all.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/commands/own_folder.hpp"
#include "cli/formats/format.hpp"
#include "cli/guard.hpp"
#include "cli/interrupt.hpp"
#include "cli/join_ranks.hpp"
#include "cli/seconds_now.hpp"
#include "reports/check/fuzzing.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

using scenarios::Campaign;
using scenarios::CampaignState;
using scenarios::FuzzFinding;
using scenarios::FuzzOptions;
using scenarios::FuzzTarget;

constexpr std::string_view kStateFile = "campaign.state";

std::string state_file(const std::string& folder) { return (std::filesystem::path(folder) / kStateFile).string(); }

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The findings first, then the state that knows of them: whoever is killed in between finds them again.
class Folder {
 public:
  explicit Folder(std::ostream& err) : err_(err) {}

  /// What is wrong with the folder, or nothing.
  std::optional<std::string> open(const std::string& path) {
    path_ = path;
    return files_.open("--found", path);
  }

  /// False after a message. Requires: `open`.
  bool write(const CampaignState& state) {
    for (; written_ < state.findings.size(); ++written_) {
      const FuzzFinding& finding = state.findings[written_];
      if (const auto trouble = files_.write(finding.name + ".toml", finding.text)) {
        err_ << fmt::format("lockstep: {}\n", *trouble);
        return false;
      }
    }
    return write_file(state_file(path_), scenarios::to_text(state), err_);
  }

 private:
  OwnFolder files_;
  std::string path_;
  std::ostream& err_;
  std::size_t written_ = 0;
};

/// A program that does not do the same twice cannot be fuzzed: what it breaks could not be shown again. Each is run
/// twice, with nothing going wrong.
std::optional<scenarios::Diagnostic> first_difference_of_programs(const std::vector<FuzzTarget>& targets,
                                                                  const models::locks::Catalogue& catalogue) {
  for (const FuzzTarget& target : targets) {
    if (scenarios::first_program(target.story) == nullptr) continue;
    scenarios::Scenario calm = target.story;
    calm.faults.clear();
    auto twice = scenarios::run_twice(calm, catalogue, {});
    if (auto* trouble = std::get_if<scenarios::Diagnostic>(&twice)) return std::move(*trouble);
  }
  return std::nullopt;
}

class Fuzz final : public Call {
 public:
  Manual manual() override;
  std::string mistake() override;
  std::vector<std::string>* lock_names() override { return &algorithms_; }
  bool takes_programs() const override { return true; }
  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  std::string found() const { return found_.value_or("found"); }
  std::string take_shard(const std::string& value);
  Option strategy();
  /// Nothing after a message.
  std::optional<std::vector<FuzzTarget>> targets(const models::locks::Catalogue& catalogue, std::ostream& err);
  Exit merge_folders(Output& output);
  /// The campaign to go on with, as its file has it; empty: a new one. Or what is wrong with the folder.
  std::variant<std::string, scenarios::Diagnostic> earlier(Folder& folder) const;
  /// Nothing: `campaign` has taken over what was there.
  std::optional<std::string> resume(const std::string& text, Campaign& campaign) const;
  /// The folder is the first rank's, and what is in it all of them know. A message: it cannot begin, or go on.
  std::optional<std::string> prepare(Campaign& campaign, Folder& folder, const Output& output) const;
  Exit tell(const CampaignState& state, bool is_interrupted, Output& output);

  FuzzOptions options_;
  std::uint64_t max_memory_ = half_of_memory();
  std::vector<std::string> algorithms_;  ///< or "all"
  std::vector<std::string> merge_;       ///< folders: then nothing is fuzzed
  std::optional<std::string> found_;     ///< a folder
  bool resume_ = false;
  bool has_programs_ = false;
};

std::string Fuzz::take_shard(const std::string& value) {
  constexpr std::uint64_t most = 1'000'000;
  const std::size_t slash = std::min(value.find('/'), value.size());
  const auto shards = whole_number(value.substr(std::min(slash + 1, value.size())), 1, most);
  const auto shard = whole_number(value.substr(0, slash), 0, most);
  if (!shards || !shard || *shard >= *shards)
    return expected("--shard", value, "I/N, part I of N from 0 on, such as 0/4");
  options_.shard = *shard;
  options_.shards = *shards;
  return std::string();
}

Option Fuzz::strategy() {
  std::vector<std::string_view> names{"portfolio"};
  for (const auto& [name, strategy] : scenarios::strategy_names) names.push_back(name);
  const auto set = [this](std::size_t i) {
    if (i > 0) options_.strategy = scenarios::strategy_names[i - 1].second;
  };
  return one_of(
      {"--strategy", "NAME", "how delays are drawn: boundary, uniform, priority, or a portfolio of all (portfolio)"},
      names, set);
}

Manual Fuzz::manual() {
  return {
      .name = "fuzz",
      .summary = "look for what breaks in random worlds, and make it small: a scenario file for each finding",
      .example = "fuzz --algorithm redlock-seq --max-seconds 30",
      .head =
          R"(Plays random runs of the stories, or of worlds made up for algorithms, judges each by every property that the
algorithm claims, and makes what breaks one small: a scenario file for each cause, which run replays.

usage: lockstep fuzz [FILE|DIR...] [OPTIONS]

A story's [[may]] says what may go wrong in it. In one that has none, what its [[fault]]s show may strike anybody, and
sometimes something else. Without FILE: worlds of 2 to 64 clients and 1 to 9 servers are made up for each --algorithm.

)",
      .options = {list({"--algorithm", "NAME,NAME...",
                        "these locks instead of the stories' own, or made-up worlds of them; all: every one"},
                       Option::Takes::each, algorithms_),
                  seconds({"--max-seconds", "S", "end after S seconds (60, unless --runs says something)"},
                          options_.max_seconds),
                  memory_bound(max_memory_),
                  whole({"--runs", "N", "end with the batch of run N (of 2,048 or so): the same call, the same"}, {},
                        options_.max_runs),
                  folder({"--found", "DIR", "where findings and the campaign's state go (found)"}, found_),
                  flag({"--resume", "", "go on with the campaign that is in --found, also if it was killed"}, resume_),
                  word({"--shard", "I/N", "only part I (from 0 on) of N parts that share nothing"},
                       [this](const std::string& value) { return take_shard(value); }),
                  words({"--merge", "DIR...", "fuzz nothing: join the findings of these folders in --found"},
                        Option::Takes::words, merge_),
                  strategy(),
                  whole({"--depth", "N", "priority: N - 1 changes of who is slow (3)"}, {.max = 100}, options_.depth),
                  flag({"--no-coverage", "", "do not go on from runs that showed something new"}, options_.coverage,
                       false),
                  flag({"--as-written", "", "nothing but [[may]] goes wrong: the bounds of check"},
                       options_.as_written)},
      .tail = R"(
Exit status: 0 nothing was found, 1 something was, 2 the input or the call was wrong, 3 interrupted, or nothing
was found and not all was judged: runs that did not end or met a mistake in a script, or a property that no
run could be judged by.

example: lockstep fuzz scenarios/stories/redisson-source --runs 100000 --found build/found
)",
      .seed = "of worlds and runs (1)",
      .jobs = "threads (as many as there are cores)",
      .is_split = true};
}

std::string Fuzz::mistake() {
  if (!merge_.empty()) {
    if (files.empty() && algorithms_.empty() && !resume_) return "";
    return "--merge joins the folders of campaigns, and fuzzes nothing: leave out files, --algorithm and --resume";
  }
  if (!files.empty() || !algorithms_.empty()) return "";
  return "fuzz needs scenario files or directories, or algorithms, e.g. lockstep fuzz --algorithm redlock-seq";
}

std::optional<std::vector<FuzzTarget>> Fuzz::targets(const models::locks::Catalogue& catalogue, std::ostream& err) {
  std::vector<FuzzTarget> targets;
  std::vector<std::string> algorithms = algorithms_;
  if (algorithms == std::vector<std::string>{"all"}) {
    algorithms.clear();
    for (const std::string_view id : catalogue.ids()) algorithms.emplace_back(id);
  }
  for (const std::string& name : algorithms) {
    if (catalogue.find(name) != nullptr) continue;
    err << fmt::format("lockstep: {}\n", not_one_of("--algorithm", name, catalogue.ids()));
    return std::nullopt;
  }
  if (files.empty()) {
    for (const std::string& name : algorithms) targets.push_back(scenarios::target_of(*catalogue.find(name)));
    return targets;
  }
  std::optional<std::vector<scenarios::Scenario>> loaded = load_all(*this, files, catalogue, err);
  if (!loaded) return std::nullopt;
  if (loaded->empty()) {
    err << "lockstep: there is no scenario file to fuzz\n";
    return std::nullopt;
  }
  for (scenarios::Scenario& story : *loaded) {
    if (algorithms.empty()) {
      targets.push_back(scenarios::target_of(story, catalogue));
      continue;
    }
    for (const std::string& name : algorithms) {
      auto with = scenarios::with_algorithm(story, *catalogue.find(name), catalogue);
      if (const auto* trouble = std::get_if<std::string>(&with)) {
        err << fmt::format("lockstep: {} with {}: {}\n", scenarios::one_line(story.file), name, *trouble);
        return std::nullopt;
      }
      targets.push_back(scenarios::target_of(std::get<scenarios::Scenario>(with), catalogue));
    }
  }
  return targets;
}

Exit Fuzz::tell(const CampaignState& state, bool is_interrupted, Output& output) {
  const reports::FuzzReportOptions how{.width = output.width, .folder = found(), .can_be_checked = !has_programs_};
  if (!report(*this,
              {.lines = [&] { return reports::fuzz_report(state, how); },
               .json = [&] { return reports::fuzz_json(state, how); }},
              output))
    return Exit::bad_input;
  if (is_interrupted) return Exit::incomplete;
  if (!state.findings.empty() || !state.mysteries.empty()) return Exit::not_as_expected;
  return scenarios::what_is_open(state).empty() ? Exit::as_expected : Exit::incomplete;
}

Exit Fuzz::merge_folders(Output& output) {
  CampaignState merged;
  for (const std::string& folder : merge_) {
    auto parsed = scenarios::parse_campaign(text_of(state_file(folder)));
    if (const auto* trouble = std::get_if<std::string>(&parsed)) {
      output.err << fmt::format("lockstep: {}: there is no campaign that could be read: {}\n",
                                scenarios::one_line(state_file(folder)), *trouble);
      return Exit::bad_input;
    }
    scenarios::merge_into(merged, std::get<CampaignState>(parsed));
  }
  Folder folder(output.err);
  if (const auto trouble = folder.open(found())) return refuse(output, *trouble);
  if (std::filesystem::exists(state_file(found()))) {
    return refuse(output, fmt::format("--found {}: there is a campaign in it; name a folder without one",
                                      scenarios::one_line(found())));
  }
  if (!folder.write(merged)) return Exit::bad_input;
  return tell(merged, false, output);
}

std::variant<std::string, scenarios::Diagnostic> Fuzz::earlier(Folder& folder) const {
  const auto wrong = [](std::string message) { return scenarios::Diagnostic{{}, {}, std::move(message)}; };
  if (auto trouble = folder.open(found())) return wrong(*std::move(trouble));
  const std::string file = state_file(found());
  if (!std::filesystem::exists(file)) {
    if (!resume_) return std::string();
    return wrong(fmt::format("--resume: there is no campaign in {}", scenarios::one_line(found())));
  }
  if (!resume_) {
    return wrong(fmt::format(
        "--found {}: there is a campaign in it; add --resume to go on with it, or name a folder without one",
        scenarios::one_line(found())));
  }
  return text_of(file);
}

std::optional<std::string> Fuzz::resume(const std::string& text, Campaign& campaign) const {
  auto parsed = scenarios::parse_campaign(text);
  std::optional<std::string> trouble;
  if (auto* unreadable = std::get_if<std::string>(&parsed)) {
    trouble = *unreadable;
  } else {
    trouble = campaign.restore(std::get<CampaignState>(std::move(parsed)));
  }
  if (!trouble) return std::nullopt;
  return fmt::format("--resume: {}: {}", scenarios::one_line(state_file(found())), *trouble);
}

std::optional<std::string> Fuzz::prepare(Campaign& campaign, Folder& folder, const Output& output) const {
  std::string text;
  std::string trouble;
  if (output.is_first()) {
    auto found = earlier(folder);
    if (auto* problem = std::get_if<scenarios::Diagnostic>(&found))
      trouble = std::move(problem->message);
    else
      text = std::get<std::string>(std::move(found));
  }
  trouble = objection_of_any(trouble, output);
  if (!trouble.empty()) return trouble;
  if (output.ranks != nullptr) {
    const std::string own = std::to_string(campaign.state().fingerprint);
    for (const std::string& other : output.ranks->exchange(own)) {
      if (other != own) return "the processes of MPI have read different stories: all of them need the same files";
    }
    text = output.ranks->from_first(text);
  }
  return text.empty() && !resume_ ? std::nullopt : resume(text, campaign);
}

Exit Fuzz::perform(const models::locks::Catalogue& catalogue, Output& output) {
  if (!merge_.empty()) return output.is_first() ? merge_folders(output) : Exit::as_expected;
  std::ostringstream said;
  const Interrupt interrupt;  // from here on: reading many files takes its time, too
  Guard guard(max_memory_, &interrupt);
  std::optional<std::vector<FuzzTarget>> found_targets = targets(catalogue, said);
  if (const std::string objection = objection_of_any(found_targets ? std::string() : said.str(), output);
      !objection.empty()) {
    output.err << objection;
    return Exit::bad_input;
  }
  has_programs_ = scenarios::has_programs(*found_targets);
  if (const auto trouble = first_difference_of_programs(*found_targets, catalogue)) {
    output.err << trouble->to_string() << '\n';
    const bool is_theirs = trouble->kind == scenarios::Diagnostic::Kind::not_repeatable;
    return is_theirs ? Exit::incomplete : Exit::bad_input;
  }
  FuzzOptions options = options_;
  options.seed = seed.value_or(1);
  options.jobs = jobs;
  // Who says how many runs means all of them.
  if (options.max_seconds == 0 && options.max_runs == 0) options.max_seconds = 60;
  options.stopwatch = seconds_now;
  bool is_failed = false;  // then the others need to be told
  options.interrupted = [&] { return is_failed || interrupt.is_requested(); };
  options.ranks = output.ranks;
  if (options.max_seconds > 0) guard.expect_end_in(options.max_seconds);
  Campaign campaign(std::move(*found_targets), catalogue, options);
  Folder folder(output.err);
  if (const auto trouble = prepare(campaign, folder, output)) return refuse(output, *trouble);
  // What somebody has edited is told before anything is fuzzed.
  if (resume_ && output.is_first()) is_failed = !folder.write(campaign.state());
  double written_at = seconds_now();
  double shown_at = 0;
  std::size_t known = campaign.state().findings.size();
  while (campaign.step()) {
    if (!output.is_first() || is_failed) continue;
    const CampaignState& state = campaign.state();
    const bool is_new = state.findings.size() != known;
    known = state.findings.size();
    if (is_new || seconds_now() - written_at >= 1) {
      is_failed = !folder.write(state);
      written_at = seconds_now();
    }
    if (output.progress && seconds_now() - shown_at >= 0.2) {
      output.err << "\r\x1b[K" << reports::fuzz_progress(state, output.width) << std::flush;
      shown_at = seconds_now();
    }
  }
  if (output.progress) output.err << "\r\x1b[K" << std::flush;
  if (!output.is_first()) return Exit::as_expected;
  const CampaignState& state = campaign.state();
  if (is_failed || !folder.write(state)) return Exit::bad_input;
  return tell(state, interrupt.is_requested(), output);
}

}  // namespace

std::unique_ptr<Call> fuzz_call() { return std::make_unique<Fuzz>(); }

}  // namespace lockstep::cli
