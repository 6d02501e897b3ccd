#include "reports/run/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"
#include "scenarios/checking/agreement.hpp"

namespace lockstep::reports {
namespace {

using Trouble = JUnitCase::Trouble;

void add_line(Trouble& trouble, const std::string& line, const std::string& why) {
  trouble.message += (trouble.message.empty() ? "" : "; ") + line;
  trouble.details += printable(line) + "\n";
  if (!why.empty()) trouble.details += "  " + printable(reason_in(Language::en, why)) + "\n";
}

Trouble trouble_of(const Story& story) {
  Trouble trouble;
  if (story.outcome.as_expected) return trouble;
  trouble.kind = story.outcome.mistake.empty() ? Trouble::Kind::failure : Trouble::Kind::error;
  if (!story.outcome.mistake.empty()) add_line(trouble, story.outcome.mistake, "");
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    if (judgement.as_expected) continue;
    add_line(trouble, fmt::format("{}: {}", judgement.finding.property, surprise_text(story.outcome, judgement)),
             judgement.finding.why);
  }
  trouble.details += fmt::format("lockstep run {}\n", printable(story.scenario.file));
  return trouble;
}

Trouble trouble_of(const ExploredStory& story) {
  const scenarios::Exploration& found = story.exploration;
  Trouble trouble;
  const scenarios::Agreement stands = agreement(story);
  if (stands == scenarios::Agreement::agrees && found.counts.complete) return trouble;
  trouble.kind = stands == scenarios::Agreement::differs ? Trouble::Kind::failure : Trouble::Kind::error;
  if (!found.mistake.empty()) add_line(trouble, found.mistake, "");
  for (const scenarios::ExploredProperty& property : found.properties) {
    if (property.as_expected) continue;
    add_line(trouble,
             fmt::format("{}: {}; {}", property.name, verdict_text(property, Language::en),
                         surprise_text(story, property, Language::en)),
             property.why);
    for (const scenarios::Threshold& threshold : property.thresholds)
      trouble.details += "  " + threshold_text(story, threshold, Language::en) + "\n";
  }
  if (const std::string traces = trace_surprise(found, Language::en); !traces.empty()) add_line(trouble, traces, "");
  if (!found.counts.complete) add_line(trouble, completeness_text(story, Language::en), "");
  trouble.details += fmt::format("lockstep check {}\n", printable(story.scenario.file));
  return trouble;
}

}  // namespace

std::string junit_xml(const std::string& suite_name, std::span<const JUnitCase> cases) {
  const auto count = [&](Trouble::Kind kind) {
    return static_cast<unsigned long long>(
        std::count_if(cases.begin(), cases.end(), [&](const JUnitCase& c) { return c.trouble.kind == kind; }));
  };
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  suite.append_attribute("name").set_value(suite_name.c_str());
  suite.append_attribute("tests").set_value(static_cast<unsigned long long>(cases.size()));
  suite.append_attribute("failures").set_value(count(Trouble::Kind::failure));
  suite.append_attribute("errors").set_value(count(Trouble::Kind::error));
  suite.append_attribute("skipped").set_value(0);
  for (const auto& [scenario, trouble] : cases) {
    pugi::xml_node testcase = suite.append_child("testcase");
    testcase.append_attribute("classname").set_value(printable(scenario->lock.algorithm).c_str());
    testcase.append_attribute("name").set_value(
        printable(fmt::format("{}: {}", scenario->id, scenario->title.en)).c_str());
    testcase.append_attribute("file").set_value(printable(scenario->file).c_str());
    if (trouble.kind == Trouble::Kind::none) continue;
    const bool is_failure = trouble.kind == Trouble::Kind::failure;
    pugi::xml_node node = testcase.append_child(is_failure ? "failure" : "error");
    node.append_attribute("type").set_value(is_failure ? "not-as-expected" : "not-complete");
    // XML cannot hold control characters, not even escaped.
    node.append_attribute("message").set_value(printable(trouble.message).c_str());
    node.text().set(trouble.details.c_str());
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

std::vector<JUnitCase> junit_cases(std::span<const Story> stories) {
  std::vector<JUnitCase> cases;
  for (const Story& story : stories) cases.push_back({&story.scenario, trouble_of(story)});
  return cases;
}

std::vector<JUnitCase> junit_cases(std::span<const ExploredStory> stories) {
  std::vector<JUnitCase> cases;
  for (const ExploredStory& story : stories) cases.push_back({&story.scenario, trouble_of(story)});
  return cases;
}

}  // namespace lockstep::reports
