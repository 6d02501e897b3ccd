#include "scenarios/exploring/oracles/hunted_lock.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "models/servers/server_kind.hpp"
#include "scenarios/exploring/oracles/hunted_story.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Random;

template <std::size_t n>
std::string_view one_of(Random& random, const std::array<std::string_view, n>& all) {
  return all[random.below(n)];
}

/// A script's text, put together by draws. What is in capitals of `Redis` commands stands for itself; `$K` is the place
/// of the lock, `$L` its lease, `$T` the token.
class LockText {
 public:
  explicit LockText(std::uint64_t seed) : random_(sim::combine64(0x6c6f636b, seed)) {}

  std::string operator()() {
    place_ =
        one_of(random_, std::array<std::string_view, 4>{"c.key", "c.key", "\"app:\" .. c.key", "c.key .. \":of\""});
    is_renewed_ = random_.one_in(4);
    const std::string acquire = this->acquire();
    const std::string release = this->release();
    std::string text = fmt::format(
        "parameters = {{ lease = {{ default = \"20ms\", role = \"{}\" }} }}\n"
        "claims = {{ \"mutual-exclusion\", \"own-release\", \"recoverable\" }}\n{}{}",
        is_renewed_ ? "renewed_lease" : "lease", is_renewed_ ? "background = true\n" : "",
        waits_ ? "subscribes = true\n" : "");
    text += scripts_;
    text += "function acquire(c)\n  local token = c:token()\n  local ends\n" + acquire + "  return nil\nend\n";
    text += "function release(c, hold)\n" + release + "end\n";
    for (const auto& [name, meaning] :
         {std::pair<std::string_view, std::string_view>{"$K", place_}, {"$L", "c.parameters.lease"}, {"$T", "token"}}) {
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + meaning.size()))
        text.replace(at, name.size(), meaning);
    }
    return text;
  }

 private:
  /// What follows where the lock has been taken.
  std::string taken(std::string_view indent) {
    std::string text;
    const auto line = [&](std::string_view what) { text += fmt::format("{}{}\n", indent, what); };
    if (random_.one_in(10)) line("c:sleep({ 0, 2 })");
    if (is_renewed_) {
      line("local hold = c:hold({ token = $T, renewed = true })");
      line("hold.watch = c:every($L / 3, function(w)");
      line(random_.one_in(2) ? "  return w.redis:pexpire($K, $L) == 1"
                             : "  if w.redis:get($K) ~= $T then return false end return w.redis:pexpire($K, $L) == 1");
      line("end)");
      line("return hold");
      return text;
    }
    switch (random_.below(5)) {
      case 0:
        line(fmt::format("return {{ token = $T, ends = ends, valid_until = before + $L - {} }}", random_.below(4)));
        break;
      case 1: line("return { token = $T, ends = ends, valid_until = c:monotonic() + $L, monotonic = true }"); break;
      case 2: line("return { token = $T, ends = ends, lease_until = ends }"); break;
      default: line("return { token = $T, ends = ends }"); break;
    }
    return text;
  }

  std::string acquire() {
    std::string text = random_.one_in(2) ? "  local before = c:now()\n" : "  local before = c:now() + 1\n";
    const auto once = [&](std::string_view condition) {
      text += fmt::format("  if {} then\n{}  end\n", condition, taken("    "));
    };
    switch (random_.below(9)) {
      case 0:
      case 1: once("c.redis:set($K, $T, { nx = true, px = $L }) == \"OK\""); break;
      case 2:
        text += "  if c.redis:setnx($K, $T) == 1 then\n";
        text += random_.one_in(2) ? "    c.redis:pexpire($K, $L)\n"
                                  : "    if c.redis:pexpire($K, $L) ~= 1 then return nil end\n";
        text += taken("    ") + "  end\n";
        break;
      case 3: once("c.redis:get($K) == nil and c.redis:set($K, $T, { px = $L }) == \"OK\""); break;
      case 4: take_by_time(text); break;
      case 5: take_by_clock(text); break;
      case 6: wait_in_between(text); break;
      case 7: wait_for_message(text); break;
      default: take_if_short(text); break;
    }
    return text;
  }

  /// A script at the server keeps the end of the lease, in whole units of its clock.
  void take_by_time(std::string& text) {
    constexpr std::array<std::string_view, 3> nows{"t[1] * 1000 + math.floor(t[2] / 1000)", "t[1] * 1000 + t[2] / 1000",
                                                   "t[1] * 1000000 + t[2]"};
    const std::size_t which = random_.below(nows.size());
    scripts_ += fmt::format(
        "local take = [[\nlocal t = redis.call('TIME')\nlocal now = {}\nlocal ends = redis.call('GET', KEYS[1])\n"
        "if ends and tonumber(ends) {} now then return 0 end\nredis.call('SET', KEYS[1], now + tonumber(ARGV[1]){})\n"
        "return 1\n]]\n",
        nows[which], one_of(random_, std::array<std::string_view, 2>{">", ">="}), which == 2 ? " * 1000" : "");
    text += fmt::format("  if c.redis:eval(take, {{ $K }}, {{ $L }}) == 1 then\n{}  end\n", taken("    "));
  }

  /// The client's clock says when it is over, and others take it over then.
  void take_by_clock(std::string& text) {
    text += "  ends = c:now() + $L\n";
    text += fmt::format("  if c.redis:setnx($K, ends) == 1 then\n{}  end\n", taken("    "));
    text += "  local other = c.redis:get($K)\n";
    text += fmt::format("  if other ~= nil and other ~= unknown and tonumber(other) {} c:now() then\n",
                        one_of(random_, std::array<std::string_view, 2>{"<", "<="}));
    text += "    ends = c:now() + $L\n";
    switch (random_.below(3)) {
      case 0: text += "    if c.redis:getset($K, ends) == other then\n"; break;
      case 1: text += "    c.redis:del($K)\n    if c.redis:setnx($K, ends) == 1 then\n"; break;
      default: text += "    if c.redis:set($K, ends) == \"OK\" then\n"; break;
    }
    text += taken("      ") + "    end\n  end\n";
  }

  /// It tries again itself.
  void wait_in_between(std::string& text) {
    text += fmt::format(
        "  for i = 1, 2 do\n    if c.redis:set($K, $T, {{ nx = true, px = $L }}) == \"OK\" then\n{}    end\n",
        taken("      "));
    text += random_.one_in(2) ? "    c:sleep({ 3, 9 })\n  end\n" : "    c:sleep($L)\n  end\n";
  }

  /// As Redisson does: a message, or the end of the lease.
  void wait_for_message(std::string& text) {
    waits_ = true;
    scripts_ +=
        "local take = [[\nif redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) then return false end\n"
        "return redis.call('PTTL', KEYS[1])\n]]\n";
    text += "  local patience = c:patience(30)\n";
    text += fmt::format("  local left = c.redis:eval(take, {{ $K }}, {{ $L, $T }})\n  if left == nil then\n{}  end\n",
                        taken("    "));
    text += "  local channel = c:subscribe(\"freed\", { patience = patience })\n  if not channel then return nil end\n";
    if (random_.one_in(2)) text += "  left = c.redis:eval(take, { $K }, { $L, $T })\n";
    if (random_.one_in(3)) text += "  c:sleep(2)\n";
    text +=
        "  if type(left) == \"number\" and left >= 0 then channel:wait({ patience = patience, lease = left }) end\n";
    text +=
        "  if left ~= nil and left ~= unknown then left = c.redis:eval(take, { $K }, { $L, $T }) end\n  "
        "channel:leave()\n";
    text += fmt::format("  if left == nil then\n{}  end\n", taken("    "));
  }

  /// Who finds little left of another's lease takes the lock.
  void take_if_short(std::string& text) {
    scripts_ += fmt::format(
        "local take = [[\nlocal left = redis.call('PTTL', KEYS[1])\nif left {} {} then return 0 end\n"
        "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])\nreturn 1\n]]\n",
        one_of(random_, std::array<std::string_view, 2>{">", ">="}), random_.below(4));
    text += fmt::format("  if c.redis:eval(take, {{ $K }}, {{ $L, $T }}) == 1 then\n{}  end\n", taken("    "));
  }

  std::string release() {
    std::string text;
    if (is_renewed_) text += "  hold.watch:stop()\n";
    if (random_.one_in(10)) text += "  c:sleep(2)\n";
    const std::string freed = waits_ ? "  c.redis:publish(\"freed\", \"\")\n" : "";
    switch (random_.below(6)) {
      case 0: return text + "  local freed = c.redis:del($K)\n" + freed + "  return freed == 1\n";
      case 1:
        return text + "  if c.redis:get($K) ~= hold.token then return false end\n  local freed = c.redis:del($K)\n" +
               freed + "  return freed == 1\n";
      case 2:
        return text + "  if hold.ends == nil or c:now() < hold.ends then c.redis:del($K) end\n" + freed +
               "  return false\n";
      case 3: return text + "  return false\n";
      default:
        scripts_ +=
            "local give = [[\nif redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end\n"
            "return 0\n]]\n";
        return text + "  local freed = c.redis:eval(give, { $K }, { hold.token })\n" + freed + "  return freed == 1\n";
    }
  }

  Random random_;
  std::string_view place_;
  std::string scripts_;
  bool is_renewed_ = false;
  bool waits_ = false;
};

