#include "reports/play/form.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "scenarios/format/toml/toml_text.hpp"

namespace lockstep::reports::play {
namespace {

using models::locks::ParameterSpec;
using models::locks::ParameterValue;
using scenarios::ClientSpec;
using scenarios::FaultSpec;
using scenarios::MaySpec;
using scenarios::Scenario;
using sim::DurationRange;

std::string shown(const ParameterValue& value) {
  if (const auto* duration = std::get_if<sim::Duration>(&value)) return sim::to_string(*duration);
  if (const auto* range = std::get_if<DurationRange>(&value)) return sim::to_string(*range);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

Field::Kind field_kind_of(const ParameterSpec& spec) {
  constexpr std::array kKinds = {Field::Kind::duration, Field::Kind::range, Field::Kind::number, Field::Kind::flag,
                                 Field::Kind::choice};
  return kKinds[spec.fallback.index()];
}

void add_lock(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::vector<Field>& fields) {
  const models::locks::Entry* entry = entry_of(scenario, catalogue);
  if (entry == nullptr) return;
  for (const ParameterSpec& spec : entry->parameters) {
    Field& field = fields.emplace_back();
    field.id = fmt::format("lock.{}", spec.name);
    field.label = {fmt::format("[lock] {}", spec.name), ""};
    field.kind = field_kind_of(spec);
    field.fallback = shown(spec.fallback);
    for (const std::string_view choice : spec.choices) field.choices.emplace_back(choice);
    const auto set = scenario.lock.parameters.find(spec.name);
    if (set != scenario.lock.parameters.end()) field.value = shown(set->second);
  }
}

void add_network(const Scenario& scenario, std::vector<Field>& fields) {
  fields.push_back({.id = "network.latency",
                    .label = {"network: latency", "网络：延迟"},
                    .value = sim::to_string(scenario.network.latency),
                    .kind = Field::Kind::range});
  const auto& timeout = scenario.network.timeout;
  fields.push_back({.id = "network.timeout",
                    .label = {"network: timeout", "网络：超时"},
                    .value = timeout ? sim::to_string(*timeout) : "",
                    .fallback = "∞"});
}

void add_clients(const Scenario& scenario, std::vector<Field>& fields) {
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const ClientSpec& client = scenario.clients[i];
    const bool shares_table = i > 0 && share_table(scenario.clients[i - 1], client);
    if (shares_table || !client.commands.empty() || !client.threads.empty()) continue;
    std::string names = client.name;
    for (std::size_t j = i + 1; j < scenario.clients.size() && share_table(scenario.clients[j], client); ++j)
      names += ", " + scenario.clients[j].name;
    fields.push_back({.id = fmt::format("client.{}.acquire_at", i),
                      .label = {names + ": comes at", names + "：到来时间"},
                      .value = sim::to_string(client.acquire_at),
                      .kind = Field::Kind::range});
    fields.push_back({.id = fmt::format("client.{}.hold", i),
                      .label = {names + ": works for", names + "：工作时长"},
                      .value = sim::to_string(client.hold),
                      .kind = Field::Kind::range});
  }
}

void add_faults(const Scenario& scenario, std::vector<Field>& fields) {
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultSpec& fault = scenario.faults[i];
    const std::string who = fault.who.empty() ? "" : " " + fault.who;
    const auto label = [&](std::string_view en, std::string_view zh) {
      return scenarios::Text{fmt::format("fault {} ({}{}): {}", i + 1, name_of(fault.kind), who, en),
                             fmt::format("故障 {}（{}{}）：{}", i + 1, name_of(fault.kind), who, zh)};
    };
    if (lasts(fault.kind))
      fields.push_back({.id = fmt::format("fault.{}.length", i),
                        .label = label("length", "长度"),
                        .value = sim::to_string(fault.length)});
    if (moves_clock(fault.kind))
      fields.push_back(
          {.id = fmt::format("fault.{}.by", i), .label = label("by", "幅度"), .value = sim::to_string(fault.by)});
    if (may_come_back(fault.kind))
      fields.push_back({.id = fmt::format("fault.{}.restart_after", i),
                        .label = label("back after", "重启时间"),
                        .value = fault.restart_after ? sim::to_string(*fault.restart_after) : "",
                        .fallback = "∞"});
  }
}

void add_may(const Scenario& scenario, std::vector<Field>& fields) {
  for (std::size_t i = 0; i < scenario.may.size(); ++i) {
    const MaySpec& may = scenario.may[i];
    const auto add = [&](std::string_view key, const std::string& value, std::string_view fallback) {
      fields.push_back({.id = fmt::format("may.{}.{}", i, key),
                        .label = {fmt::format("[[may]] {} ({}): {}", i + 1, name_of(may.kind), key), ""},
                        .value = value,
                        .fallback = std::string(fallback),
                        .kind = Field::Kind::range});
    };
    if (lasts(may.kind)) add("length", sim::to_string(may.length), "");
    if (moves_clock(may.kind)) add("by", sim::to_string(may.length), "");
    if (may_come_back(may.kind)) add("restart_after", may.restart_after ? sim::to_string(*may.restart_after) : "", "∞");
  }
}

}  // namespace

bool share_table(const ClientSpec& a, const ClientSpec& b) { return a.at.line == b.at.line; }

const models::locks::Entry* entry_of(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  const auto& own = scenario.lock.own.entry;
  if (own != nullptr && own->id == scenario.lock.algorithm) return own.get();
  return catalogue.find(scenario.lock.algorithm);
}

std::vector<Field> form_of(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  std::vector<Field> fields;
  add_lock(scenario, catalogue, fields);
  add_network(scenario, fields);
  add_clients(scenario, fields);
  add_faults(scenario, fields);
  add_may(scenario, fields);
  return fields;
}

std::string toml_of(const Field& field, std::string_view typed) {
  const std::size_t first = typed.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  typed = typed.substr(first, typed.find_last_not_of(' ') + 1 - first);
  using scenarios::toml_text::basic_string;
  const bool is_number =
      typed.size() <= 18 && std::all_of(typed.begin(), typed.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (field.kind == Field::Kind::number && is_number) return std::string(typed);
  if (field.kind == Field::Kind::flag && (typed == "true" || typed == "false")) return std::string(typed);
  const std::size_t dots = typed.find("..");
  if (field.kind == Field::Kind::range && dots != std::string_view::npos)
    return fmt::format("[{}, {}]", basic_string(typed.substr(0, dots)), basic_string(typed.substr(dots + 2)));
  return basic_string(typed);
}

std::string_view name_of(Field::Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"duration", "range", "number", "flag", "choice"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace lockstep::reports::play
