#include "scenarios/format/writer.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "models/locks/catalogue.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "scenarios/format/toml_text.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/schedules/schedule.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using toml_text::basic_string;

std::string value_of(Duration d) { return basic_string(sim::to_string(d)); }

std::string value_of(DurationRange range) {
  if (range.is_exact()) return value_of(range.lo);
  return "[" + value_of(range.lo) + ", " + value_of(range.hi) + "]";
}

std::string value_of(std::int64_t number) { return std::to_string(number); }
std::string value_of(bool flag) { return flag ? "true" : "false"; }
std::string value_of(models::Mode mode) { return mode == models::Mode::shared ? "\"read\"" : "\"write\""; }
std::string value_of(const std::string& text) { return basic_string(text); }

std::string array_of(const std::vector<std::string>& texts, std::size_t indent) {
  std::vector<std::string> elements;
  for (const std::string& text : texts) elements.push_back(basic_string(text));
  return toml_text::array(elements, indent);
}

std::vector<std::string> names_of(const std::vector<models::locks::Call>& calls) {
  std::vector<std::string> names;
  for (const models::locks::Call call : calls) {
    for (const auto& [name, known] : models::locks::call_names) {
      if (known == call) names.emplace_back(name);
    }
  }
  return names;
}

/// One name as a string, several as an array.
std::string names_of(const std::vector<std::string>& names, std::size_t indent) {
  return names.size() == 1 ? basic_string(names.front()) : array_of(names, indent);
}

std::string value_of(const ClockSpec& clock) {
  std::string inside;
  const auto add = [&](std::string_view key, const std::string& value) {
    inside += fmt::format("{}{} = {}", inside.empty() ? "" : ", ", key, value);
  };
  if (clock.offset != Duration::zero()) add("offset", value_of(clock.offset));
  if (clock.drift_ppm != 0) add("drift_ppm", value_of(clock.drift_ppm));
  if (clock.uptime != Duration::zero()) add("uptime", value_of(clock.uptime));
  return "{ " + inside + " }";
}

/// "SET#2"; the first is meant without a number.
std::string step_of(const std::string& step, std::int64_t occurrence) {
  return occurrence == 1 ? step : fmt::format("{}#{}", step, occurrence);
}

std::string_view name_of(sim::Activity activity) {
  switch (activity) {
    case sim::Activity::anything: return "anything";
    case sim::Activity::work: return "work";
    case sim::Activity::acquire: return "acquire";
    case sim::Activity::release: return "release";
    case sim::Activity::renewal: return "renewal";
  }
  return "?";
}

/// As redis-cli reads it.
std::string line_of(const models::redis::Command& command) {
  std::string line;
  for (const models::Value& value : command.values()) {
    const std::string text = value.text();
    const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\';
    });
    if (!line.empty()) line += ' ';
    if (is_plain) {
      line += text;
    } else {
      models::append_quoted(line, text);
    }
  }
  return line;
}

/// A literal string where that saves a backslash.
std::string literal(const std::string& line) {
  const bool wants = line.find_first_of("\"\\") != std::string::npos;
  return wants && line.find('\'') == std::string::npos ? "'" + line + "'" : basic_string(line);
}

std::string setting_value(const models::SettingValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<models::Settings>>) {
          return std::string();  // tables stand in no table
        } else {
          return value_of(v);
        }
      },
      value);
}

std::string table_of(const models::Settings& table, std::span<const models::SettingSpec> specs) {
  std::string inside;
  for (const models::SettingSpec& spec : specs) {
    const models::SettingValue* value = table.find(spec.name);
    inside += fmt::format("{}{} = {}", inside.empty() ? "" : ", ", spec.name,
                          setting_value(value != nullptr ? *value : spec.fallback));
  }
  return "{ " + inside + " }";
}

class Writer {
 public:
  Writer(const Scenario& scenario, const std::filesystem::path& folder) : scenario_(scenario), folder_(folder) {}

  std::string operator()() {
    top();
    lock();
    servers();
    sentinels();
    network();
    resource();
    market();
    clients();
    for (const FaultSpec& fault : scenario_.faults) write(fault);
    for (const MaySpec& may : scenario_.may) write(may);
    orders();
    properties();
    expectations("[expect.run]", scenario_.expect_run, std::nullopt);
    expectations("[expect.check]", scenario_.expect_check, scenario_.expect_traces);
    return std::move(out_);
  }

