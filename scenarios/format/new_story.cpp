#include "scenarios/format/new_story.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "scenarios/format/toml/toml_text.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {
namespace {

using models::locks::Entry;
using models::locks::ParameterSpec;

using models::locks::ParameterRole;

/// What makes a story of this lock one that `check` explores in seconds: short waits, and where servers keep sessions,
/// or there are several of them, a second client that comes at one moment.
struct Shape {
  bool has_sessions = false;
  bool renews_at_many = false;  ///< a lease that is renewed at several servers: then an explicit one
  bool is_large = false;        ///< sessions, or renewals at several servers
  bool pauses_at_work = false;  ///< several servers, and nothing else goes on in a process
};

Shape shape_of(const Entry& entry) {
  Shape shape;
  shape.has_sessions = !server_kind_of(entry).is_redis() && entry.has_background;
  shape.renews_at_many = entry.has_background && usual_servers(entry) > 1;
  shape.is_large = shape.has_sessions || shape.renews_at_many;
  shape.pauses_at_work = entry.many_nodes && !entry.has_background;
  return shape;
}

/// Short enough for a timeline that fits on a screen; a session's is longer if it is renewed every half of it, or if an
/// attempt is so long that it meets several renewals: their orders would be most of what `check` explores.
std::string_view short_lease(const Entry& entry, const ParameterSpec& lease) {
  const bool meets_renewals = lease.role == ParameterRole::session_ttl || entry.round_trips > 4;
  return meets_renewals ? "\"400ms\"" : "\"100ms\"";
}

/// The value that the story has of a parameter, as TOML; empty: the algorithm's own.
std::string short_value(const Entry& entry, const ParameterSpec& spec) {
  const Shape shape = shape_of(entry);
  const ParameterSpec* lease = models::locks::find_lease(entry.parameters);
  const ParameterSpec* explicit_lease = models::locks::find(entry.parameters, ParameterRole::lease);
  if (shape.renews_at_many && explicit_lease != nullptr) lease = explicit_lease;
  if (&spec == lease) return std::string(short_lease(entry, spec));
  const bool is_length = std::holds_alternative<sim::Duration>(spec.fallback);
  if (spec.name == "wait" && is_length && shape.is_large) return "\"100ms\"";
  if (spec.name == "acquire_timeout" && is_length) return "\"60ms\"";
  if (spec.name == "poll") return "\"20ms\"";
  return "";
}

std::string lock_table(const Entry& entry) {
  std::string text = fmt::format(
      "[lock]\n"
      "{}\n",
      entry.script.empty() ? fmt::format("algorithm = {}  # lockstep list algorithms shows all of them",
                                         toml_text::basic_string(entry.id))
                           : fmt::format("script = {}  # docs/your-own-lock.md says what a script can do",
                                         toml_text::basic_string(entry.id)));
  for (const ParameterSpec& spec : entry.parameters) {
    const std::string value = short_value(entry, spec);
    text += !value.empty() ? fmt::format("{} = {}", spec.name, value)
                           : fmt::format("# {} = {}", spec.name, toml_value(spec.fallback));
    text += fmt::format("  # {}; {}\n", models::locks::kind_of(spec), spec.meaning);
  }
  return text;
}

}  // namespace

std::string new_story(const Entry& entry, std::string_view title, std::string_view file) {
  std::string text = fmt::format(
      "# A story for Lockstep: who uses which lock, and what happens to them.\n"
      "#\n"
      "#   lockstep run   {0}   plays it once, in virtual time, and shows what happened\n"
      "#   lockstep check {0}   plays it in every order and with every delay: what breaks, and from which margin on\n"
      "#\n"
      "# A length of time is \"5ms\" or \"1s\"; [\"1ms\", \"5ms\"] is any between the two. "
      "docs/manual/scenario-format.md has all keys.\n"
      "\n"
      "title = {1}\n"
      "# story = \"What happens, for readers.\"\n"
      "# lesson = \"What to take from it.\"\n"
      "\n",
      file, toml_text::basic_string(title));
  text += lock_table(entry);
  if (entry.many_nodes) text += "\n# Each on its own: the lock needs a majority of them.\n[servers]\ncount = 3\n";
  const std::size_t servers = usual_servers(entry);
  if (!entry.many_nodes && servers > 1) text += fmt::format("\n[servers]\ncount = {}\n", servers);
  const Shape shape = shape_of(entry);
  text += fmt::format(
      "\n"
      "[network]\n"
      "latency = \"1ms\"    # one way\n"
      "timeout = \"50ms\"   # how long a client waits for an answer\n"
      "\n"
      "[[client]]\n"
      "name = \"A\"\n"
      "hold = \"30ms\"      # how long it works with the lock\n"
      "\n"
      "[[client]]\n"
      "name = \"B\"\n"
      "acquire_at = {}\n"
      "hold = \"30ms\"\n"
      "# attempts = 10    # where the algorithm tries more than once\n"
      "\n"
      "# What might happen: for check, which finds out how long it takes to break something.\n"
      "# Others: crash (of a client or a server), lose and delay (a message), partition, jump (of a clock), skew.\n"
      "[[may]]\n"
      "kind = \"pause\"      # a garbage collection, a page fault, a virtual machine that is moved\n"
      "client = \"A\"\n"
      "{}"
      "length = [\"0ms\", \"{}\"]\n",
      shape.is_large ? "\"10ms\"  # [\"0ms\", \"200ms\"] is any moment of these; then check takes longer"
                     : "[\"0ms\", \"200ms\"]  # run takes the first, check all of them",
      shape.pauses_at_work ? "during = \"work\"   # without it anywhere; then check takes longer\n" : "",
      shape.has_sessions ? "2s" : "500ms");
  text +=
      "\n"
      "# What does happen, in run. Take the # away, let B come at \"110ms\", and look at the timeline.\n"
      "# [[fault]]\n"
      "# kind = \"pause\"\n"
      "# client = \"A\"\n"
      "# after = \"acquire\"\n"
      "# length = \"150ms\"\n"
      "\n"
      "# What you expect. Without it, what the algorithm claims; lockstep list properties shows what can be asked.\n"
      "# [expect.run]\n"
      "# mutual-exclusion = \"holds\"\n"
      "# [expect.check]\n"
      "# mutual-exclusion = \"violated\"\n";
  return text;
}

