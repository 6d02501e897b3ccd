#pragma once

// All that a campaign knows between two batches, and its way into a file and back.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/fuzzing/coverage.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/workers/text_archive.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

struct FuzzFinding {
  std::string property;
  std::string algorithm;
  std::string name;  ///< of its file, without the ending; no two have the same
  std::uint32_t target = 0;
  std::string cause;                ///< `Shrunk::cause`
  std::vector<std::string> faults;  ///< `Shrunk::faults`
  std::string why;
  std::string title;
  std::string text;            ///< the file
  std::uint64_t run = 0;       ///< ordinal, in the campaign, of the first run that showed it
  std::uint64_t after_ms = 0;  ///< real time of the campaign when it was found, with that of those that it resumed
  std::uint64_t times = 1;     ///< how many runs were made small and turned out to be this one
  std::uint64_t tried = 0;     ///< stories, to make it small
  bool is_minimal = false;     ///< `Shrunk::is_minimal`
};

/// A run that breaks something, of which no file could be made that does.
struct FuzzMystery {
  std::string property;
  std::uint32_t target = 0;
  std::string reason;
  std::string text;
};

struct FuzzStatistics {
  std::uint64_t batches = 0;
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
  /// Runs that are not judged, by reason: they did not end within their bound, or a script ran into an error.
  std::map<std::string, std::uint64_t> not_judged = {};
  std::uint64_t violating = 0;
  sim::Duration virtual_time;
  std::uint64_t features = 0;  ///< how many things have been seen (`features_of`)
};

/// Adds so many runs; of very many reasons the last ones by name are one.
void add_not_judged(FuzzStatistics& statistics, const std::string& reason, std::uint64_t runs = 1);
/// All of them.
std::uint64_t count_not_judged(const FuzzStatistics& statistics);

/// How often a property that must hold was judged, of the runs that are.
struct FuzzEvidence {
  std::uint64_t judged = 0;
  std::uint64_t not_judged = 0;  ///< though its world has what it is about
  std::string why;               ///< it was not, the first time
};

/// A run that showed something new, as a place to go on from.
struct FuzzSeed {
  std::uint32_t target = 0;
  std::uint64_t world = 0;
  RunDraw draw;
};

struct CampaignState {
  std::uint64_t fingerprint = 0;  ///< of all that decides what is found: targets and options
  std::uint64_t spent_ms = 0;     ///< real time
  FuzzStatistics statistics;
  std::vector<Feature> features;  ///< in the order in which they were first seen
  std::vector<FuzzSeed> corpus;
  /// By target, property and kinds of faults: in how many batches there was such a run.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> shrunk;
  /// By target and property: the first run that broke it.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> first;
  /// "PROPERTY of STORY", of each that must hold: what it was judged by.
  std::map<std::string, FuzzEvidence> evidence;
  std::vector<FuzzFinding> findings;
  std::vector<FuzzMystery> mysteries;
};

/// Why it does not count that nothing was found, a sentence each: no run was played, some were not judged, or a
/// property that must hold was judged in none. None: it counts. Requires: nothing was found.
std::vector<std::string> what_is_open(const CampaignState& state);

/// Whether what is known breaks for the same reason, and takes no more for that.
bool explains(const FuzzFinding& known, const std::string& cause, const std::vector<std::string>& faults);

/// Joins what two campaigns have found, which had different seeds or were parts of one (`FuzzOptions::shards`): what
/// has the same cause is one finding. The result is for people, and no campaign goes on from it.
void merge_into(CampaignState& all, const CampaignState& part);

/// A name for this finding that none of the others has: "set-nx-px-lua-mutual-exclusion-pause", with a number if that
/// is taken.
std::string free_name(const FuzzFinding& finding, const std::vector<FuzzFinding>& others);

/// Text, with a sum at its end by which a torn or changed file is known.
std::string to_text(const CampaignState& state);
/// Or what is wrong with the text.
std::variant<CampaignState, std::string> parse_campaign(std::string_view text);

// Parts of it, for what processes of one campaign tell each other. Which properties a draw is judged by is not in the
// text.
void add(Writing& out, const FuzzStatistics& statistics);
void add(Writing& out, const std::map<std::string, FuzzEvidence>& evidence);
std::map<std::string, FuzzEvidence> read_evidence(Reading& in);
void merge_into(std::map<std::string, FuzzEvidence>& all, const std::map<std::string, FuzzEvidence>& part);
void add(Writing& out, const FuzzSeed& seed);
FuzzStatistics read_statistics(Reading& in);
FuzzSeed read_seed(Reading& in);

}  // namespace lockstep::scenarios
