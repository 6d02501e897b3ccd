// [schedule]: events at exactly given times.

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"
#include "sim/schedules/schedule.hpp"

namespace lockstep::scenarios::schema {
namespace {

using What = sim::EventName::What;

/// Faults that may strike at a given time are events of their victims.
constexpr auto kHappensToAProcess = [] {
  constexpr std::array own{What::start, What::work, What::sleep, What::deadline, What::tick};
  constexpr auto kinds = sim::named_kinds(
      [](sim::FaultKind kind) { return sim::strikes_process(kind) && sim::entry_of(kind).can_be_planned; });
  std::array<What, own.size() + kinds.size()> whats{};
  std::copy(own.begin(), own.end(), whats.begin());
  for (std::size_t i = 0; i < kinds.size(); ++i) whats[own.size() + i] = sim::EventName::of(kinds[i].second);
  return whats;
}();
constexpr std::array<What, 3> kHappensToARequest{What::reply, What::timeout, What::reset};

/// The parts of an entry, and where in it they begin.
struct Word {
  std::string_view text;
  std::size_t inside;
};

/// The parts between blanks; but commands, which are in capitals, may be of two words: "A.SCRIPT LOAD#1".
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find(' ', begin), text.size());
    const bool goes_on = words.size() == 2 && words[1].text.find('.') != std::string_view::npos && text[begin] >= 'A' &&
                         text[begin] <= 'Z';
    if (goes_on) {
      words[1].text = text.substr(words[1].inside, at - words[1].inside);
    } else {
      words.push_back({text.substr(begin, at - begin), begin});
    }
  }
  return words;
}

[[noreturn]] void fail_at(const Node& node, Word word, const std::string& message) {
  throw Bad{node.at, node.key + ": " + message, word.inside};
}

template <std::size_t N>
What what_of(const Node& node, Word word, std::string_view text, const std::array<What, N>& choices) {
  std::vector<std::string_view> names;
  for (const What what : choices) {
    names.push_back(sim::to_string(what));
    if (names.back() == text) return what;
  }
  fail_at(node, word, in_quotes(text) + " is no event: " + suggestion(text, names));
}

/// "A.SET#2@redis1", and perhaps "reply".
void read_request(const Node& node, std::span<const Word> words, ScheduleEntry& entry, Draft& draft) {
  const auto [text, inside] = words[0];
  const std::size_t dot = text.find('.');
  const std::size_t sign = text.find('@', dot);
  const std::string_view said = text.substr(dot + 1, sign == text.npos ? sign : sign - dot - 1);
  const Step step = step_of(node, said, inside + dot + 1, StepKind::scheduled, draft);
  entry.process = text.substr(0, dot);
  entry.step = step.name;
  entry.occurrence = step.occurrence.value_or(1);
  draft.names.mention(Who::process, entry.process, node, inside);
  if (sign != std::string_view::npos) {
    entry.server = text.substr(sign + 1);
    if (step.name == "read" || step.name == "write") {
      fail_at(node, {said, inside + sign},
              in_quotes(step.name) + " goes to the resource, not to a server; leave out the @");
    }
    draft.names.mention(Who::process, entry.server, node, inside + sign + 1);
  }
  if (words.size() > 1) entry.what = what_of(node, words[1], words[1].text, kHappensToARequest);
}

/// "A work#2".
void read_own(const Node& node, std::span<const Word> words, ScheduleEntry& entry, Draft& draft) {
  const auto [text, inside] = words[1];
  const std::size_t hash = text.find('#');
  entry.what = what_of(node, words[1], text.substr(0, hash), kHappensToAProcess);
  if (hash != std::string_view::npos) entry.occurrence = occurrence_of(node, text.substr(hash + 1), inside + hash + 1);
  entry.process = words[0].text;
  draft.names.mention(Who::process, entry.process, node, words[0].inside);
}

/// What stands behind "choosing": "2 of 3, 1 of 2".
std::vector<sim::PlannedChoice> choices_of(const Node& node, std::span<const Word> words) {
  constexpr std::uint64_t kMostOptions = 1'000'000;
  const auto number_of = [&](const Word& word, std::string_view text, std::uint64_t most) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
      fail_at(node, word, in_quotes(word.text) + " is no choice; expected one such as \"2 of 3\", the second of three");
    }
    return number;
  };
  std::vector<sim::PlannedChoice> choices;
  for (std::size_t i = 0; i < words.size() || choices.empty(); i += 3) {
    if (i + 3 > words.size() || words[i + 1].text != "of") {
      fail_at(node, words.empty() ? Word{"choosing", 0} : words[std::min(i, words.size() - 1)],
              "expected what is chosen, such as \"choosing 2 of 3\", the second of three");
    }
    std::string_view options = words[i + 2].text;
    if (i + 3 < words.size() && options.ends_with(',')) options.remove_suffix(1);
    const std::uint64_t count = number_of(words[i + 2], options, kMostOptions);
    choices.push_back({.index = number_of(words[i], words[i].text, count) - 1, .options = count});
  }
  return choices;
}

