#include "reports/listing/listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/properties/properties.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"
#include "scenarios/story/failures.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {
namespace {

struct ValueText {
  std::string operator()(sim::Duration d) const { return sim::to_string(d); }
  std::string operator()(sim::DurationRange r) const { return sim::to_string(r); }
  std::string operator()(std::int64_t n) const { return fmt::format("{}", n); }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(const std::string& s) const { return s; }
};

std::string names_of(std::span<const std::string_view> names) {
  return joined(std::vector<std::string>(names.begin(), names.end()));
}

void add_indented(Lines& lines, std::string_view text, const ListingOptions& options, std::size_t indent, Ink ink) {
  for (const std::string& part : wrap(text, options.width - indent)) {
    lines.emplace_back(Line().fill_to(indent).append(part, ink));
  }
}

}  // namespace

Lines list_algorithms(const models::locks::Catalogue& catalogue, const ListingOptions& options) {
  Table table({{"algorithm", 24}, {"what it is", 40}});
  for (const models::locks::Entry& entry : catalogue.entries())
    table.add({{std::string(entry.id), Ink::strong}, {std::string(entry.summary)}});
  Lines lines = table.lines(options.width);
  lines.emplace_back();
  lines.emplace_back(fmt::format("{} algorithms; lockstep list algorithms NAME shows the parameters and claims of one",
                                 catalogue.entries().size()),
                     Ink::faint);
  return lines;
}

Lines describe_algorithms(std::span<const models::locks::Entry> entries, const ListingOptions& options) {
  Lines lines;
  for (const models::locks::Entry& entry : entries) {
    if (!lines.empty()) lines.emplace_back();
    lines.emplace_back(entry.id, Ink::strong);
    add_indented(lines, entry.summary, options, 2, Ink::plain);
    std::string facts = "described in " + names_of(entry.documents);
    facts += entry.claims.empty() ? "; claims nothing" : "; claims " + names_of(entry.claims);
    if (!entry.repaired_by.empty()) facts += fmt::format("; repaired by {}", entry.repaired_by);
    add_indented(lines, facts, options, 2, Ink::faint);
    std::size_t widest = 0;
    for (const auto& parameter : entry.parameters) {
      widest = std::max(widest, fmt::format("{} = {}", parameter.name, value_text(parameter.fallback)).size());
    }
    for (const auto& parameter : entry.parameters) {
      const std::string setting = fmt::format("{} = {}", parameter.name, value_text(parameter.fallback));
      const std::string meaning = fmt::format("{} ({}{})", parameter.meaning, models::locks::kind_of(parameter),
                                              parameter.one_for_all.empty() ? "" : "; the same for all clients");
      bool is_first = true;
      for (const std::string& part : wrap(meaning, options.width - std::min(options.width - 20, widest + 6))) {
        lines.emplace_back(
            Line().fill_to(4).append(is_first ? setting : "").fill_to(widest + 6).append(part, Ink::faint));
        is_first = false;
      }
    }
  }
  return lines;
}

Lines list_scenarios(std::span<const scenarios::Scenario> scenarios, const ListingOptions& options) {
  Table table({{"file", 24}, {"algorithm", 12}, {"reproduces", 8}, {"title", 20}});
  for (const scenarios::Scenario& scenario : scenarios) {
    table.add({{scenario.file, Ink::strong},
               {scenario.lock.algorithm},
               {joined(scenario.reproduces)},
               {in(options.language, scenario.title)}});
  }
  Lines lines = table.lines(options.width);
  lines.emplace_back();
  lines.emplace_back(counted(scenarios.size(), "scenario", "scenarios"), Ink::faint);
  return lines;
}

Lines list_properties(const ListingOptions& options) {
  Table table({{"property", 16}, {"view", 6}, {"meaning", 30}});
  for (const checker::Property& property : checker::properties()) {
    const std::string_view meaning = options.language == Language::zh ? property.meaning_zh : property.meaning;
    table.add({{std::string(property.name), Ink::strong},
               {std::string(checker::to_string(property.view))},
               {std::string(meaning)}});
  }
  return table.lines(options.width);
}

Lines list_faults(const ListingOptions& options) {
  Table table({{"fault", 9}, {"tables", 10}, {"meaning", 30}});
  for (const sim::FaultKind kind : sim::kFaultKinds) {
    const sim::Words meaning = sim::words_of(kind).meaning;
    table.add({{std::string(name_of(kind)), Ink::strong},
               {entry_of(kind).can_be_planned ? "fault, may" : "may"},
               {std::string(options.language == Language::zh ? meaning.zh : meaning.en)}});
  }
  return table.lines(options.width);
}

Lines list_failures(std::span<const scenarios::Scenario> scenarios, const ConfirmedFiles& confirmed,
                    const ListingOptions& options) {
  const bool zh = options.language == Language::zh;
  Lines lines;
  std::size_t reproduced = 0;
  std::size_t shown_in_reality = 0;
  for (const scenarios::Failure& failure : scenarios::failures()) {
    Line head;
    head.append(std::string(failure.id), Ink::strong).fill_to(9);
    head.append(fmt::format("{}, {}", failure.document, failure.algorithm), Ink::faint);
    lines.push_back(std::move(head));
    std::string meaning(zh ? failure.meaning_zh : failure.meaning);
    if (!failure.told) meaning += zh ? "（文中没有，由推断得出）" : " (no document says so; it was deduced)";
    add_indented(lines, meaning, options, 9, Ink::plain);
    // One file a line and never broken, so that it can be copied.
    const std::vector<std::string> files = files_that_reproduce(failure.id, scenarios);
    bool is_confirmed = false;
    for (const std::string& file : files) {
      Line line = Line().fill_to(9).append(printable(file), Ink::good);
      if (const auto found = confirmed.find(file); found != confirmed.end()) {
        line.append(zh ? fmt::format("  在真实的 redis {} 上证实", found->second)
                       : fmt::format("  confirmed on redis {}", found->second),
                    Ink::faint);
        is_confirmed = true;
      }
      lines.push_back(std::move(line));
    }
    shown_in_reality += is_confirmed ? 1 : 0;
    if (files.empty())
      add_indented(lines, zh ? "尚无场景重现" : "no scenario reproduces it yet", options, 9, Ink::warning);
    reproduced += files.empty() ? 0 : 1;
  }
  lines.emplace_back();
  const std::size_t all = scenarios::failures().size();
  std::string sum = zh ? fmt::format("{} 个记载的故障，其中 {} 个有场景重现", all, reproduced)
                       : fmt::format("{} documented failures, {} of them reproduced by a scenario", all, reproduced);
  if (shown_in_reality > 0) {
    sum += zh ? fmt::format("，{} 个在真实服务器上证实（docs/evidence/confirmed.md）", shown_in_reality)
              : fmt::format(", {} confirmed on real servers (docs/evidence/confirmed.md)", shown_in_reality);
  }
  lines.emplace_back(sum, Ink::faint);
  return lines;
}

std::string value_text(const models::locks::ParameterValue& value) { return std::visit(ValueText{}, value); }

std::vector<std::string> files_that_reproduce(std::string_view failure,
                                              std::span<const scenarios::Scenario> scenarios) {
  std::vector<std::string> files;
  for (const scenarios::Scenario& scenario : scenarios) {
    if (std::find(scenario.reproduces.begin(), scenario.reproduces.end(), failure) != scenario.reproduces.end())
      files.push_back(scenario.file);
  }
  return files;
}

}  // namespace lockstep::reports