/// The same faults with a server of another kind, which has another name.
void rename_server(Scenario& scenario, const std::string& name) {
  for (ServerSpec& server : scenario.servers) {
    for (MaySpec& may : scenario.may) std::replace(may.who.begin(), may.who.end(), server.name, name);
    server.name = name;
  }
}

void choose_service(Random& random, const models::locks::Catalogue& catalogue, Scenario& scenario) {
  constexpr std::array<std::string_view, 10> kLocks{
      "etcd-mutex",  "zk-ephemeral-create", "zk-sequential", "kazoo-lock",     "curator-mutex",
      "consul-lock", "sql-unique-insert",   "sql-lease-row", "sql-for-update", "sql-advisory"};
  scenario.lock.algorithm = one_of(random, kLocks);
  scenario.lock.parameters.clear();
  const models::locks::Entry& entry = *find_entry(scenario.lock, catalogue);
  const Duration lease = sim::random_ms(random, 6, 30);
  set_lease_and_patience(entry, lease, lease * 2, scenario.lock);
  // Who sends commands sends them to a Redis.
  std::erase_if(scenario.clients, [](const ClientSpec& client) { return !client.commands.empty(); });
  std::erase_if(scenario.may, [](const MaySpec& may) { return !may.who.empty() && may.who.front() == "op"; });
  rename_server(scenario, std::string(models::locks::server_kind_of(entry).name()));
}

}  // namespace