 private:
  void table(std::string_view heading) { out_ += fmt::format("\n{}\n", heading); }
  void key(std::string_view name, const std::string& value) { out_ += fmt::format("{} = {}\n", name, value); }
  template <class T>
  void unless_default(std::string_view name, const T& value, const T& standard) {
    if (value != standard) key(name, value_of(value));
  }
  template <class T>
  void if_set(std::string_view name, const std::optional<T>& value) {
    if (value) key(name, value_of(*value));
  }

  bool is_client(const std::string& name) const {
    const std::string process = name.substr(0, name.find('/'));
    return std::any_of(scenario_.clients.begin(), scenario_.clients.end(),
                       [&](const ClientSpec& client) { return client.name == process; });
  }

  void top() {
    const Text& title = scenario_.title;
    key("title ", title.zh.empty()
                      ? basic_string(title.en)
                      : fmt::format("{{ en = {}, zh = {} }}", basic_string(title.en), basic_string(title.zh)));
    if (!scenario_.source.empty()) key("source", basic_string(scenario_.source));
    if (!scenario_.reproduces.empty()) key("reproduces", array_of(scenario_.reproduces, 13));
    if (scenario_.cost == Cost::slow) key("cost", "\"slow\"");
    if (scenario_.cost == Cost::rare) key("cost", "\"rare\"");
    for (const auto& [heading, text] : {std::pair{"[story]", &scenario_.story}, {"[lesson]", &scenario_.lesson}}) {
      if (text->en.empty()) continue;
      table(heading);
      key("en", toml_text::paragraph(text->en));
      if (!text->zh.empty()) key("zh", toml_text::paragraph(text->zh));
    }
  }

  void lock() {
    table("[lock]");
    const OwnLock& own = scenario_.lock.own;
    if (own.entry != nullptr && own.entry->id == scenario_.lock.algorithm) {
      key("script", basic_string(script_from(own, folder_)));
    } else {
      key("algorithm", basic_string(scenario_.lock.algorithm));
    }
    unless_default("key", scenario_.lock.key, LockSpec{}.key);
    for (const auto& [name, value] : scenario_.lock.parameters) {
      key(name, toml_value(value));
    }
  }