namespace {

std::string range_as_toml(sim::DurationRange range) {
  if (range.is_exact()) return fmt::format("\"{}\"", sim::to_string(range.lo));
  return fmt::format("[\"{}\", \"{}\"]", sim::to_string(range.lo), sim::to_string(range.hi));
}

/// Its lease as the story has it, which may be the algorithm's own; nothing: it has none.
std::optional<sim::Duration> lease_in(const Entry& entry, const KnownDeployment& known) {
  models::locks::Parameters parameters(entry.parameters);
  for (const auto& [name, value] : known.parameters) parameters.set(name, value);
  return models::locks::lease_of(parameters);
}

std::string lock_of_deployment(const Entry& entry, const KnownDeployment& known) {
  std::string text = fmt::format("[lock]\nalgorithm = {}  # lockstep list algorithms {} says what it is and promises\n",
                                 toml_text::basic_string(entry.id), entry.id);
  for (const ParameterSpec& spec : entry.parameters) {
    const auto set = std::find_if(known.parameters.begin(), known.parameters.end(),
                                  [&](const auto& parameter) { return parameter.first == spec.name; });
    const bool is_told = set != known.parameters.end();
    text += fmt::format("{}{} = {}  # {}\n", is_told ? "" : "# ", spec.name,
                        is_told ? toml_value(set->second) : toml_value(spec.fallback), spec.meaning);
  }
  return text;
}

}  // namespace

std::string new_story(const Entry& entry, std::string_view title, std::string_view file, const KnownDeployment& known) {
  std::string text = fmt::format(
      "# Our deployment, for Lockstep. `lockstep check {0}` says whether the lock holds in it, and what the lengths\n"
      "# below must be so that it does. A length is \"5ms\" or \"1s\"; [\"1ms\", \"5ms\"] is any between the two.\n"
      "\n"
      "title = {1}\n"
      "\n",
      file, toml_text::basic_string(title));
  text += lock_of_deployment(entry, known);
  const std::size_t servers = usual_servers(entry);
  if (known.failover) {
    text +=
        "\n"
        "# A primary whose replica lags. When it is dead, sentinels promote the replica, and all clients follow.\n"
        "[servers]\n"
        "replicas = 1\n"
        "failover = \"sentinel\"\n"
        "\n"
        "[sentinels]\n"
        "down_after = \"5s\"    # down-after-milliseconds of sentinel.conf\n";
  } else if (entry.many_nodes || servers > 1) {
    text += fmt::format("\n[servers]\ncount = {}  # each on its own\n", entry.many_nodes ? 3 : servers);
  }
  text += fmt::format(
      "\n"
      "[network]\n"
      "latency = [\"1ms\", \"5ms\"]  # one way, between a client and the server\n"
      "timeout = \"3s\"             # how long the library waits for an answer\n"
      "{}",
      known.failover ? "replication = [\"1ms\", \"1s\"]  # how far the replica lags\n" : "");
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < known.clients; ++i)
    names.push_back(fmt::format("\"{}\"", client_name(static_cast<std::size_t>(i))));
  // The others come at any time while the first can have the lock, and a little later.
  const sim::Duration longest = std::max(known.work.hi, lease_in(entry, known).value_or(known.work.hi));
  text += fmt::format(
      "\n"
      "# The instances of the service that compete for the lock.\n"
      "[[client]]\n"
      "name = [{}]\n"
      "acquire_at = [\"0s\", \"{}\"]  # when each first asks for the lock\n"
      "hold = {}              # how long a job works with it\n",
      fmt::join(names, ", "), sim::to_string(longest), range_as_toml(known.work));
  if (known.pause) {
    text += fmt::format(
        "\n"
        "# A garbage collection, a page fault, a virtual machine that is moved: one, of any instance, at any moment.\n"
        "[[may]]\n"
        "kind = \"pause\"\n"
        "length = [\"0s\", \"{}\"]\n",
        sim::to_string(*known.pause));
  }
  if (known.failover) {
    text +=
        "\n"
        "# The primary dies, with what it has not sent to its replica.\n"
        "[[may]]\n"
        "kind = \"failover\"\n";
  }
  return text;
}

