#pragma once

// Searches that are broken on purpose, each in one place, and must be found out. Only tests can make one:
// checker/testing/explorer_mutants.hpp.

#include <cstdint>

namespace lockstep::checker {

enum class SearchMutant : std::uint8_t {
  none,
  cut_infeasible,
  forget_races,
  forget_cancelled,
  never_wake,
  forget_readers,  ///< a change does not come after those who read before
  forget_forks,    ///< what a sleeping event did with one answer is taken for what it does with all
  forget_last,     ///< going back, it no longer knows who came last at each process
  /// A trace is over when nothing but ticks is pending, though they may be due before what has happened.
  no_late_ticks,
  strictly_alike,      ///< those who are alike never come at the same time
  forget_conflicts,    ///< an infeasible event is not tried in place of those that do not allow it
  sleep_unasked,       ///< nor is what would wake somebody, if only it came in time
  picks_once,          ///< nobody else is picked where who was picked turns out to sleep
  miscount,            ///< what comes after an answer is taken for another answer to the same question
  forget_timeouts,     ///< an answer is taken to come first whatever timer is on its way to its client
  doze,                ///< who sleeps with some answers alone stands for all that begins with him
  one_pause_each,      ///< no two pauses strike at one place
  survive_pauses,      ///< nobody crashes in the middle of a pause
  last_words,          ///< what a pause keeps from leaving leaves though its sender crashes in it
  late_dooms,          ///< a crash in a pause comes after what was handled when that was over
  crashes_come_first,  ///< what comes in a pause comes after the crash that ends it
  no_crash_at_work,    ///< a crash in paused work comes before that would have been over without the pause
  works_undisturbed,   ///< nothing comes while a pause prolongs work
  pauses_part,         ///< nothing waits from one pause to the next
};

}  // namespace lockstep::checker
