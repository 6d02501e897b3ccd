#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/interrupt.hpp"
#include "reports/check/fuzzing.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

using scenarios::Campaign;
using scenarios::CampaignState;
using scenarios::FuzzFinding;
using scenarios::FuzzTarget;

constexpr std::string_view kStateFile = "campaign.state";

double now() {
  using Clock = std::chrono::steady_clock;  // tidy: progress only
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::string state_file(const std::string& folder) { return (std::filesystem::path(folder) / kStateFile).string(); }

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Nothing after a message.
std::optional<std::vector<FuzzTarget>> targets_of(const Call& call, const models::locks::Catalogue& catalogue,
                                                  std::ostream& err) {
  std::vector<FuzzTarget> targets;
  std::vector<std::string> algorithms = call.fuzz.algorithms;
  if (algorithms == std::vector<std::string>{"all"}) {
    algorithms.clear();
    for (const std::string_view id : catalogue.ids()) algorithms.emplace_back(id);
  }
  for (const std::string& name : algorithms) {
    if (catalogue.find(name) != nullptr) continue;
    err << fmt::format("lockstep: --algorithm {}: {}\n", scenarios::in_quotes(name),
                       scenarios::suggestion(name, catalogue.ids()));
    return std::nullopt;
  }
  if (call.files.empty()) {
    for (const std::string& name : algorithms) targets.push_back(scenarios::target_of(*catalogue.find(name)));
    return targets;
  }
  std::optional<std::vector<scenarios::Scenario>> loaded = load_all(call.files, catalogue, err);
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

/// The findings first, then the state that knows of them: whoever is killed in between finds them again.
class Folder {
 public:
  Folder(std::string path, std::ostream& err) : path_(std::move(path)), err_(err) {}

  bool write(const CampaignState& state) {
    for (; written_ < state.findings.size(); ++written_) {
      const FuzzFinding& finding = state.findings[written_];
      if (!write_file((std::filesystem::path(path_) / (finding.name + ".toml")).string(), finding.text, err_))
        return false;
    }
    return write_file(state_file(path_), scenarios::to_text(state), err_);
  }

 private:
  std::string path_;
  std::ostream& err_;
  std::size_t written_ = 0;
};

Exit exit_of(const CampaignState& state, bool is_interrupted) {
  if (is_interrupted) return Exit::incomplete;
  return state.findings.empty() && state.mysteries.empty() ? Exit::as_expected : Exit::not_as_expected;
}

Exit merge_folders(const Call& call, Output& output) {
  CampaignState merged;
  for (const std::string& folder : call.fuzz.merge) {
    auto parsed = scenarios::parse_campaign(text_of(state_file(folder)));
    if (const auto* trouble = std::get_if<std::string>(&parsed)) {
      output.err << fmt::format("lockstep: {}: there is no campaign that could be read: {}\n",
                                scenarios::one_line(state_file(folder)), *trouble);
      return Exit::bad_input;
    }
    scenarios::merge_into(merged, std::get<CampaignState>(parsed));
  }
  if (const auto trouble = trouble_with_folder("--found", call.fuzz.found)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  if (std::filesystem::exists(state_file(call.fuzz.found))) {
    output.err << fmt::format("lockstep: --found {}: there is a campaign in it; name a folder without one\n",
                              scenarios::one_line(call.fuzz.found));
    return Exit::bad_input;
  }
  if (!Folder(call.fuzz.found, output.err).write(merged)) return Exit::bad_input;
  const reports::FuzzReportOptions how{.width = output.width, .folder = call.fuzz.found};
  output.out << (call.json ? reports::fuzz_json(merged, how)
                           : reports::to_string(reports::fuzz_report(merged, how), output.colour));
  return exit_of(merged, false);
}

/// The campaign to go on with, as its file has it; empty: a new one. Or what is wrong with the folder.
std::variant<std::string, scenarios::Diagnostic> earlier(const Call& call) {
  const auto wrong = [](std::string message) { return scenarios::Diagnostic{{}, {}, std::move(message)}; };
  if (auto trouble = trouble_with_folder("--found", call.fuzz.found)) return wrong(*std::move(trouble));
  const std::string file = state_file(call.fuzz.found);
  if (!std::filesystem::exists(file)) {
    if (!call.fuzz.resume) return std::string();
    return wrong(fmt::format("--resume: there is no campaign in {}", scenarios::one_line(call.fuzz.found)));
  }
  if (!call.fuzz.resume) {
    return wrong(fmt::format(
        "--found {}: there is a campaign in it; add --resume to go on with it, or name a folder without one",
        scenarios::one_line(call.fuzz.found)));
  }
  return text_of(file);
}

/// Nothing: `campaign` has taken over what was there.
std::optional<std::string> resume(const Call& call, const std::string& text, Campaign& campaign) {
  auto parsed = scenarios::parse_campaign(text);
  std::optional<std::string> trouble;
  if (auto* unreadable = std::get_if<std::string>(&parsed)) {
    trouble = *unreadable;
  } else {
    trouble = campaign.restore(std::get<CampaignState>(std::move(parsed)));
  }
  if (!trouble) return std::nullopt;
  return fmt::format("--resume: {}: {}", scenarios::one_line(state_file(call.fuzz.found)), *trouble);
}

/// The folder is the first rank's, and what is in it all of them know. A message: it cannot begin, or go on.
std::optional<std::string> prepare(const Call& call, Campaign& campaign, const Output& output) {
  std::string text;
  std::string trouble;
  if (output.is_first()) {
    auto found = earlier(call);
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
  return text.empty() && !call.fuzz.resume ? std::nullopt : resume(call, text, campaign);
}

}  // namespace

Exit fuzz(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  if (!call.fuzz.merge.empty()) return output.is_first() ? merge_folders(call, output) : Exit::as_expected;
  std::ostringstream said;
  const Interrupt interrupt;  // from here on: reading many files takes its time, too
  std::optional<std::vector<FuzzTarget>> targets = targets_of(call, catalogue, said);
  if (const std::string objection = objection_of_any(targets ? std::string() : said.str(), output);
      !objection.empty()) {
    output.err << objection;
    return Exit::bad_input;
  }
  scenarios::FuzzOptions options;
  options.seed = call.seed.value_or(1);
  options.jobs = call.jobs;
  options.max_runs = call.fuzz.max_runs;
  options.max_seconds = call.fuzz.max_seconds;
  options.stopwatch = now;
  options.shard = call.fuzz.shard;
  options.shards = call.fuzz.shards;
  options.strategy = call.fuzz.strategy;
  options.depth = call.fuzz.depth;
  options.coverage = call.fuzz.coverage;
  options.as_written = call.fuzz.as_written;
  bool is_failed = false;  // then the others need to be told
  options.interrupted = [&] { return is_failed || interrupt.is_requested(); };
  options.ranks = output.ranks;
  Campaign campaign(std::move(*targets), catalogue, options);
  if (const auto trouble = prepare(call, campaign, output)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }

  Folder folder(call.fuzz.found, output.err);
  double written_at = now();
  double shown_at = 0;
  std::size_t known = campaign.state().findings.size();
  while (campaign.step()) {
    if (!output.is_first() || is_failed) continue;
    const CampaignState& state = campaign.state();
    const bool is_new = state.findings.size() != known;
    known = state.findings.size();
    if (is_new || now() - written_at >= 1) {
      is_failed = !folder.write(state);
      written_at = now();
    }
    if (output.progress && now() - shown_at >= 0.2) {
      output.err << "\r\x1b[K" << reports::fuzz_progress(state, output.width) << std::flush;
      shown_at = now();
    }
  }
  if (output.progress) output.err << "\r\x1b[K" << std::flush;
  if (!output.is_first()) return Exit::as_expected;
  const CampaignState& state = campaign.state();
  if (is_failed || !folder.write(state)) return Exit::bad_input;
  const reports::FuzzReportOptions how{.width = output.width, .folder = call.fuzz.found};
  output.out << (call.json ? reports::fuzz_json(state, how)
                           : reports::to_string(reports::fuzz_report(state, how), output.colour));
  return exit_of(state, interrupt.is_requested());
}

}  // namespace lockstep::cli
