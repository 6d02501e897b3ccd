#include "reports/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "reports/summary.hpp"
#include "reports/text.hpp"

namespace lockstep::reports {
namespace {

void add_failure(pugi::xml_node testcase, const Story& story) {
  std::string message;
  std::string details;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    if (judgement.as_expected) continue;
    const std::string line = fmt::format("{}: {}", judgement.finding.property, surprise_text(story.outcome, judgement));
    message += (message.empty() ? "" : "; ") + line;
    details += printable(line) + "\n";
    if (!judgement.finding.why.empty()) details += "  " + printable(judgement.finding.why) + "\n";
  }
  details += fmt::format("lockstep run {}\n", printable(story.scenario.file));
  pugi::xml_node failure = testcase.append_child("failure");
  failure.append_attribute("type").set_value("not-as-expected");
  // XML cannot hold control characters, not even escaped.
  failure.append_attribute("message").set_value(printable(message).c_str());
  failure.text().set(details.c_str());
}

}  // namespace

std::string junit_xml(std::span<const Story> stories) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  const auto failures = stories.size() - count_as_expected(stories);
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  suite.append_attribute("name").set_value("lockstep run");
  suite.append_attribute("tests").set_value(static_cast<unsigned long long>(stories.size()));
  suite.append_attribute("failures").set_value(static_cast<unsigned long long>(failures));
  suite.append_attribute("errors").set_value(0);
  suite.append_attribute("skipped").set_value(0);
  for (const Story& story : stories) {
    pugi::xml_node testcase = suite.append_child("testcase");
    testcase.append_attribute("classname").set_value(printable(story.scenario.lock.algorithm).c_str());
    testcase.append_attribute("name").set_value(
        printable(fmt::format("{}: {}", story.scenario.id, story.scenario.title.en)).c_str());
    testcase.append_attribute("file").set_value(printable(story.scenario.file).c_str());
    if (!story.outcome.as_expected) add_failure(testcase, story);
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace lockstep::reports
