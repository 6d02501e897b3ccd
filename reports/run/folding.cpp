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
  std::string kind;       ///< the shape without numbers that are each time others
  std::size_t first = 0;  ///< index of its first event
};

/// A run of attempts that are like the one before them.
struct Repetition {
  sim::ProcessId who;
  std::size_t count = 0;
  sim::Instant last;
  bool is_exact = true;  ///< not only alike
};

constexpr std::size_t kRepetitionsMin = 2;

/// Whole numbers of two or more in answers are what is left of a lease, or a place in a queue: whoever polls is told
/// another one each time. 0 and 1 say no and yes.
std::string without_numbers(std::string_view shape) {
  constexpr std::string_view kNumber = "(integer) ";
  std::string kind;
  for (std::size_t at = shape.find(kNumber); at != std::string_view::npos; at = shape.find(kNumber)) {
    kind += shape.substr(0, at + kNumber.size());
    shape.remove_prefix(at + kNumber.size());
    const std::size_t end = std::min(shape.find_first_not_of("0123456789"), shape.size());
    const std::string_view digits = shape.substr(0, end);
    kind += digits.size() > 1 || digits > "1" ? std::string_view("n") : digits;
    shape.remove_prefix(end);
  }
  kind += shape;
  return kind;
}

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
    if (own.empty() || own.back().id != event.attempt) own.push_back({event.attempt, "", "", i});
    own.back().shape += event.shape + "\n";
    if (evidence.contains(event.step)) own.back().shape += fmt::format("evidence {}\n", event.step);
  }

  for (auto& [client, own] : attempts) {
    for (Attempt& attempt : own) attempt.kind = without_numbers(attempt.shape);
  }

  std::map<sim::OperationId, bool> hidden;               // attempt → is its first event where the note goes
  std::map<sim::OperationId, Repetition> repetition_at;  // by the first attempt that is hidden
  for (const auto& [client, own] : attempts) {
    for (std::size_t begin = 0, end = 0; begin < own.size(); begin = end) {
      end = begin + 1;
      while (end < own.size() && own[end].kind == own[begin].kind) ++end;
      const std::size_t repeated = end - begin - 1;
      if (repeated < kRepetitionsMin) continue;
      for (std::size_t i = begin + 1; i < end; ++i) hidden[own[i].id] = i == begin + 1;
      const bool is_exact =
          std::all_of(own.begin() + static_cast<std::ptrdiff_t>(begin), own.begin() + static_cast<std::ptrdiff_t>(end),
                      [&](const Attempt& attempt) { return attempt.shape == own[begin].shape; });
      repetition_at[own[begin + 1].id] = {client, repeated, events[own[end - 1].first].at, is_exact};
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
    kept.push_back(
        note_of(event, repetition.who,
                fmt::format("tries {} more times until {}, always {}", repetition.count, time_text(repetition.last),
                            repetition.is_exact ? "the same" : "alike: only numbers in answers differ")));
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
      notes[run[1]] = fmt::format("the same {} more times until {}", run.size() - 1, time_text(events[run.back()].at));
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
