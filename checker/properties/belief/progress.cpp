#include "checker/properties/belief/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/time_spans.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;

class Judge {
 public:
  Judge(const sim::History& history, const Names& names, const ProgressQuestion& question)
      : history_(history), names_(names), question_(question), beliefs_(ownership_intervals(history)) {
    collect_tries(history.operations, history.interruptions, question.attempts, tries_);
  }

  Finding judge() {
    for (const OwnershipInterval& belief : beliefs_) {
      const Duration to = belief.is_empty() ? belief.from.offset() : end_of(belief.to);
      grants_[belief.object].push_back({belief.from.offset(), to});
    }
    for (auto& [object, grants] : grants_) {
      std::sort(grants.begin(), grants.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.from < b.from; });
      for (std::size_t i = 1; i < grants.size(); ++i) grants[i].to = std::max(grants[i].to, grants[i - 1].to);
    }
    for (const Try& one : tries_) {
      const std::vector<TimeSpan>& grants = grants_[one.object];
      const TimeSpan whole{one.from.offset(), end_of(one.until ? std::optional(one.until->at) : std::nullopt)};
      for (const TimeSpan& span : running(history_, one.process, whole)) {
        // The pieces between the moments at which somebody gets it.
        TimeSpan piece{span.from, span.from};
        for (std::size_t next = begun_by(grants, span.from); next < grants.size(); ++next) {
          const Duration grant = grants[next].from;
          if (grant == piece.from) continue;
          if (grant >= span.to) break;
          piece.to = grant;
          look(one, piece);
          piece.from = grant;
        }
        piece.to = span.to;
        look(one, piece);
      }
    }
    return conclusion();
  }

 private:
  Duration end_of(const std::optional<sim::Instant>& at) const { return end_or_never(at, question_.end); }

  /// How many of them begin by this moment.
  static std::size_t begun_by(const std::vector<TimeSpan>& grants, Duration moment) {
    return static_cast<std::size_t>(
        std::upper_bound(grants.begin(), grants.end(), moment,
                         [](Duration at, const TimeSpan& grant) { return at < grant.from; }) -
        grants.begin());
  }

  /// In the piece `one` tries and runs, and nobody gets the lock.
  void look(const Try& one, TimeSpan piece) {
    const std::vector<TimeSpan>& grants = grants_[one.object];
    const std::size_t begun = begun_by(grants, piece.from);
    const Duration free_from = begun == 0 ? piece.from : std::max(piece.from, grants[begun - 1].to);
    const Duration length = piece.to - free_from;
    if (length > longest_ && (one.attempts > 1 || !one.is_successful)) longest_ = length;
    if (length > question_.within) blame(one, {free_from, piece.to}, nullptr);
    if (piece.length() <= question_.within) return;
    for (const OwnershipInterval& belief : beliefs_) {
      if (belief.object != one.object || belief.from.offset() > piece.from || belief.is_empty()) continue;
      const Duration to = end_of(belief.to);
      const TimeSpan both{piece.from, std::min(piece.to, to)};
      if (both.length() <= Duration::zero()) continue;
      for (const TimeSpan& held : running(history_, belief.process, both)) {
        if (held.length() > question_.within) blame(one, held, &belief);
      }
    }
  }

  void blame(const Try& one, TimeSpan span, const OwnershipInterval* holder) {
    const sim::Instant at = sim::Instant::at(span.from + question_.within);
    if (found_.verdict == Verdict::violated && compare(at, *found_.at) >= 0) return;
    found_.verdict = Verdict::violated;
    found_.at = at;
    found_.by.clear();
    const std::string tries = fmt::format("{} has tried since {}", name_of(names_, one.process), time_text(one.from));
    const std::string allowed = sim::to_string(question_.within);
    const std::string since = time_text(sim::Instant::at(span.from));
    if (holder != nullptr) {
      found_.by.push_back(holder->process);
      found_.evidence = sorted_evidence({one.from_step, holder->from_step});
      found_.why = fmt::format("{}, and from {} on {} held it for longer than {}", tries, since,
                               name_of(names_, holder->process), allowed);
    } else {
      found_.evidence = sorted_evidence({one.from_step});
      found_.why = fmt::format("{}, and from {} on nobody held it for longer than {}", tries, since, allowed);
    }
    if (holder == nullptr || holder->process != one.process) found_.by.push_back(one.process);
  }

  Finding conclusion() {
    if (found_.verdict == Verdict::violated) return found_;
    found_.verdict = Verdict::holds;
    const bool in_vain =
        std::any_of(tries_.begin(), tries_.end(), [](const Try& t) { return t.attempts > 1 || !t.is_successful; });
    if (tries_.empty()) {
      found_.why = "nobody tried";
    } else if (!in_vain) {
      found_.why = "nobody waited";
    } else {
      found_.why = fmt::format("nobody tried for longer than {} while nobody held it ({} allowed)",
                               sim::to_string(longest_), sim::to_string(question_.within));
    }
    return found_;
  }

  const sim::History& history_;
  const Names& names_;
  const ProgressQuestion& question_;
  std::vector<OwnershipInterval> beliefs_;
  std::vector<Try> tries_;
  std::map<std::string_view, std::vector<TimeSpan>>
      grants_;  ///< by their beginning, each to when it and all before it are over
  Duration longest_;
  Finding found_{.property = "progress", .view = View::belief, .verdict = Verdict::unknown};
};

}  // namespace