  void servers() {
    const std::vector<ServerSpec>& servers = scenario_.servers;
    const auto default_name = [&](std::size_t i) { return models::server_name(*servers[i].kind, i, servers.size()); };
    bool all_alike = true;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      ServerSpec standard;
      standard.name = default_name(i);
      standard.kind = servers[i].kind;
      all_alike = all_alike && servers[i] == standard;
    }
    const bool is_counted = all_alike && servers.size() > 1;
    if (is_counted || !scenario_.shared_settings.is_empty()) {
      table("[servers]");
      if (is_counted) key("count", value_of(static_cast<std::int64_t>(servers.size())));
      settings_of(scenario_.shared_settings, servers.front().kind->shared_settings());
    }
    if (all_alike) return;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      table("[[server]]");
      unless_default("name", servers[i].name, default_name(i));
      unless_default("clock", servers[i].clock, ClockSpec{});
      if_set("latency", servers[i].latency);
      unless_default("restart_delay", servers[i].restart_delay, Duration::zero());
      settings_of(servers[i].settings, servers[i].kind->settings());
    }
  }

  void sentinels() {
    if (!scenario_.sentinels) return;
    const SentinelsSpec& sentinels = *scenario_.sentinels;
    const SentinelsSpec standard;
    const auto default_name = [](std::size_t i) { return fmt::format("sentinel{}", i + 1); };
    bool all_alike = true;
    for (std::size_t i = 0; i < sentinels.each.size(); ++i) {
      all_alike = all_alike && sentinels.each[i] == SentinelSpec{default_name(i), {}, {}};
    }
    table("[sentinels]");
    if (all_alike) key("count", value_of(static_cast<std::int64_t>(sentinels.each.size())));
    unless_default("primary", sentinels.primary, scenario_.servers.front().name);
    unless_default("quorum", sentinels.quorum, static_cast<std::int64_t>(sentinels.each.size() / 2 + 1));
    unless_default("down_after", sentinels.down_after, standard.down_after);
    unless_default("failover_timeout", sentinels.failover_timeout, standard.failover_timeout);
    unless_default("parallel_syncs", sentinels.parallel_syncs, standard.parallel_syncs);
    if_set("rounds", sentinels.rounds);
    for (std::size_t i = 0; i < sentinels.each.size() && !all_alike; ++i) {
      table("[[sentinel]]");
      unless_default("name", sentinels.each[i].name, default_name(i));
      unless_default("clock", sentinels.each[i].clock, ClockSpec{});
      if_set("latency", sentinels.each[i].latency);
    }
  }

  /// The kind is that of the algorithm, and need not be said.
  void settings_of(const models::Settings& settings, std::span<const models::SettingSpec> specs) {
    for (const models::SettingSpec& spec : specs) {
      const models::SettingValue* value = settings.find(spec.name);
      if (value == nullptr) continue;
      if (const auto* tables = std::get_if<std::vector<models::Settings>>(value)) {
        for (const models::Settings& table : *tables) key(spec.name, table_of(table, spec.inside));
      } else {
        key(spec.name, setting_value(*value));
      }
    }
  }

  void network() {
    const NetworkSpec standard;
    if (scenario_.network == standard) return;
    table("[network]");
    unless_default("latency", scenario_.network.latency, standard.latency);
    if_set("timeout", scenario_.network.timeout);
    if_set("replication", scenario_.network.replication);
  }

  void resource() {
    if (!scenario_.resource) return;
    table("[resource]");
    key("kind", scenario_.resource->kind == ResourceSpec::Kind::counter ? "\"counter\"" : "\"register\"");
    unless_default("fenced", scenario_.resource->fenced, false);
    if_set("latency", scenario_.resource->latency);
  }

  void market() {
    if (!scenario_.market) return;
    constexpr std::string_view kGuards[] = {"watch", "market-lock", "item-lock", "item-and-funds"};
    table("[market]");
    key("guard", basic_string(kGuards[static_cast<std::size_t>(scenario_.market->guard)]));
    unless_default("price", scenario_.market->price, MarketSpec{}.price);
    unless_default("funds", scenario_.market->funds, MarketSpec{}.funds);
  }

  /// Neighbours with the same settings share a table.
  void clients() {
    const std::vector<ClientSpec>& clients = scenario_.clients;
    for (std::size_t begin = 0, end = 0; begin < clients.size(); begin = end) {
      const ClientSpec& client = clients[begin];
      std::vector<std::string> names;
      for (end = begin; end < clients.size(); ++end) {
        ClientSpec same = clients[end];
        same.name = client.name;
        same.at = client.at;
        if (same.commands.size() == client.commands.size()) {
          for (std::size_t i = 0; i < same.commands.size(); ++i) same.commands[i].at = client.commands[i].at;
        }
        if (same != client) break;
        names.push_back(clients[end].name);
      }
      table("[[client]]");
      key("name", names_of(names, 7));
      settings(client);
    }
  }

  void settings(const ClientSpec& client) {
    const ClientSpec standard;
    unless_default("acquire_at", client.acquire_at, standard.acquire_at);
    unless_default("hold", client.hold, standard.hold);
    if (!client.locks.empty()) key("locks", array_of(client.locks, 8));
    unless_default("rounds", client.rounds, standard.rounds);
    unless_default("between", client.between, standard.between);
    if_set("attempts", client.attempts);
    if_set("retry", client.retry);
    unless_default("release", client.release, standard.release);
    unless_default("reenter", client.reenter, standard.reenter);
    unless_default("inner_hold", client.inner_hold, standard.inner_hold);
    unless_default("in_finally", client.in_finally, standard.in_finally);
    if (!client.finally.empty()) key("finally", array_of(names_of(client.finally), 10));
    if_set("mode", client.mode);
    if (!client.parameters.empty()) {
      std::string inside;
      for (const auto& [name, value] : client.parameters)
        inside += fmt::format("{}{} = {}", inside.empty() ? "" : ", ", name, toml_value(value));
      key("lock", "{ " + inside + " }");
    }
    if (!client.process_name.empty()) key("process_name", basic_string(client.process_name));
    unless_default("thread_id", client.thread_id, standard.thread_id);
    if (client.role != ClientSpec::Role::none)
      key("role", client.role == ClientSpec::Role::seller ? "\"seller\"" : "\"buyer\"");
    if (!client.account.empty()) key("account", basic_string(client.account));
    unless_default("clock", client.clock, standard.clock);
    if (client.via_sentinel) key("via", "\"sentinel\"");
    if (!client.threads.empty()) {
      std::vector<std::string> threads;
      for (const ClientSpec& thread : client.threads) threads.push_back(inline_settings(thread, client));
      key("threads", toml_text::array(threads, 10));
    }
    std::vector<std::string> lines;
    for (const ClientSpec::Line& line : client.commands) lines.push_back(literal(line_of(line.command)));
    if (!lines.empty()) key("commands", toml_text::array(lines, 11));
    if (!client.server.empty()) key("server", basic_string(client.server));
  }

  /// What a thread has otherwise than its client.
  static std::string inline_settings(const ClientSpec& thread, const ClientSpec& client) {
    std::string inside;
    const auto add = [&](std::string_view name, const auto& value, const auto& standard) {
      if (value != standard) inside += fmt::format("{}{} = {}", inside.empty() ? "" : ", ", name, value_of(value));
    };
    add("acquire_at", thread.acquire_at, DurationRange());
    add("hold", thread.hold, client.hold);
    add("rounds", thread.rounds, client.rounds);
    add("between", thread.between, client.between);
    if (thread.attempts) add("attempts", *thread.attempts, client.attempts.value_or(0));
    if (thread.retry && (!client.retry || *thread.retry != *client.retry)) {
      inside += fmt::format("{}retry = {}", inside.empty() ? "" : ", ", value_of(*thread.retry));
    }
    add("release", thread.release, client.release);
    add("reenter", thread.reenter, client.reenter);
    add("inner_hold", thread.inner_hold, client.inner_hold);
    add("in_finally", thread.in_finally, client.in_finally);
    if (!thread.finally.empty() && thread.finally != client.finally) {
      inside += fmt::format("{}finally = {}", inside.empty() ? "" : ", ", array_of(names_of(thread.finally), 0));
    }
    if (thread.mode && thread.mode != client.mode) {
      inside += fmt::format("{}mode = {}", inside.empty() ? "" : ", ", value_of(*thread.mode));
    }
    return inside.empty() ? "{}" : "{ " + inside + " }";
  }

  void write(const FaultSpec& fault) {
    table("[[fault]]");
    key("kind", basic_string(name_of(fault.kind)));
    if (cuts_off(fault.kind)) {
      key("between", fmt::format("[{}, {}]", array_of(fault.between[0], 0), array_of(fault.between[1], 0)));
      key("from", value_of(fault.trigger.time));
      key("length", value_of(fault.length));
      return;
    }
    key(is_client(fault.who) ? "client" : "server", basic_string(fault.who));
    const std::string step = basic_string(step_of(fault.trigger.step, fault.trigger.occurrence));
    if (strikes_message(fault.kind)) {
      key("message", step);
      if (fault.direction == FaultSpec::Direction::reply) key("direction", "\"reply\"");
    } else {
      switch (fault.trigger.kind) {
        case Trigger::Kind::at: key("at", value_of(fault.trigger.time)); break;
        case Trigger::Kind::before: key("before", step); break;
        case Trigger::Kind::sent: key("sent", step); break;
        case Trigger::Kind::after: key("after", step); break;
      }
    }
    if (lasts(fault.kind)) key("length", value_of(fault.length));
    if (moves_clock(fault.kind)) key("by", value_of(fault.by));
    if_set("restart_after", fault.restart_after);
    unless_default("keep", fault.keep, false);
  }

  void write(const MaySpec& may) {
    table("[[may]]");
    key("kind", basic_string(name_of(may.kind)));
    if (!may.who.empty()) key(is_client(may.who.front()) ? "client" : "server", names_of(may.who, 9));
    if (!may.between.empty())
      key("between", fmt::format("[{}, {}]", array_of(may.between[0], 0), array_of(may.between[1], 0)));
    if (lasts(may.kind)) key("length", value_of(may.length));
    if (may.during != sim::Activity::anything) key("during", basic_string(name_of(may.during)));
    if (!may.message.empty()) key("message", basic_string(may.message));
    if (may.direction) key("direction", *may.direction == FaultSpec::Direction::reply ? "\"reply\"" : "\"request\"");
    if (moves_clock(may.kind)) key("by", value_of(may.length));
    if_set("restart_after", may.restart_after);
    unless_default("keep", may.keep, false);
    unless_default("times", may.times, MaySpec{}.times);
  }

  void properties() {
    const bool has_any = scenario_.recover_within || scenario_.fair_overtakings || scenario_.deadlock_lasting ||
                         scenario_.wake_within || scenario_.progress_within;
    if (!has_any) return;
    table("[properties]");
    if (scenario_.fair_overtakings) key("fair", fmt::format("{{ overtakings = {} }}", *scenario_.fair_overtakings));
    if (scenario_.recover_within) key("recoverable", "{ within = " + value_of(*scenario_.recover_within) + " }");
    if (scenario_.deadlock_lasting) key("no-deadlock", "{ lasting = " + value_of(*scenario_.deadlock_lasting) + " }");
    if (scenario_.wake_within) key("no-lost-wakeup", "{ within = " + value_of(*scenario_.wake_within) + " }");
    if (scenario_.progress_within) key("progress", "{ within = " + value_of(*scenario_.progress_within) + " }");
  }

  void orders() {
    std::vector<std::string> order;
    for (const PinEntry& entry : scenario_.pin) {
      std::string text = entry.client + "." + entry.command;
      if (entry.occurrence) text += fmt::format("#{}", *entry.occurrence);
      if (!entry.server.empty()) text += "@" + entry.server;
      order.push_back(basic_string(text));
    }
    if (!order.empty()) {
      table("[pin]");
      key("order", toml_text::array(order, 8));
    }
    if (scenario_.schedule.empty()) return;
    // A time line is read downwards.
    table("[schedule]");
    out_ += "events = [\n";
    for (const ScheduleEntry& entry : scenario_.schedule) out_ += "  " + basic_string(to_string(entry)) + ",\n";
    out_ += "]\n";
  }

  void expectations(std::string_view heading, const std::vector<Expectation>& list,
                    std::optional<std::int64_t> traces) {
    if (list.empty() && !traces) return;
    table(heading);
    for (const Expectation& expectation : list) key(expectation.property, value_of_expectation(expectation));
    if_set("traces", traces);
  }

  static std::string value_of_expectation(const Expectation& expectation) {
    if (expectation.violated_by.empty() && !expectation.at && expectation.from.empty() && expectation.up_to.empty() &&
        expectation.frontier.empty()) {
      return basic_string(checker::to_string(expectation.verdict));
    }
    std::string inside =
        expectation.violated_by.empty() ? "violated = true" : "violated_by = " + names_of(expectation.violated_by, 0);
    if (expectation.at) inside += ", at = " + value_of(*expectation.at);
    for (const auto& [key, values] : {std::pair("from", &expectation.from), std::pair("up_to", &expectation.up_to)}) {
      if (values->empty()) continue;
      std::string thresholds;
      for (const auto& [parameter, value] : *values)
        thresholds += fmt::format("{}{} = {}", thresholds.empty() ? "" : ", ", parameter, basic_string(value));
      inside += fmt::format(", {} = {{ {} }}", key, thresholds);
    }
    if (!expectation.frontier.empty()) inside += ", frontier = " + basic_string(expectation.frontier);
    return "{ " + inside + " }";
  }

  const Scenario& scenario_;
  std::filesystem::path folder_;
  std::string out_;
};

}  // namespace