ScheduleEntry entry_of(const Node& node, Draft& draft) {
  constexpr std::string_view what = "a time and an event such as \"12ms A.SET#1\" or \"32ms A work#1\"";
  const std::string& text = text_of(node, what);
  std::vector<Word> words = words_of(text);
  std::vector<sim::PlannedChoice> choices;
  const auto choosing =
      std::find_if(words.begin(), words.end(), [](const Word& word) { return word.text == "choosing"; });
  if (choosing != words.end()) {
    choices = choices_of(node, std::span(choosing + 1, words.end()));
    words.erase(choosing, words.end());
  }
  const bool is_request = words.size() > 1 && words[1].text.find('.') != std::string_view::npos;
  if (words.size() < 2 || words.size() > 3 || (!is_request && words.size() == 2)) fail_expecting(node, what);
  ScheduleEntry entry;
  entry.at = node.at;
  entry.choices = std::move(choices);
  const std::optional<sim::Duration> time =
      words[0].text == "never" ? sim::ScheduledEvent::never : sim::parse_duration(words[0].text);
  if (!time || *time < sim::Duration::zero() || *time > sim::Duration::forever()) {
    fail_at(node, words[0],
            in_quotes(words[0].text) + " is no time; expected a duration such as \"12ms\" since the begin, or never");
  }
  entry.time = *time;
  const std::span<const Word> event = std::span(words).subspan(1);
  is_request ? read_request(node, event, entry, draft) : read_own(node, event, entry, draft);
  return entry;
}

/// Each event happens once, and time does not go back.
void read_events(const Node& value, Draft& draft) {
  std::map<std::tuple<What, std::string, std::string, std::int64_t, std::string>, Position> seen;
  std::vector<ScheduleEntry>& schedule = draft.scenario.schedule;
  for (const Node& element : array_of(value, "an array such as [\"10ms A.SET#1\", \"12ms A.SET#1 reply\"]")) {
    ScheduleEntry entry = entry_of(element, draft);
    const auto [first, is_new] =
        seen.try_emplace({entry.what, entry.process, entry.step, entry.occurrence, entry.server}, entry.at);
    if (!is_new) {
      fail(element, in_quotes(std::get<std::string>(element.value)) + " names an event a second time (first in line " +
                        std::to_string(first->second.line) + "); it happens only once");
    }
    if (!schedule.empty() && entry.time < schedule.back().time) {
      fail(element, in_quotes(std::get<std::string>(element.value)) + " comes after an entry of " +
                        sim::to_string(schedule.back().time) + "; put the events in the order of their times");
    }
    schedule.push_back(std::move(entry));
  }
}

std::string text_of(const std::vector<sim::PlannedChoice>& choices) {
  std::string text;
  for (const sim::PlannedChoice& choice : choices) {
    text += (text.empty() ? " choosing " : ", ") + std::to_string(choice.index + 1) + " of " +
            std::to_string(choice.options);
  }
  return text;
}

/// "12ms A.SET#1@redis1 reply", "12ms A.SPOP#1 choosing 2 of 3".
std::string text_of(const ScheduleEntry& entry) {
  const bool is_never = entry.time == sim::ScheduledEvent::never;
  std::string text = (is_never ? "never" : sim::to_string(entry.time)) + " " + entry.process;
  if (!sim::EventName::is_of_request(entry.what)) {
    return text + " " + text_of_step(std::string(sim::to_string(entry.what)), entry.occurrence) +
           text_of(entry.choices);
  }
  text += "." + entry.step + "#" + std::to_string(entry.occurrence);
  if (!entry.server.empty()) text += "@" + entry.server;
  if (entry.what != What::request) text += " " + std::string(sim::to_string(entry.what));
  return text + text_of(entry.choices);
}

/// A time line is read downwards, so each event has a line of its own.
Value write_events(const Saved& saved) {
  std::string lines;
  for (const ScheduleEntry& entry : saved.scenario.schedule) lines += "  " + as_toml(text_of(entry)).line + ",\n";
  return {lines.empty() ? "" : "[\n" + lines + "]"};
}

constexpr Key<Draft> kSchedule[] = {
    {"events", "array of TIME EVENT", kRequired, "events that are handled at exactly these true times, in this order",
     both(read_events, write_events)},
};

}  // namespace

void read_schedule(const Node& node, Draft& draft) { read_table(node, {"[schedule]"}, kSchedule, draft); }

Value write_schedule(const Saved& saved) { return headed(write_table(kSchedule, saved, saved)); }

void list_schedule(std::vector<TableRow>& tables) { tables.push_back({"[schedule]", rows_of(kSchedule)}); }

}  // namespace lockstep::scenarios::schema
