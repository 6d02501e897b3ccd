#include "confirm/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"

namespace lockstep::confirm {
namespace {

using checker::Verdict;
using reports::Ink;
using reports::Json;
using reports::Line;
using reports::Lines;
using reports::printable;

Ink ink_of(Standing standing) {
  switch (standing) {
    case Standing::confirmed: return Ink::good;
    case Standing::differs: return Ink::bad;
    case Standing::disturbed:
    case Standing::cannot_be_played: break;
  }
  return Ink::warning;
}

std::string_view sign_of(Standing standing) {
  return standing == Standing::confirmed ? "✓" : standing == Standing::differs ? "✗" : "?";
}

std::string rounded(sim::Duration d) {
  return sim::to_string(sim::Duration::microseconds(d.count_ns() / 1'000 / 100 * 100));
}

std::string violations_of(const Confirmation& confirmation) {
  std::string text;
  for (const Compared& property : confirmation.properties) {
    if (property.real != Verdict::violated) continue;
    text += (text.empty() ? "" : ", ") + property.property;
  }
  return text;
}

Json json_of(const Confirmation& c) {
  Json story{{"file", c.file},
             {"id", c.id},
             {"algorithm", c.algorithm},
             {"standing", to_string(c.standing)},
             {"reason", Json::if_any(c.reason)},
             {"redis", c.version},
             {"digest", fmt::format("{:016x}", c.digest)},
             {"slower", fmt::format("{}/{}", c.scale.numerator, c.scale.denominator)},
             {"length", sim::to_string(c.length)},
             {"margin", c.margin ? Json(sim::to_string(*c.margin)) : Json()},
             {"lateness", sim::to_string(c.lateness)},
             {"differences", c.differences},
             {"notes", c.notes}};
  story["properties"] = Json::array();
  for (const Compared& property : c.properties) {
    story["properties"].push_back({{"property", property.property},
                                   {"model", to_string(property.model)},
                                   {"real", to_string(property.real)},
                                   {"by", property.by},
                                   {"why", property.why},
                                   {"same", property.is_same}});
  }
  story["exchanges"] = Json::array();
  for (const Exchange& exchange : c.exchanges) {
    story["exchanges"].push_back({{"at", sim::to_string(exchange.at)},
                                  {"client", exchange.client},
                                  {"server", exchange.server},
                                  {"said", exchange.said},
                                  {"model", exchange.model},
                                  {"real", exchange.real},
                                  {"same", exchange.sameness != Exchange::Sameness::differs}});
  }
  return story;
}

}  // namespace

std::string pace_text(const scenarios::TimeScale& scale) {
  if (scale.numerator > scale.denominator)
    return fmt::format("{} times slower than told", scale.numerator / scale.denominator);
  if (scale.numerator < scale.denominator)
    return fmt::format("{} times faster than told", scale.denominator / scale.numerator);
  return {};
}

std::string observed_text(const Confirmation& confirmation) {
  switch (confirmation.standing) {
    case Standing::confirmed: {
      const std::string broken = violations_of(confirmation);
      return broken.empty() ? "nothing is violated" : "violated: " + broken;
    }
    case Standing::differs: return confirmation.differences.front();
    case Standing::disturbed:
    case Standing::cannot_be_played: break;
  }
  return confirmation.reason;
}

Lines report(const Confirmation& c, std::size_t width) {
  Lines lines;
  lines.emplace_back(Line(c.id, Ink::strong).append(" · " + c.algorithm, Ink::faint));
  if (c.standing == Standing::cannot_be_played) {
    reports::add_prose(lines, "? cannot be played: " + printable(c.reason), width, 0, Ink::warning);
    return lines;
  }
  const std::string pace = pace_text(c.scale);
  lines.emplace_back(
      fmt::format("redis-server {}, {}; it took {}, the latest command came {} late{}", c.version,
                  pace.empty() ? "as fast as told" : pace, rounded(c.length), rounded(c.lateness),
                  c.margin ? ", and nothing comes later before the end of a lease than " + rounded(*c.margin) : ""),
      Ink::faint);
  lines.emplace_back();
  reports::Table table({{"time", 6}, {"who", 3}, {"at", 5}, {"says", 20}, {"the real server answers", 16}});
  for (const Exchange& exchange : c.exchanges) {
    const bool is_same = exchange.sameness != Exchange::Sameness::differs;
    reports::Note note;
    if (!is_same)
      note = {.text = "the model answers " + printable(exchange.model), .ink = Ink::bad, .first = 3, .last = 4};
    table.add({{sim::to_string(exchange.at), Ink::faint},
               {printable(exchange.client)},
               {printable(exchange.server), Ink::faint},
               {printable(exchange.said)},
               {printable(exchange.real), is_same ? Ink::plain : Ink::bad}},
              std::move(note));
  }
  for (Line& line : table.lines(width)) lines.push_back(std::move(line));
  lines.emplace_back();
  if (c.standing == Standing::disturbed) {
    reports::add_prose(lines, "? disturbed: " + c.reason, width, 0, Ink::warning);
    return lines;
  }
  for (const Compared& property : c.properties) {
    if (property.real != Verdict::violated && property.is_same) continue;
    const std::string by = property.by.empty() ? "" : fmt::format(" by {}", fmt::join(property.by, ", "));
    const std::string standing =
        property.is_same ? ", as in the model" : fmt::format(", in the model {}", to_string(property.model));
    lines.emplace_back(fmt::format("{} {} {}{}{}", property.real == Verdict::violated ? "✗" : "·", property.property,
                                   to_string(property.real), by, standing),
                       property.is_same ? Ink::plain : Ink::bad);
    reports::add_prose(lines, printable(property.why), width, 2, Ink::faint);
  }
  for (const std::string& note : c.notes) reports::add_prose(lines, "note: " + note, width, 0, Ink::faint);
  if (c.standing == Standing::confirmed) {
    lines.emplace_back(fmt::format("✓ confirmed: {} answers and messages and {} verdicts are those of the model",
                                   c.exchanges.size(), c.properties.size()),
                       Ink::good);
    return lines;
  }
  lines.emplace_back(fmt::format("✗ differs: {}", reports::counted(c.differences.size(), "difference", "differences")),
                     Ink::bad);
  for (const std::string& difference : c.differences)
    reports::add_prose(lines, printable(difference), width, 2, Ink::bad);
  return lines;
}

Lines report(std::span<const Confirmation> confirmations, std::size_t width) {
  reports::Table table({{"story", 30}, {"standing", 12}, {"what was observed", 30}});
  std::size_t confirmed = 0;
  for (const Confirmation& c : confirmations) {
    confirmed += c.standing == Standing::confirmed ? 1 : 0;
    table.add({{printable(c.id)},
               {fmt::format("{} {}", sign_of(c.standing), to_string(c.standing)), ink_of(c.standing)},
               {printable(observed_text(c))}});
  }
  Lines lines = table.lines(width);
  lines.emplace_back();
  lines.emplace_back(
      fmt::format("{} of {} confirmed", confirmed, reports::counted(confirmations.size(), "story", "stories")),
      confirmed == confirmations.size() ? Ink::good : Ink::plain);
  return lines;
}

std::vector<reports::JUnitCase> junit_cases(std::span<const scenarios::Scenario> stories,
                                            std::span<const Confirmation> confirmations) {
  using Kind = reports::JUnitCase::Trouble::Kind;
  std::vector<reports::JUnitCase> cases;
  for (std::size_t i = 0; i < confirmations.size(); ++i) {
    const Confirmation& c = confirmations[i];
    reports::JUnitCase& each = cases.emplace_back();
    each.scenario = &stories[i];
    if (c.standing == Standing::confirmed) continue;
    each.trouble.kind = c.standing == Standing::differs ? Kind::failure : Kind::error;
    each.trouble.message = fmt::format("{}: {}", to_string(c.standing), observed_text(c));
    for (const std::string& difference : c.differences) each.trouble.details += printable(difference) + "\n";
    each.trouble.details += fmt::format("lockstep confirm {} --redis\n", printable(c.file));
  }
  return cases;
}

std::string json(std::span<const Confirmation> confirmations) {
  Json document{{"lockstep", 1}, {"command", "confirm"}};
  document["results"] = Json::array();
  std::size_t confirmed = 0;
  for (const Confirmation& c : confirmations) {
    document["results"].push_back(json_of(c));
    confirmed += c.standing == Standing::confirmed ? 1 : 0;
  }
  document["summary"] = {{"stories", confirmations.size()}, {"confirmed", confirmed}};
  return document.dump(2) + '\n';
}

}  // namespace lockstep::confirm
