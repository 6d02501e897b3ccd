// What is said of the breaches of order: findings of truthful-reports and reentrancy, and their entries.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/property.hpp"
#include "checker/properties/server/order_properties.hpp"

namespace lockstep::checker {
namespace {

using sim::Operation;

/// The first of a property's breaches, as true time has them.
const Breach* first_of(std::span<const Breach> breaches, std::string_view property, bool is_unknown = false) {
  const Breach* first = nullptr;
  for (const Breach& breach : breaches) {
    if (breach.property != property || breach.is_unknown != is_unknown) continue;
    if (first == nullptr || compare(breach.at, first->at) < 0) first = &breach;
  }
  return first;
}

Finding finding_of(std::string_view property, View view, const Breach& breach) {
  Finding finding{.property = property, .view = view, .verdict = Verdict::violated};
  finding.by = breach.by;
  finding.at = breach.at;
  finding.evidence = sorted_evidence({breach.step});
  return finding;
}

}  // namespace

Finding truthful_reports(const sim::History& history, const Names& names) {
  return truthful_reports(history, names, order_breaches(history));
}

Finding reentrancy(const sim::History& history, const Names& names) {
  return reentrancy(history, names, order_breaches(history));
}

Finding truthful_reports(const sim::History& history, const Names& names, std::span<const Breach> breaches) {
  constexpr std::string_view property = "truthful-reports";
  if (const Breach* breach = first_of(breaches, property)) {
    Finding finding = finding_of(property, View::server, *breach);
    const Operation& o = history.operations[breach->operation - 1];
    finding.why = fmt::format("{} was told at {} that {} succeeded, but the lock was not {}'s any more",
                              name_of(names, o.process), time_text(breach->at),
                              o.function == "renew" ? "a renewal" : "its release", name_of(names, breach->by.front()));
    if (o.of == 0) {
      finding.why = fmt::format("{} was told at {} that its release succeeded, but it had never got the lock",
                                name_of(names, o.process), time_text(breach->at));
    }
    if (o.phase == sim::Phase::fail) {
      finding.why =
          o.function == "release"
              ? fmt::format("{} was told at {} that its release failed, but it had freed the lock, which was {}'s",
                            name_of(names, o.process), time_text(breach->at), name_of(names, o.process))
              : fmt::format("{} was told at {} that it had not got the lock, but what it wrote stays there",
                            name_of(names, o.process), time_text(breach->at));
    }
    return finding;
  }
  if (const Breach* breach = first_of(breaches, property, true)) {
    const Operation& o = history.operations[breach->operation - 1];
    Finding finding{.property = property, .view = View::server, .verdict = Verdict::unknown};
    finding.why = fmt::format(
        "whose place {} gave back at {} the server does not say; the algorithm may: client.granted, client.freed",
        name_of(names, o.process), time_text(breach->at));
    return finding;
  }
  const auto reports = std::count_if(history.operations.begin(), history.operations.end(), [](const Operation& o) {
    return (o.function == "release" || o.function == "renew") && o.phase == sim::Phase::ok;
  });
  Finding finding{.property = property, .view = View::server, .verdict = Verdict::holds};
  finding.why =
      reports == 0
          ? "no release or renewal reported success"
          : fmt::format("{} reported success, all of them rightly",
                        counted(static_cast<std::size_t>(reports), "release or renewal", "releases and renewals"));
  return finding;
}

Finding reentrancy(const sim::History& history, const Names& names, std::span<const Breach> breaches) {
  constexpr std::string_view property = "reentrancy";
  if (const Breach* breach = first_of(breaches, property)) {
    Finding finding = finding_of(property, View::server, *breach);
    const Operation& o = history.operations[breach->operation - 1];
    const std::string who = name_of(names, o.process);
    const std::string when = time_text(breach->at);
    finding.why =
        o.function == "leave"
            ? fmt::format("{}'s inner release freed the lock at {}, while it still held it", who, when)
        : o.function == "reenter"
            ? fmt::format("{} could not take the lock again that it held: it gave up at {}", who, when)
            : fmt::format("{} had released as often as it acquired at {}, and the lock was not free", who, when);
    return finding;
  }
  const auto entries = std::count_if(history.operations.begin(), history.operations.end(),
                                     [](const Operation& o) { return o.function == "reenter"; });
  Finding finding{.property = property, .view = View::server, .verdict = Verdict::holds};
  finding.why = entries == 0 ? "nobody took a lock again that it held"
                             : fmt::format("{}, and as many releases freed the lock as acquires had taken it",
                                           counted(static_cast<std::size_t>(entries), "re-entry", "re-entries"));
  return finding;
}

Property entries::reentrancy() {
  return {
      .name = "reentrancy",
      .view = View::server,
      .meaning =
          "Whoever holds the lock can take it again, and it is free when it was given back as often, and not before.",
      .meaning_zh = "持有者可以再次加锁；释放次数与加锁次数相同时锁才空闲，不早也不晚。",
      .question = "Could whoever held the lock take it again, and was it free after as many releases, and not before?",
      .is_seen = [](const OrderedHistory& history) { return has_operation(history, "reenter"); },
      .unseen = "nobody took a lock again that it held",
      .can_be_seen = [](const Circumstances& story) { return story.reenters; },
      .judge = [](const JudgedRun& run) { return checker::reentrancy(run.story, run.names, run.breaches()); }};
}

Property entries::truthful_reports() {
  return {.name = "truthful-reports",
          .view = View::server,
          .meaning = "A release or renewal that says it succeeded did: the lock was still the caller's.",
          .meaning_zh = "报告成功的释放或续期确实成功：当时锁仍属于调用者。",
          .question = "Did a release or renewal say that it succeeded when the lock was no longer the caller's?",
          .is_seen =
              [](const OrderedHistory& history) {
                const auto is_report = [](const Operation& o) {
                  const bool is_of_hold = o.function == "release" || o.function == "leave" || o.function == "renew";
                  return is_of_hold && o.phase == sim::Phase::ok;
                };
                return std::any_of(history.operations.begin(), history.operations.end(), is_report);
              },
          .unseen = "no release or renewal reported success",
          .judge = [](const JudgedRun& run) { return checker::truthful_reports(run.story, run.names, run.breaches()); },
          .breaches = [](const OrderedHistory& history) { return order_breaches(history); }};
}

}  // namespace lockstep::checker