namespace {

/// "5s", or "5" with a unit that stands behind all of them: "SECONDS", "TimeUnit.MILLISECONDS".
std::optional<sim::Duration> length_in_code(std::string_view text, std::string_view unit) {
  if (unit.empty()) return sim::parse_duration(text);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUnits{
      {{"MILLISECONDS", "ms"}, {"SECONDS", "s"}, {"MINUTES", "m"}, {"HOURS", "h"}}};
  const std::size_t dot = unit.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? unit : unit.substr(dot + 1);
  for (const auto& [known, suffix] : kUnits) {
    if (known != name) continue;
    if (text == "-1") return sim::Duration::nanoseconds(-1);
    const bool is_number =
        !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_number || text.size() > 9) return std::nullopt;
    const std::int64_t count = std::stoll(std::string(text));
    if (suffix == "m") return sim::Duration::seconds(60) * count;
    if (suffix == "h") return sim::Duration::seconds(3600) * count;
    return (suffix == "s" ? sim::Duration::seconds(1) : sim::Duration::milliseconds(1)) * count;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && (std::isspace(static_cast<unsigned char>(text.back())) != 0 || text.back() == ';'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

std::variant<RedissonCall, std::string> redisson_call(std::string_view code) {
  const std::string wrong = "a call such as tryLock(5s, 10s), tryLock(5, 10, TimeUnit.SECONDS), lock(10s) or lock()";
  std::string_view call = trimmed(code);
  const std::size_t open = call.find('(');
  if (open == std::string_view::npos || !call.ends_with(')')) return wrong;
  std::string_view name = trimmed(call.substr(0, open));
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(dot + 1);
  std::vector<std::string_view> arguments;
  std::string_view rest = call.substr(open + 1, call.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const std::size_t comma = rest.find(',');
    arguments.push_back(trimmed(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  std::string_view unit;
  const bool has_unit = !arguments.empty() && !arguments.back().empty() && arguments.back().ends_with('S');
  if (has_unit) {
    unit = arguments.back();
    arguments.pop_back();
  }
  std::vector<sim::Duration> lengths;
  for (const std::string_view argument : arguments) {
    const std::optional<sim::Duration> length = length_in_code(argument, unit);
    // Without a unit behind it a number is no length, and a name is none.
    if (!length) return wrong;
    lengths.push_back(*length);
  }
  const sim::Duration zero = sim::Duration::zero();
  RedissonCall found;
  const auto add = [&](const char* parameter, sim::Duration value) {
    // A lease of -1 is none: the watchdog renews it.
    if (value >= zero) found.parameters.emplace_back(parameter, value);
  };
  if (name == "lock" && lengths.size() <= 1) {
    constexpr sim::Duration kForEver = sim::Duration::seconds(3600) * (24 * 3650);
    add("wait", kForEver);
    if (lengths.size() == 1) add("lease", lengths[0]);
    return found;
  }
  if (name == "tryLock" && lengths.size() <= 2) {
    add("wait", lengths.empty() ? zero : lengths[0]);
    if (lengths.size() == 2) add("lease", lengths[1]);
    return found;
  }
  return wrong;
}

std::string new_lock() {
  return R"(-- A lock of your own, for Lockstep: docs/your-own-lock.md says what a script can do.
-- One attempt to get the lock is `acquire`; waiting and trying again is the story's business (attempts, retry).

summary = "SET NX PX, release by a script that compares and deletes"

-- What it promises: each is judged. `lockstep list properties` shows all of them.
claims = { "mutual-exclusion", "own-release", "recoverable" }

-- Keys of [lock] in a story, with their defaults; c.parameters.ttl is a number of milliseconds.
parameters = {
  ttl = { default = "30s", role = "lease", meaning = "time to live of the key" },
}

-- What it does with the names of clients is to ask whether two are the same: then `check` need not tell them apart.
blind_to_names = true

local delete_if_mine = [[
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
]]

-- Every command is a place where others may come in between. Its reply is a number, a text, a table or nil; a reply that
-- never came is `unknown`: the command may have been carried out or not.
function acquire(c)
  local token = c:token()
  if c.redis:set(c.key, token, { nx = true, px = c.parameters.ttl }) == "OK" then
    return { token = token }
  end
  return nil
end

-- True: "I was the owner and released it". That is judged, too.
function release(c, hold)
  return c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1
end
)";
}

}  // namespace lockstep::scenarios
