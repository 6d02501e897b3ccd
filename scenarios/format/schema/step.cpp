#include "scenarios/format/schema/step.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "models/redis/database/commands.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

namespace redis = models::redis;

[[noreturn]] void fail_inside(const Node& node, std::size_t inside, const std::string& message) {
  throw Bad{node.at, node.key + ": " + message, inside};
}

/// Commands that a server executes: SCRIPT alone is none, SCRIPT LOAD is.
std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const redis::CommandSpec& command : redis::command_table()) {
    if (command.handler != nullptr) names.push_back(command.name);
  }
  return names;
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::int64_t occurrence_of(const Node& node, std::string_view text, std::size_t inside) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    fail_inside(node, inside, in_quotes(text) + " does not count; expected a whole number of 1 or more after #");
  }
  return number;
}

std::string text_of_step(const std::string& name, std::int64_t occurrence) {
  return occurrence == 1 ? name : name + "#" + std::to_string(occurrence);
}

Step step_of(const Node& node, std::string_view text, std::size_t inside, StepKind kind, Draft& draft) {
  const std::size_t hash = text.find('#');
  Step step{std::string(text.substr(0, hash)), std::nullopt};
  if (hash != std::string_view::npos) step.occurrence = occurrence_of(node, text.substr(hash + 1), inside + hash + 1);

  std::vector<std::string_view> valid{"read", "write"};
  if (contains(valid, step.name)) {
    draft.names.mention(Who::resource, step.name, node, inside);
    return step;
  }
  // A dead client's machine closes its connections, to servers of any kind.
  const bool is_fin = step.name == "FIN";
  if (kind == StepKind::scheduled && (is_fin || contains(draft.server_kind.other_messages(), step.name))) return step;
  if (kind != StepKind::message && kind != StepKind::scheduled) {
    valid.insert(valid.end(), {"acquire", "release", "leave", "renew"});
  }
  if (kind == StepKind::handled) {
    valid.insert(valid.end(), {"start", "work", "sleep", "tick", "timeout", "reset"});
    // What a server tells unasked.
    const std::vector<std::string_view> told = draft.server_kind.other_messages();
    valid.insert(valid.end(), told.begin(), told.end());
  }
  const std::vector<std::string_view> requests = draft.server_kind.requests();
  valid.insert(valid.end(), requests.begin(), requests.end());
  if (contains(valid, step.name)) return step;
  if (step.name == "acquire" || step.name == "release") {
    fail_inside(node, inside,
                in_quotes(step.name) + " is a step but no message; expected " +
                    std::string(draft.server_kind.request()) + ", read or write");
  }
  fail_inside(node, inside, in_quotes(step.name) + " is no step: " + suggestion(step.name, valid));
}

Step step_of_server(const Node& node, std::string_view text, bool is_sentinel, Draft& draft) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    std::vector<std::string_view> own = draft.server_kind.other_messages();
    own.insert(own.end(), {"start", "sleep", "tick", "timeout", "reset"});
    // Sentinels ask servers, and get answers.
    if (is_sentinel) {
      const std::vector<std::string_view> requests = draft.server_kind.requests();
      own.insert(own.end(), requests.begin(), requests.end());
    }
    if (contains(own, text.substr(0, text.find('#')))) return step_of(node, text, 0, StepKind::handled, draft);
    fail(node, in_quotes(text) +
                   " names no client; a server's steps are what it has carried out: expected CLIENT.COMMAND, "
                   "as in \"A.SET\" or \"A.SET#2\", or \"timeout\", \"sleep\" or \"tick\", when a time is up that "
                   "it has set itself");
  }
  Step step = step_of(node, text.substr(dot + 1), dot + 1, StepKind::scheduled, draft);
  const std::string sender(text.substr(0, dot));
  draft.names.mention(Who::process, sender, node, 0);
  if (step.name == "read" || step.name == "write") {
    fail_inside(node, dot + 1,
                in_quotes(step.name) + " goes to the resource, not to a server; expected " +
                    std::string(draft.server_kind.request()));
  }
  step.name = sender + "." + step.name;
  return step;
}

std::vector<std::vector<std::string>> sides_of(const Node& node, Draft& draft) {
  constexpr std::string_view what = "two arrays of names such as [[\"A\"], [\"redis\"]]";
  const Array& arrays = array_of(node, what);
  if (arrays.size() != 2) fail(node, "expected " + std::string(what) + ", not " + std::to_string(arrays.size()));
  std::vector<std::vector<std::string>> sides;
  std::set<std::string_view> seen;
  for (const Node& side : arrays) {
    array_of(side, what);
    std::vector<std::string>& names = sides.emplace_back();
    for (const Node* name : one_or_more(side, "a name such as \"A\"")) {
      const std::string& text = std::get<std::string>(name->value);
      if (!seen.insert(text).second)
        fail(*name, in_quotes(text) + " is in the partition twice; expected it on one side");
      names.push_back(text);
      draft.names.mention(Who::anyone, *name);
    }
  }
  return sides;
}

ClientSpec::Line command_of(const Node& node) {
  const std::string& line = text_of(node, "a Redis command such as \"DEL lock\"");
  auto parsed = redis::parse_command_line(line);
  if (const auto* error = std::get_if<redis::CommandLineError>(&parsed)) {
    fail_inside(node, error->column - 1, error->message);
  }
  redis::Command& command = std::get<redis::Command>(parsed);
  const std::size_t begin = line.find_first_not_of(" \t\n\r\v\f");
  const redis::CommandSpec* spec = command.spec();
  if (spec == nullptr || spec->handler == nullptr) {
    std::string name = command[0].text();
    if (spec != nullptr && command.size() > 1) name += " " + command[1].text();
    fail_inside(node, begin, "there is no command " + in_quotes(name) + ": " + suggestion(name, command_names()));
  }
  if (!spec->accepts(command.size())) {
    const auto words = static_cast<std::size_t>(1 + std::count(spec->name.begin(), spec->name.end(), ' '));
    const auto takes = static_cast<std::size_t>(spec->arity < 0 ? -spec->arity : spec->arity) - words;
    fail_inside(node, begin,
                std::string(spec->name) + " takes " + (spec->arity < 0 ? "at least " : "") + plural(takes, "argument") +
                    ", not " + std::to_string(command.size() - words));
  }
  return {std::move(command), node.at};
}

}  // namespace lockstep::scenarios::schema