std::string identity_of(const Scenario& scenario) {
  const OwnLock& own = scenario.lock.own;
  if (own.entry == nullptr) return to_toml(scenario);
  Scenario story = scenario;
  story.lock.own.path = std::filesystem::path(own.path).filename().string();
  return to_toml(story) + own.text;
}

std::string to_toml(const Scenario& scenario, const std::filesystem::path& folder) {
  return Writer(scenario, folder)();
}

std::string to_string(const ScheduleEntry& entry) {
  const bool is_never = entry.time == sim::ScheduledEvent::never;
  std::string text = (is_never ? "never" : sim::to_string(entry.time)) + " " + entry.process;
  if (!sim::EventName::is_of_request(entry.what)) {
    return text + " " + step_of(std::string(sim::to_string(entry.what)), entry.occurrence);
  }
  text += fmt::format(".{}#{}", entry.step, entry.occurrence);
  if (!entry.server.empty()) text += "@" + entry.server;
  if (entry.what != sim::EventName::What::request) text += " " + std::string(sim::to_string(entry.what));
  return text;
}

Scenario without_positions(Scenario scenario) {
  scenario.lock.algorithm_at = {};
  scenario.sentinels_at = scenario.quorum_at = {};
  for (ClientSpec& client : scenario.clients) {
    client.at = {};
    for (ClientSpec& thread : client.threads) thread.at = {};
    for (ClientSpec::Line& line : client.commands) line.at = {};
  }
  for (FaultSpec& fault : scenario.faults) fault.at = {};
  for (MaySpec& may : scenario.may) may.at = {};
  for (PinEntry& entry : scenario.pin) entry.at = {};
  for (ScheduleEntry& entry : scenario.schedule) entry.at = {};
  for (std::vector<Expectation>* list : {&scenario.expect_run, &scenario.expect_check}) {
    for (Expectation& expectation : *list) expectation.position = {};
  }
  return scenario;
}

std::string toml_value(const models::locks::ParameterValue& value) {
  return std::visit([](const auto& v) { return value_of(v); }, value);
}

}  // namespace lockstep::scenarios
