#include "checker/properties/damage/no_lost_update.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory_resource>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using sim::Effect;
using Kind = sim::Effect::Kind;

struct LostUpdate {
  const Effect* read = nullptr;
  const Effect* lost = nullptr;
  const Effect* update = nullptr;  ///< it overwrites the lost one, and is by whoever had read before that
};

struct LatestRead {
  const Effect* effect = nullptr;
  std::size_t writes_before = 0;  ///< moves on over the reader's own writes
};

struct Object {
  using allocator_type = std::pmr::polymorphic_allocator<std::byte>;
  explicit Object(allocator_type memory) : writes(memory), latest_read(memory) {}

  std::pmr::vector<const Effect*> writes;
  std::pmr::map<sim::ProcessId, LatestRead> latest_read;
};

struct Updates {
  std::size_t after_a_read = 0;
  std::vector<LostUpdate> lost;  ///< in the servers' order of the update that overwrites
};

/// The first write by somebody else since this reader's latest read; null if there is none.
const Effect* unseen_write(const Object& object, LatestRead& read, sim::ProcessId reader) {
  while (read.writes_before < object.writes.size()) {
    if (object.writes[read.writes_before]->by != reader) return object.writes[read.writes_before];
    ++read.writes_before;
  }
  return nullptr;
}

Updates updates(const OrderedHistory& history) {
  Updates updates;
  if (history.resources.empty()) return updates;
  // The search asks at the end of every trace.
  std::array<std::byte, 4 * 1024> room;
  std::pmr::monotonic_buffer_resource memory{room.data(), room.size()};
  std::pmr::map<std::pair<sim::ProcessId, std::string_view>, Object> objects{&memory};
  for (const Effect& effect : history.effects) {
    if (effect.kind != Kind::read && effect.kind != Kind::write) continue;
    if (!is_resource(history.resources, effect.server)) continue;
    Object& object = objects[{effect.server, effect.object}];
    if (effect.kind == Kind::read) {
      object.latest_read[effect.by] = {&effect, object.writes.size()};
      continue;
    }
    const auto read = object.latest_read.find(effect.by);
    const sim::Operation* operation = find_operation(history.operations, effect.operation);
    if (operation != nullptr && operation->function == "write" && read != object.latest_read.end()) {
      ++updates.after_a_read;
      if (const Effect* lost = unseen_write(object, read->second, effect.by)) {
        sim::invariant(lost->by != effect.by && lost->step >= read->second.effect->step,
                       "what is lost is somebody else's, and came after what was read");
        updates.lost.push_back({read->second.effect, lost, &effect});
      }
    }
    object.writes.push_back(&effect);
  }
  return updates;
}

}  // namespace

Finding no_lost_update(const sim::History& history, const Names& names, std::span<const sim::ProcessId> resources) {
  Finding finding{.property = "no-lost-update", .view = View::damage, .verdict = Verdict::not_judged};
  if (resources.empty()) {
    finding.why = "no resource in this story";
    return finding;
  }
  const Updates found = updates(OrderedHistory::all_of(history, resources));
  if (!found.lost.empty()) {
    const auto& [read, lost, update] = found.lost.front();
    finding.verdict = Verdict::violated;
    finding.by = {update->by, lost->by};
    finding.at = update->at;
    finding.evidence = sorted_evidence({read->step, lost->step, update->step});
    finding.why = fmt::format("{}'s update at {} is lost: {} had read {} at {}, before it, and overwrote it at {}",
                              name_of(names, lost->by), time_text(lost->at), name_of(names, update->by), update->object,
                              time_text(read->at), time_text(update->at));
    return finding;
  }
  if (found.after_a_read == 0) {
    finding.why = "nothing was read and then written";
    return finding;
  }
  finding.verdict = Verdict::holds;
  finding.why = counted(found.after_a_read, "update", "updates") + " after a read, none lost";
  return finding;
}

std::vector<Breach> lost_updates(const OrderedHistory& history) {
  std::vector<Breach> breaches;
  for (const LostUpdate& found : updates(history).lost) {
    breaches.push_back({.property = "no-lost-update",
                        .by = {found.update->by, found.lost->by},
                        .operation = found.update->operation,
                        .at = found.update->at,
                        .step = found.update->step});
  }
  return breaches;
}

Property entries::no_lost_update() {
  return {.name = "no-lost-update",
          .view = View::damage,
          .meaning = "Nobody overwrites an update of the resource that he has not seen.",
          .meaning_zh = "没有人会覆盖资源上自己未曾读到的更新。",
          .question = "Did somebody overwrite an update that he had not seen?",
          .is_seen = [](const OrderedHistory& history) { return updates(history).after_a_read > 0; },
          .unseen = "nothing was read and then written",
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return !story.has_resource ? "no resource in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::no_lost_update(run.story, run.names, run.resources); },
          .breaches = lost_updates,
          .headline = [](const BothLanguages& by, std::size_t) -> BothLanguages {
            return {"An update is lost: " + by.en, "更新丢失：" + by.zh};
          }};
}

}  // namespace lockstep::checker
