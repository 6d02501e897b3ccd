// What a story with programs among its clients cannot have.

#include <algorithm>
#include <array>

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

/// Steps of the programs that Lockstep writes itself.
constexpr std::array<std::string_view, 9> kOwnSteps{"acquire", "release", "leave", "renew", "work",
                                                    "tick",    "timeout", "read",  "write"};

void check_step(const FaultSpec& fault) {
  if (std::find(kOwnSteps.begin(), kOwnSteps.end(), fault.trigger.step) == kOwnSteps.end()) return;
  throw Bad{fault.at, in_quotes(fault.who) + " is a program, whose steps are the commands that it sends; " +
                          in_quotes(fault.trigger.step) + " is none: expected one such as \"SET\", or at = \"150ms\""};
}

}  // namespace

void check_programs(const Node& root, const Draft& draft) {
  const Scenario& scenario = draft.scenario;
  const ClientSpec* program = first_program(scenario);
  if (program == nullptr) return;
  const std::string who = in_quotes(program->name) + " is a program";
  if (!draft.server_kind.is_redis())
    throw Bad{program->at, who + ", and programs are understood by servers of kind \"redis\" alone so far"};
  for (const std::string_view table : {"market", "resource"}) {
    if (const Node* node = find(root, table))
      throw Bad{node->at, who + ", which does not know of [" + std::string(table) + "]; leave that out"};
  }
  for (const FaultSpec& fault : scenario.faults) {
    const auto struck = std::find_if(scenario.clients.begin(), scenario.clients.end(),
                                     [&](const ClientSpec& client) { return client.name == fault.who; });
    if (struck != scenario.clients.end() && struck->is_program()) check_step(fault);
  }
}

}  // namespace lockstep::scenarios::schema
