#include "checker/properties/properties.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/recoverable.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::checker::properties_test {
namespace {

TEST_CASE("properties: every judge gives its finding under its own name and view") {
  const sim::History empty;
  const std::vector<Breach> none;
  const LockObjects no_locks;
  const JudgedRun run{.story = empty,
                      .all = empty,
                      .names = {},
                      .resources = {},
                      .lock = "lock",
                      .places = {},
                      .deadlock_lasting = {},
                      .progress = {},
                      .recoverable = {},
                      .wakeup = {},
                      .breaches = [&] { return std::span(none); },
                      .locks = [&]() -> const LockObjects& { return no_locks; }};
  for (const Property& property : properties()) {
    INFO(property.name);
    const Finding finding = property.judge(run);
    CHECK(finding.property == property.name);
    CHECK(finding.view == property.view);
    CHECK_FALSE(finding.why.empty());
  }
}

TEST_CASE("properties: docs/manual/reading-a-report.md has their rows, all of them and in their order") {
  std::ifstream in(in_tree("docs/manual/reading-a-report.md"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  std::string rows = "| property | whose truth | what it asks |\n| --- | --- | --- |\n";
  for (const Property& property : properties()) {
    rows += fmt::format("| {} | {} | {} |\n", property.name, to_string(property.view), property.question);
  }
  INFO("docs/manual/reading-a-report.md should have:\n" << rows);
  CHECK(page.find(rows + "\n") != std::string::npos);
}

TEST_CASE("properties: names are unique, and meanings are given in both languages") {
  for (const Property& property : properties()) {
    CHECK(find_property(property.name) == &property);
    CHECK(property.meaning.ends_with("."));
    CHECK(property.meaning_zh.ends_with("。"));
  }
  CHECK(find_property("mutual exclusion") == nullptr);
  for (std::size_t i = 0; i < properties().size(); ++i) CHECK(position_of_property(properties()[i].name) == i);
}

TEST_CASE("verdicts and views have the names that the JSON contract gives them") {
  CHECK(to_string(Verdict::holds) == "holds");
  CHECK(to_string(Verdict::violated) == "violated");
  CHECK(to_string(Verdict::unknown) == "unknown");
  CHECK(to_string(Verdict::not_judged) == "not judged");
  CHECK(to_string(View::belief) == "belief");
  CHECK(to_string(View::server) == "server");
  CHECK(to_string(View::damage) == "damage");
}

}  // namespace
}  // namespace lockstep::checker::properties_test
