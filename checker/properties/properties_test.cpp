#include "checker/properties/properties.hpp"

#include <catch2/catch.hpp>

#include "checker/properties/belief/capacity.hpp"
#include "checker/properties/belief/linearizable.hpp"
#include "checker/properties/belief/mutual_exclusion.hpp"
#include "checker/properties/belief/no_deadlock.hpp"
#include "checker/properties/belief/progress.hpp"
#include "checker/properties/damage/fencing.hpp"
#include "checker/properties/damage/no_lost_update.hpp"
#include "checker/properties/damage/no_oversell.hpp"
#include "checker/properties/server/fair.hpp"
#include "checker/properties/server/faithful_renewal.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/own_release.hpp"
#include "checker/properties/server/recoverable.hpp"

namespace lockstep::checker::properties_test {
namespace {

TEST_CASE("properties: every checker's property is in the table under its own name and view, and nothing else is") {
  const sim::History empty;
  const std::vector<Finding> findings = {
      mutual_exclusion(empty, {}),   linearizable(empty, {}),     no_deadlock(empty, {}, {}),
      progress(empty, {}, {}),       own_release(empty, {}),      recoverable(empty, {}, {}),
      reentrancy(empty, {}),         truthful_reports(empty, {}), faithful_renewal(empty, {}),
      no_lost_wakeup(empty, {}, {}), capacity(empty, {}, 1),      fair(empty, {}, 0),
      no_lost_update(empty, {}, {}), no_oversell(empty, {}),      fencing(empty, {}, {})};
  REQUIRE(findings.size() == properties().size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    CHECK(findings[i].property == properties()[i].name);
    CHECK(findings[i].view == properties()[i].view);
    CHECK_FALSE(findings[i].why.empty());
  }
}

TEST_CASE("properties: names are unique, and meanings are given in both languages") {
  for (const Property& property : properties()) {
    CHECK(find_property(property.name) == &property);
    CHECK(property.meaning.ends_with("."));
    CHECK(property.meaning_zh.ends_with("。"));
  }
  CHECK(find_property("mutual exclusion") == nullptr);
}

TEST_CASE("verdicts and views have the names that the JSON contract gives them") {
  CHECK(to_string(Verdict::holds) == "holds");
  CHECK(to_string(Verdict::violated) == "violated");
  CHECK(to_string(Verdict::unknown) == "unknown");
  CHECK(to_string(View::belief) == "belief");
  CHECK(to_string(View::server) == "server");
  CHECK(to_string(View::damage) == "damage");
}

}  // namespace
}  // namespace lockstep::checker::properties_test
