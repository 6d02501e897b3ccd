#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/run/events.hpp"

namespace lockstep::reports {
namespace {

struct Attempt {
  sim::OperationId id = 0;
  std::string shape;
  std::size_t first = 0;  ///< index of its first event
};

/// A run of attempts that are like the one before them.
struct Repetition {
  sim::ProcessId who;
  std::size_t count = 0;
  sim::Instant last;
};

constexpr std::size_t kRepetitionsMin = 2;

/// What proves a violation is never hidden.
std::set<sim::Step> evidence_of(const Story& story) {
  std::set<sim::Step> evidence;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    if (judgement.finding.verdict != checker::Verdict::violated) continue;
    evidence.insert(judgement.finding.evidence.begin(), judgement.finding.evidence.end());
  }
  return evidence;
}

Event note_of(const Event& event, sim::ProcessId who, std::string text) {
  Event note;
  note.at = event.at;
  note.step = event.step;
  note.who = who;
  note.text = std::move(text);
  note.ink = Ink::faint;
  return note;
}

void fold_attempts(std::vector<Event>& events, const Story& story, const std::set<sim::Step>& evidence) {
  std::map<sim::ProcessId, std::vector<Attempt>> attempts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.attempt == 0) continue;
    const sim::ProcessId client = story.outcome.history.operations[event.attempt - 1].process;
    std::vector<Attempt>& own = attempts[client];
    if (own.empty() || own.back().id != event.attempt) own.push_back({event.attempt, "", i});
    own.back().shape += event.shape + "\n";
    if (evidence.contains(event.step)) own.back().shape += fmt::format("evidence {}\n", event.step);
  }

  std::map<sim::OperationId, bool> hidden;               // attempt → is its first event where the note goes
  std::map<sim::OperationId, Repetition> repetition_at;  // by the first attempt that is hidden
  for (const auto& [client, own] : attempts) {
    for (std::size_t begin = 0, end = 0; begin < own.size(); begin = end) {
      end = begin + 1;
      while (end < own.size() && own[end].shape == own[begin].shape) ++end;
      const std::size_t repeated = end - begin - 1;
      if (repeated < kRepetitionsMin) continue;
      for (std::size_t i = begin + 1; i < end; ++i) hidden[own[i].id] = i == begin + 1;
      repetition_at[own[begin + 1].id] = {client, repeated, events[own[end - 1].first].at};
    }
  }
  if (hidden.empty()) return;

  std::vector<Event> kept;
  std::set<sim::OperationId> noted;
  for (Event& event : events) {
    if (event.attempt == 0 || !hidden.contains(event.attempt)) {
      kept.push_back(std::move(event));
      continue;
    }
    if (!hidden[event.attempt] || !noted.insert(event.attempt).second) continue;
    const Repetition& repetition = repetition_at.at(event.attempt);
    kept.push_back(note_of(event, repetition.who,
                           fmt::format("tries {} more times until {}, always the same", repetition.count,
                                       sim::to_string(repetition.last.offset()))));
  }
  events = std::move(kept);
}

/// Commands that are in no failed attempt, as those of a watchdog, which may renew some thousand times.
void fold_commands(std::vector<Event>& events, const std::set<sim::Step>& evidence) {
  const auto is_plain = [&](const Event& event) {
    return event.attempt == 0 && event.arrow && event.arrow->fate == Arrow::Fate::arrives && !event.shape.empty() &&
           !evidence.contains(event.step);
  };
  std::map<sim::ProcessId, std::vector<std::size_t>> open;  // the rows of what may go on, by who did it
  std::map<std::size_t, std::string> notes;                 // in place of the first that is hidden
  std::set<std::size_t> hidden;
  const auto close = [&](std::vector<std::size_t>& run) {
    if (run.size() > kRepetitionsMin) {
      notes[run[1]] = fmt::format("the same {} more times until {}", run.size() - 1,
                                  sim::to_string(events[run.back()].at.offset()));
      hidden.insert(run.begin() + 1, run.end());
    }
    run.clear();
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (!event.who.is_valid()) continue;
    std::vector<std::size_t>& run = open[event.who];
    const bool goes_on = !run.empty() && is_plain(event) && events[run.back()].shape == event.shape &&
                         events[run.back()].text == event.text;
    if (!goes_on) close(run);
    if (is_plain(event)) run.push_back(i);
  }
  for (auto& [who, run] : open) close(run);
  if (hidden.empty()) return;

  std::vector<Event> kept;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const auto note = notes.find(i); note != notes.end()) {
      kept.push_back(note_of(events[i], events[i].who, note->second));
    } else if (!hidden.contains(i)) {
      kept.push_back(std::move(events[i]));
    }
  }
  events = std::move(kept);
}

}  // namespace

void fold_repetitions(std::vector<Event>& events, const Story& story) {
  const std::set<sim::Step> evidence = evidence_of(story);
  fold_attempts(events, story, evidence);
  fold_commands(events, evidence);
}

}  // namespace lockstep::reports
