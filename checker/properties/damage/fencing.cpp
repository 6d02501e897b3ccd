#include "checker/properties/damage/fencing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kFencing = "fencing";

/// Position of a grant among all grants: the position of its write among the effects, from 1.
using GrantOrder = std::size_t;

struct Write {
  const sim::Effect* effect = nullptr;
  std::optional<GrantOrder> grant;
};

/// Finds the grant that a write was made under.
class Grants {
 public:
  Grants(const sim::History& history, std::span<const sim::ProcessId> resources)
      : order_(history.operations.size() + 1, 0) {
    for (std::size_t i = 0; i < history.effects.size(); ++i) {
      const sim::Effect& effect = history.effects[i];
      if (effect.kind != sim::Effect::Kind::write || effect.operation >= order_.size()) continue;
      if (!is_resource(resources, effect.server)) order_[effect.operation] = i + 1;
    }
    for (const sim::Operation& operation : history.operations) {
      if (is_successful(operation, "acquire")) acquires_[operation.process].push_back(&operation);
    }
    for (auto& [process, list] : acquires_) {
      std::sort(list.begin(), list.end(), [](const sim::Operation* a, const sim::Operation* b) {
        return std::pair(a->completed.offset(), a->completed_in) < std::pair(b->completed.offset(), b->completed_in);
      });
    }
  }

  std::optional<GrantOrder> of(const sim::Operation* write) const {
    if (write == nullptr) return std::nullopt;
    const auto list = acquires_.find(write->process);
    if (list == acquires_.end()) return std::nullopt;
    const auto after = std::upper_bound(list->second.begin(), list->second.end(), write,
                                        [](const sim::Operation* w, const sim::Operation* acquire) {
                                          // Of two moments of one process that are equal, its steps say which came
                                          // first.
                                          const auto order = compare(w->invoked, acquire->completed);
                                          return order < 0 || (order == 0 && w->invoked_in < acquire->completed_in);
                                        });
    if (after == list->second.begin()) return std::nullopt;
    const GrantOrder order = order_[(*std::prev(after))->id];
    return order == 0 ? std::nullopt : std::optional(order);
  }

 private:
  std::vector<GrantOrder> order_;  ///< by operation; 0: it wrote nothing at a lock server
  std::map<sim::ProcessId, std::vector<const sim::Operation*>> acquires_;
};

/// The newest writes that one object has seen, by each way of comparing.
struct Newest {
  Write by_token;                ///< among those with a token
  Write by_grant;                ///< among all with a grant
  Write by_grant_without_token;  ///< among those with a grant and no token

  /// The write that this one should not have come after; null effect if there is none.
  Write newer_than(const Write& write) const {
    const auto newer_grant = [&write](const Write& w) {
      return w.effect != nullptr && write.grant && *w.grant > *write.grant;
    };
    if (!write.effect->token) return newer_grant(by_grant) ? by_grant : Write{};
    if (by_token.effect != nullptr && *by_token.effect->token > *write.effect->token) return by_token;
    return newer_grant(by_grant_without_token) ? by_grant_without_token : Write{};
  }

  void add(const Write& write) {
    const auto keep_newer_grant = [&write](Write& newest) {
      if (write.grant && (newest.effect == nullptr || *write.grant > *newest.grant)) newest = write;
    };
    keep_newer_grant(by_grant);
    if (!write.effect->token) {
      keep_newer_grant(by_grant_without_token);
    } else if (by_token.effect == nullptr || *write.effect->token > *by_token.effect->token) {
      by_token = write;
    }
  }
};

Finding violated(const Write& newer, const Write& late, const Names& names) {
  sim::invariant(newer.effect->server == late.effect->server && newer.effect->object == late.effect->object,
                 "both writes are on one object");
  Finding finding{.property = kFencing, .view = View::damage, .verdict = Verdict::violated};
  finding.by = {late.effect->by, newer.effect->by};
  finding.at = late.effect->at;
  finding.evidence = sorted_evidence({newer.effect->step, late.effect->step});
  const std::string late_name = name_of(names, late.effect->by);
  const std::string newer_name = name_of(names, newer.effect->by);
  if (newer.effect->token && late.effect->token) {
    finding.why = fmt::format("{}'s write with token {} was applied at {}, after {}'s with token {} at {}", late_name,
                              *late.effect->token, time_text(late.effect->at), newer_name, *newer.effect->token,
                              time_text(newer.effect->at));
  } else {
    finding.why = fmt::format("{}'s write was applied at {}, after that at {} of {}, who was granted the lock later",
                              late_name, time_text(late.effect->at), time_text(newer.effect->at), newer_name);
  }
  return finding;
}

}  // namespace

Finding fencing(const sim::History& history, const Names& names, std::span<const sim::ProcessId> resources) {
  Finding finding{.property = kFencing, .view = View::damage, .verdict = Verdict::not_judged};
  if (resources.empty()) {
    finding.why = "no resource in this story";
    return finding;
  }
  const Grants grants(history, resources);
  std::map<std::pair<sim::ProcessId, std::string_view>, Newest> objects;
  std::size_t applied = 0;
  std::size_t refused = 0;
  std::size_t left_out = 0;
  for (const sim::Effect& effect : history.effects) {
    if (!is_resource(resources, effect.server)) continue;
    if (effect.kind == sim::Effect::Kind::reject) ++refused;
    if (effect.kind != sim::Effect::Kind::write) continue;
    const Write write{&effect, grants.of(find_operation(history, effect.operation))};
    Newest& newest = objects[{effect.server, effect.object}];
    if (const Write newer = newest.newer_than(write); newer.effect != nullptr) return violated(newer, write, names);
    newest.add(write);
    ++(effect.token || write.grant ? applied : left_out);
  }
  finding.verdict = applied == 0 ? Verdict::not_judged : Verdict::holds;
  finding.why = applied == 0 ? "no write under any grant was applied"
                             : counted(applied, "write", "writes") + " applied, never back to an older grant";
  if (refused != 0) finding.why += fmt::format("; {} refused", refused);
  if (left_out != 0) finding.why += fmt::format("; {} outside any hold", left_out);
  return finding;
}

Property entries::fencing() {
  return {.name = "fencing",
          .view = View::damage,
          .meaning = "The resource never applies a write of an older grant after one of a newer grant.",
          .meaning_zh = "资源在应用了较新持锁者的写入之后，绝不再应用较旧持锁者的写入。",
          .question = "Did a write of an older grant come after one of a newer?",
          .is_seen =
              [](const OrderedHistory& history) {
                return std::any_of(history.effects.begin(), history.effects.end(), [&](const sim::Effect& effect) {
                  if (effect.kind != sim::Effect::Kind::write || !is_resource(history.resources, effect.server))
                    return false;
                  const sim::Operation* operation = find_operation(history.operations, effect.operation);
                  return effect.token || (operation != nullptr && operation->of != 0);
                });
              },
          .unseen = "no write under any grant was applied",
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return !story.has_resource ? "no resource in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::fencing(run.story, run.names, run.resources); },
          .headline = [](const BothLanguages& by, std::size_t) -> BothLanguages {
            return {"A stale write gets through: " + by.en, "过期的写入得逞：" + by.zh};
          }};
}

}  // namespace lockstep::checker