Finding progress(const sim::History& history, const Names& names, const ProgressQuestion& question) {
  return Judge(history, names, question).judge();
}

void collect_tries(std::span<const sim::Operation> operations, std::span<const sim::Interruption> interruptions,
                   std::span<const std::int64_t> attempts, std::vector<Try>& tries) {
  tries.clear();
  // The first crash from a step on: it ends whatever was going on.
  const auto crash_after = [&](sim::ProcessId process, sim::Step step) -> const sim::Interruption* {
    const sim::Interruption* first = nullptr;
    for (const sim::Interruption& i : interruptions) {
      if (!kills(i.kind) || i.process != process || i.step < step) continue;
      if (first == nullptr || i.step < first->step) first = &i;
    }
    return first;
  };
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].function != "acquire") continue;
    const sim::Operation& first = operations[i];
    const auto known =
        std::find_if(tries.rbegin(), tries.rend(), [&](const Try& before) { return before.process == first.process; });
    if (known != tries.rend() && (!known->until || known->until->step > first.invoked_in)) continue;
    Try one{.process = first.process, .object = first.object, .first = first.id};
    one.from = first.invoked;
    one.from_step = first.invoked_in;
    const std::int64_t most = first.process.index < attempts.size() ? attempts[first.process.index] : 0;
    const sim::Interruption* crash = crash_after(first.process, first.invoked_in);
    const sim::Operation* last = nullptr;
    for (std::size_t j = i; j < operations.size(); ++j) {
      const sim::Operation& next = operations[j];
      if (next.process != first.process) continue;
      const bool is_dead = crash != nullptr && crash->step < next.invoked_in;
      if (is_dead || next.function != "acquire" || next.object != first.object) {
        // Whoever does something else does not wait any more.
        if (last->phase == sim::Phase::invoke) one.until = Ending{next.invoked, next.invoked_in};
        break;
      }
      last = &next;
      ++one.attempts;
      one.is_successful = is_successful(next, "acquire");
      if (one.is_successful || one.attempts == most) break;
    }
    const bool is_over = last->phase != sim::Phase::invoke;
    if (crash != nullptr && (!is_over || crash->step < last->completed_in)) {
      one.until = Ending{crash->from, crash->step};
      one.is_successful = false;
    } else if (is_over) {
      one.until = Ending{last->completed, last->completed_in};
    }
    tries.push_back(one);
  }
}

Property entries::progress() {
  return {.name = "progress",
          .view = View::belief,
          .meaning = "Nobody alive tries longer than a stated bound for a lock that nobody holds or gets.",
          .meaning_zh = "锁无人持有也无人得到时，活着的客户端的尝试不会超过规定的时限。",
          .question =
              "Did somebody alive try for too long while nobody held the lock, or one and the same never gave it back?",
          .decided_by = DecidedBy::lengths,
          .judge = [](const JudgedRun& run) { return checker::progress(run.story, run.names, run.progress); }};
}

}  // namespace lockstep::checker
