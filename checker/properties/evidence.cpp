#include "checker/properties/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lockstep::checker {

bool is_resource(std::span<const sim::ProcessId> resources, sim::ProcessId server) {
  return std::find(resources.begin(), resources.end(), server) != resources.end();
}

bool is_successful(const sim::Operation& operation, std::string_view function) {
  return operation.phase == sim::Phase::ok && operation.function == function;
}

bool has_operation(const OrderedHistory& history, std::string_view function) {
  return std::any_of(history.operations.begin(), history.operations.end(),
                     [&](const sim::Operation& o) { return o.function == function; });
}

bool has_operation(const OrderedHistory& history, std::string_view function, sim::Phase phase) {
  return std::any_of(history.operations.begin(), history.operations.end(),
                     [&](const sim::Operation& o) { return o.function == function && o.phase == phase; });
}

bool has_grant(const OrderedHistory& history) {
  return std::any_of(history.effects.begin(), history.effects.end(), [&](const sim::Effect& effect) {
    const sim::Operation* operation = find_operation(history.operations, effect.operation);
    return effect.kind == sim::Effect::Kind::write && operation != nullptr && is_successful(*operation, "acquire");
  });
}

std::string name_of(const Names& names, sim::ProcessId process) {
  if (!process.is_valid()) return "nobody";
  return process.index < names.size() ? names[process.index] : fmt::format("process {}", process.index);
}

std::string time_text(sim::Instant instant) { return sim::to_string(instant.offset()); }

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::vector<sim::Step> sorted_evidence(std::initializer_list<sim::Step> steps) {
  std::vector<sim::Step> sorted(steps);
  std::erase(sorted, sim::no_step);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

std::strong_ordering compare(sim::Instant a, sim::Instant b) {
  if (a.anchor() != 0 || b.anchor() != 0) {
    std::fputs("lockstep: our bug: a checker compared symbolic instants as if they were true times\n", stderr);
    std::abort();
  }
  return a.offset() <=> b.offset();
}

}  // namespace lockstep::checker