std::string hunted_lock(std::uint64_t seed) { return LockText(seed)(); }

Scenario hunted_lock_story(std::uint64_t seed, const models::locks::Catalogue& catalogue,
                           const std::filesystem::path& folder) {
  Random random(sim::combine64(0x6f776e, seed));
  Scenario scenario = hunted_story(seed);
  while (scenario.servers.size() > 1) scenario.servers.pop_back();
  rename_server(scenario, "redis");
  for (MaySpec& may : scenario.may) {
    // Of several servers of the story one is left.
    if (!may.who.empty() && may.who.front().starts_with("redis")) may.who = {"redis"};
  }
  if (random.one_in(3)) {
    const Scenario more = hunted_story(seed + 1);
    if (!more.may.empty() && more.may.front().who.empty()) scenario.may.push_back(more.may.front());
    if (!scenario.network.timeout) scenario.network.timeout = more.network.timeout.value_or(Duration::milliseconds(5));
  }
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "mine.lua";
  if (random.one_in(3)) {
    choose_service(random, catalogue, scenario);
  } else {
    std::ofstream(file) << hunted_lock(seed);
    auto own = read_own_lock(file);
    if (const auto* problem = std::get_if<std::string>(&own)) throw std::runtime_error(*problem);
    scenario.lock = LockSpec{};
    scenario.lock.own = std::get<OwnLock>(std::move(own));
    scenario.lock.algorithm = scenario.lock.own.entry->id;
    scenario.lock.parameters.emplace("lease", sim::random_ms(random, 6, 24));
  }
  if (find_entry(scenario.lock, catalogue)->has_background) {
    for (MaySpec& may : scenario.may) may.during = sim::Activity::anything;
  }
  scenario.id = "hunted-lock-" + std::to_string(seed);
  auto read = parse(to_toml(scenario, folder), (folder / (scenario.id + ".toml")).string(), catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&read)) throw std::runtime_error(problem->to_string());
  return std::get<Scenario>(std::move(read));
}

}  // namespace lockstep::scenarios
