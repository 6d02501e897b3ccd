// Traces of real locks: what the judge says of their symbolic histories, against the checkers at concrete times.

#include "scenarios/exploring/trace_judge.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "checker/properties/belief/linearizable.hpp"
#include "checker/properties/belief/mutual_exclusion.hpp"
#include "checker/properties/damage/fencing.hpp"
#include "checker/properties/damage/no_lost_update.hpp"
#include "checker/properties/server/faithful_renewal.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/own_release.hpp"
#include "checker/testing/symbolic_history.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios::trace_judge_test {
namespace {

using checker::Explorer;
using namespace sim::literals;

std::string story(const std::string& lock, const std::string& more) {
  std::string text =
      "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"t\", zh = \"t\" }\nlesson = { en = \"t\", zh = \"t\" }\n"
      "[resource]\nkind = \"counter\"\n[lock]\n" +
      lock + "[network]\nlatency = [\"1ms\", \"10ms\"]\n" + more;
  for (const char* name : {"A", "B"}) {
    text += std::string("[[client]]\nname = \"") + name +
            "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = [\"5ms\", \"20ms\"]\nattempts = 1\n";
  }
  return text;
}

using Verdicts = std::map<std::string_view, bool>;

Verdicts verdicts_of(const sim::History& history, const Deployment& deployment) {
  const checker::Names names = deployment.names();
  const std::vector<sim::ProcessId> resources = deployment.resources();
  Verdicts verdicts;
  for (const checker::Finding& finding :
       {checker::mutual_exclusion(history, names), checker::linearizable(history, names),
        checker::own_release(history, names), checker::no_lost_update(history, names, resources),
        checker::fencing(history, names, resources), checker::truthful_reports(history, names),
        checker::reentrancy(history, names), checker::faithful_renewal(history, names)}) {
    verdicts[finding.property] = finding.verdict == checker::Verdict::violated;
  }
  return verdicts;
}

}  // namespace

TEST_CASE(
    "trace judge: on traces of real locks it agrees with the checkers at concrete times, and halves merge to the "
    "whole") {
  const std::string pause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\ntimes = 2\n";
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::map<std::string_view, std::size_t> violated;
  for (const char* lock :
       {"algorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n", "algorithm = \"set-nx-px-plain-del\"\nttl = \"40ms\"\n"}) {
    auto scenario = parse(story(lock, pause), "story.toml", catalogue);
    if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
    checker::ExplorerOptions options;
    options.max_traces = 4'000;
    checker::FaultBudget& budget = options.faults.emplace_back();
    budget.who = {sim::ProcessId{0}, sim::ProcessId{1}};
    budget.range = {0_ms, 10'000_ms};
    budget.times = 2;
    Explorer explorer(options);
    ExploredStory subject(std::get<Scenario>(scenario), catalogue, explorer, ExploredStory::Probe::none);
    const std::vector<sim::ProcessId> resources = subject.deployment().resources();
    const std::vector<JudgedParameter> parameters = judged_parameters(options.faults, "");
    REQUIRE(parameters.size() == 1);
    checker::ViolationFinder of_judges;
    TraceJudge all(subject, of_judges, options.faults, parameters);
    TraceJudge even(subject, of_judges, options.faults, parameters);
    TraceJudge odd(subject, of_judges, options.faults, parameters);
    checker::ViolationFinder finder;
    std::size_t traces = 0;
    explorer.explore(subject, [&](Explorer& at_end) {
      all.look(at_end);
      (traces % 2 == 0 ? even : odd).look(at_end);
      if (traces++ % 16 != 0) return true;
      const sim::History& history = at_end.world().history();
      checker::DifferenceConstraints& constraints = at_end.constraints();
      const auto ways = finder.find(history, at_end.faults(), resources);
      // At some times, and at those that each way asks for.
      const auto compare = [&](const checker::Violation* way) {
        const auto mark = constraints.mark();
        if (way == nullptr || constraints.add_all(way->constraints)) {
          if (const auto times = constraints.solution_ns()) {
            const Verdicts verdicts =
                verdicts_of(checker::at_times(history, at_end.faults(), *times), subject.deployment());
            // With sums the times alone do not say it.
            if (way != nullptr && !way->is_widened && way->sums.empty()) CHECK(verdicts.at(way->property));
            constraints.undo(mark);
            for (const auto& [property, is_violated] : verdicts) {
              if (is_violated) ++violated[property];
              const checker::Violable found = checker::violable(property, ways, constraints);
              if (is_violated) CHECK((found.for_certain || found.perhaps));
            }
          }
        }
        constraints.undo(mark);
      };
      compare(nullptr);
      for (const checker::Violation& way : ways) compare(&way);
      return true;
    });
    odd.merge(even);
    // Through a file and back it knows the same.
    std::stringstream file;
    odd.write(file);
    TraceJudge read(subject, of_judges, options.faults, parameters);
    REQUIRE(read.read(file));
    for (const TraceJudge* other : {&odd, &read}) {
      for (std::size_t i = 0; i < all.tallies().size(); ++i) {
        const PropertyTally& mine = all.tallies()[i];
        const PropertyTally& theirs = other->tallies()[i];
        CHECK(mine.violating_traces == theirs.violating_traces);
        CHECK(mine.unconfirmed == theirs.unconfirmed);
        CHECK(mine.thresholds.front().upward() == theirs.thresholds.front().upward());
        REQUIRE(mine.best.size() == theirs.best.size());
        for (std::size_t k = 0; k < mine.best.size(); ++k) CHECK(mine.best[k].size == theirs.best[k].size);
      }
      CHECK(all.unconfirmed() == other->unconfirmed());
      CHECK(all.marks().counts() == other->marks().counts());
    }
    std::stringstream cut(file.str().substr(0, file.str().size() / 2));
    CHECK_FALSE(read.read(cut));
  }
  for (const char* property : {"mutual-exclusion", "linearizable", "own-release", "no-lost-update", "fencing"}) {
    INFO(property);
    CHECK(violated[property] > 0);
  }
}

}  // namespace lockstep::scenarios::trace_judge_test
