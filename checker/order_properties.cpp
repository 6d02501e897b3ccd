#include "checker/order_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "checker/evidence.hpp"

namespace lockstep::checker {
namespace {

using sim::Effect;
using sim::Operation;
using Place = std::pair<sim::ProcessId, std::string_view>;

/// What one operation did at one place.
struct Deed {
  bool was_own = false;  ///< it did something while the place was its thread's alone or together with other readers
  bool removed = false;  ///< and that was to remove it
  sim::Instant at;
  sim::Step step = sim::no_step;
};

class Order {
 public:
  Order(std::span<const Operation> operations, std::span<const Effect> effects, const sim::History& history)
      : operations_(operations), history_(history) {
    for (const Effect& effect : effects) follow(effect);
  }

  std::vector<Breach> breaches() {
    reports();
    nesting();
    renewals();
    return std::move(found_);
  }

 private:
  const Operation* find(sim::OperationId id) const {
    return id == 0 || id > operations_.size() ? nullptr : &operations_[id - 1];
  }
  static bool takes(const Operation& o) { return o.function == "acquire" || o.function == "reenter"; }
  static bool gives(const Operation& o) { return o.function == "release" || o.function == "leave"; }

  void follow(const Effect& effect) {
    const Operation* operation = find(effect.operation);
    const Place place{effect.server, effect.object};
    std::vector<sim::ProcessId>& owners = owners_[place];
    if (effect.kind == Effect::Kind::expire) owners.clear();
    const bool changes =
        effect.kind == Effect::Kind::remove || effect.kind == Effect::Kind::write || effect.kind == Effect::Kind::touch;
    if (!changes) return;
    if (operation != nullptr && is_of_lock(effect.object, operation->object)) {
      if (gives(*operation) || operation->function == "renew") {
        const Operation* hold = find(operation->of);
        const sim::ProcessId thread = hold == nullptr ? operation->process : hold->process;
        Deed& deed = deeds_[{operation->id, place}];
        deed.was_own = deed.was_own || std::find(owners.begin(), owners.end(), thread) != owners.end();
        deed.removed = deed.removed || effect.kind == Effect::Kind::remove;
        deed.at = effect.at;
        deed.step = effect.step;
      }
      if (takes(*operation) && effect.kind == Effect::Kind::write) {
        const bool joins = std::find(owners.begin(), owners.end(), operation->process) != owners.end();
        if (!operation->is_shared && !joins) owners.clear();
        if (!joins) owners.push_back(operation->process);
      }
    }
    if (effect.kind != Effect::Kind::remove) return;
    // Somebody else's command took it away: the hold was not safe from others.
    for (const sim::ProcessId owner : owners) {
      if (operation == nullptr || operation->process != owner) robbed_.push_back({owner, place});
    }
    owners.clear();
  }

  void add(std::string_view property, std::vector<sim::ProcessId> by, const Operation& operation, sim::Instant at,
           sim::Step step) {
    found_.push_back({property, std::move(by), operation.id, at, step});
  }

  void reports() {
    for (const Operation& o : operations_) {
      const bool is_report = o.function == "release" || o.function == "leave" || o.function == "renew";
      if (!is_report || o.phase != sim::Phase::ok) continue;
      bool did_something = false;
      bool was_own = false;
      constexpr sim::ProcessId first{0};
      for (auto deed = deeds_.lower_bound({o.id, {first, ""}}); deed != deeds_.end() && deed->first.first == o.id;
           ++deed) {
        did_something = true;
        was_own = was_own || deed->second.was_own;
      }
      if (was_own || (o.function == "leave" && !did_something)) continue;
      const Operation* hold = find(o.of);
      add("truthful-reports", {hold == nullptr ? o.process : hold->process}, o, o.completed, o.completed_in);
    }
  }

