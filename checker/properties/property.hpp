#pragma once

// A property: all that the rest of the house knows of it. One file of belief/, server/ or damage/ gives it, with its
// checker.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

inline constexpr std::string_view nothing_was_tried = "nothing was tried: nobody ever got the lock";

struct ProgressQuestion;
struct RecoverableQuestion;
struct WakeupQuestion;

/// What there is in a story, for whoever says whether a property has anything to judge there.
struct Circumstances {
  bool has_resource = false;
  bool has_market = false;
  bool is_semaphore = false;
  bool shares_lock = false;          ///< somebody takes the lock as one of several, as readers do
  bool takes_several_locks = false;  ///< some client takes more than one
  bool promises_turns = false;       ///< the file or the algorithm says how often somebody may be overtaken
  bool reenters = false;             ///< some client takes again what it holds
  std::size_t servers = 1;
};

/// A run that is over, and what is asked of it.
struct JudgedRun {
  const sim::History& story;  ///< without what the probe did
  const sim::History& all;
  const Names& names;
  std::span<const sim::ProcessId> resources;
  std::string_view lock;               ///< its key
  std::optional<std::int64_t> places;  ///< of a semaphore
  std::int64_t overtakings = 0;
  sim::Duration deadlock_lasting;
  const ProgressQuestion& progress;
  const RecoverableQuestion& recoverable;
  const WakeupQuestion& wakeup;
  /// Those of `story` against truthful-reports, reentrancy and faithful-renewal; found when somebody asks first.
  std::function<std::span<const Breach>()> breaches;
  /// Those of `story`; likewise.
  std::function<const LockObjects&()> locks;
};

/// One text in both languages.
struct BothLanguages {
  std::string en;
  std::string zh;
};

/// What decides it.
enum class DecidedBy : std::uint8_t {
  order,   ///< which moment comes before which
  counts,  ///< how many at once, or how many before
  lengths  ///< whether something takes longer than a bound: no order of moments says that
};

struct Property {
  std::string_view name;     ///< as in scenario files and findings
  View view;                 ///< whose truth it is about
  std::string_view meaning;  ///< one line, English
  std::string_view meaning_zh;
  std::string_view question;  ///< what it asks of a run: its row in docs/manual/reading-a-report.md
  DecidedBy decided_by = DecidedBy::order;
  /// Whether anything of what it is about is in a history, or in the beginning of one. Nothing of it can hold without:
  /// it is not judged then, because `unseen`. Null: whether somebody got the lock.
  bool (*is_seen)(const OrderedHistory& history) = nullptr;
  std::string_view unseen = nothing_was_tried;
  /// A property whose violation is always one of this too, and is not worth telling twice.
  std::string_view implied_by = {};
  /// Whether the story has what it is about at all. Where it has not, it is not judged for no want of trying, and
  /// nobody claims it. Null: it has, unless `why_not_judged` says otherwise.
  bool (*can_be_seen)(const Circumstances& story) = nullptr;
  /// Why there is nothing to judge, in one sentence; empty: it is judged. Null: it always is.
  std::string_view (*why_not_judged)(const Circumstances& story) = nullptr;
  Finding (*judge)(const JudgedRun& run) = nullptr;
  /// All breaches of a property that order alone decides, for explorations: what gives it needs no line anywhere else.
  /// One entry may answer for several that are found together. Null: another entry does, or checker/violations has its
  /// ways.
  std::vector<Breach> (*breaches)(const OrderedHistory& history) = nullptr;
  /// What a violation is, as a title says it. `by`: the clients to blame, as they are listed; there are `count`. Null:
  /// "NAME is violated by …".
  BothLanguages (*headline)(const BothLanguages& by, std::size_t count) = nullptr;
};

}  // namespace lockstep::checker