  void nesting() {
    for (const auto& [key, deed] : deeds_) {
      const Operation& o = operations_[key.first - 1];
      if (o.function == "leave" && deed.was_own && deed.removed) {
        add("reentrancy", {o.process}, o, deed.at, deed.step);
      }
      if (o.function != "release" || o.phase != sim::Phase::ok || !deed.was_own || deed.removed) continue;
      const Operation* hold = find(o.of);
      if (hold == nullptr || hold->is_shared) continue;
      const auto nested = [&](std::string_view function, bool only_ok) {
        return std::count_if(operations_.begin(), operations_.end(), [&](const Operation& other) {
          return other.of == hold->id && other.function == function && (!only_ok || other.phase == sim::Phase::ok);
        });
      };
      // An attempt of unknown outcome may have counted.
      const auto unknown = std::count_if(operations_.begin(), operations_.end(), [&](const Operation& other) {
        return other.of == hold->id && other.function == "reenter" && other.phase == sim::Phase::info;
      });
      if (nested("leave", true) < nested("reenter", true) + unknown) continue;
      add("reentrancy", {o.process}, o, deed.at, deed.step);
    }
    for (const Operation& o : operations_) {
      if (o.function != "reenter" || o.phase != sim::Phase::fail) continue;
      const Operation* hold = find(o.of);
      if (hold == nullptr || !was_certain(*hold)) continue;
      add("reentrancy", {o.process}, o, o.completed, o.completed_in);
    }
  }

  /// Whether nothing but the thread itself ever ended this hold: its release found all of it, and removed it.
  bool was_certain(const Operation& hold) const {
    bool released = false;
    for (const auto& [key, deed] : deeds_) {
      const Operation& o = operations_[key.first - 1];
      if (o.of != hold.id || o.function != "release") continue;
      if (!deed.was_own || !deed.removed) return false;
      released = true;
    }
    return released && std::none_of(robbed_.begin(), robbed_.end(),
                                    [&](const auto& robbed) { return robbed.first == hold.process; });
  }

  void renewals() {
    for (const Operation& renewal : operations_) {
      if (renewal.function != "renew") continue;
      const Operation* hold = find(renewal.of);
      if (hold == nullptr) continue;
      const bool is_over = std::any_of(operations_.begin(), operations_.end(), [&](const Operation& end) {
        return end.of == hold->id && (end.function == "release" || end.function == "lost") &&
               end.phase != sim::Phase::invoke && end.completed_in < renewal.invoked_in;
      });
      const bool has_died =
          std::any_of(history_.interruptions.begin(), history_.interruptions.end(), [&](const sim::Interruption& i) {
            return i.kind == sim::Interruption::Kind::crash && i.process == hold->process &&
                   i.step >= hold->completed_in && i.step < renewal.invoked_in;
          });
      if (is_over || has_died) {
        add("faithful-renewal", {hold->process}, renewal, renewal.invoked, renewal.invoked_in);
      }
    }
  }

  std::span<const Operation> operations_;
  const sim::History& history_;
  std::map<Place, std::vector<sim::ProcessId>> owners_;
  std::map<std::pair<sim::OperationId, Place>, Deed> deeds_;
  std::vector<std::pair<sim::ProcessId, Place>> robbed_;
  std::vector<Breach> found_;
};

/// The first of a property's breaches, as true time has them.
const Breach* first_of(const std::vector<Breach>& breaches, std::string_view property) {
  const Breach* first = nullptr;
  for (const Breach& breach : breaches) {
    if (breach.property != property) continue;
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

bool is_of_lock(std::string_view object, std::string_view lock) {
  return object.starts_with(lock) && (object.size() == lock.size() || object[lock.size()] == '/');
}

std::vector<Breach> order_breaches(std::span<const Operation> operations, std::span<const Effect> effects,
                                   const sim::History& history) {
  return Order(operations, effects, history).breaches();
}

Finding truthful_reports(const sim::History& history, const Names& names) {
  constexpr std::string_view property = "truthful-reports";
  const std::vector<Breach> breaches = order_breaches(history.operations, history.effects, history);
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

Finding reentrancy(const sim::History& history, const Names& names) {
  constexpr std::string_view property = "reentrancy";
  const std::vector<Breach> breaches = order_breaches(history.operations, history.effects, history);
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

}  // namespace lockstep::checker
