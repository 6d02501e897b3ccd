#include "checker/properties/damage/no_lost_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

struct LatestRead {
  const sim::Effect* effect = nullptr;
  std::size_t writes_before = 0;  ///< moves on over the reader's own writes
};

struct Object {
  std::vector<const sim::Effect*> writes;
  std::map<sim::ProcessId, LatestRead> latest_read;
};

/// The first write by somebody else since this reader's latest read; null if there is none.
const sim::Effect* unseen_write(const Object& object, LatestRead& read, sim::ProcessId reader) {
  while (read.writes_before < object.writes.size()) {
    if (object.writes[read.writes_before]->by != reader) return object.writes[read.writes_before];
    ++read.writes_before;
  }
  return nullptr;
}

}  // namespace

Finding no_lost_update(const sim::History& history, const Names& names, std::span<const sim::ProcessId> resources) {
  Finding finding{.property = "no-lost-update", .view = View::damage, .verdict = Verdict::unknown};
  if (resources.empty()) {
    finding.why = "no resource in this story";
    return finding;
  }
  std::map<std::pair<sim::ProcessId, std::string_view>, Object> objects;
  std::size_t updates = 0;
  for (const sim::Effect& effect : history.effects) {
    if (std::find(resources.begin(), resources.end(), effect.server) == resources.end()) continue;
    Object& object = objects[{effect.server, effect.object}];
    if (effect.kind == sim::Effect::Kind::read) object.latest_read[effect.by] = {&effect, object.writes.size()};
    if (effect.kind != sim::Effect::Kind::write) continue;

    const sim::Operation* operation = find_operation(history, effect.operation);
    const auto read = object.latest_read.find(effect.by);
    if (operation != nullptr && operation->function == "write" && read != object.latest_read.end()) {
      ++updates;
      if (const sim::Effect* lost = unseen_write(object, read->second, effect.by)) {
        finding.verdict = Verdict::violated;
        finding.by = {effect.by, lost->by};
        finding.at = effect.at;
        finding.evidence = sorted_evidence({read->second.effect->step, lost->step, effect.step});
        finding.why = fmt::format("{}'s update at {} is lost: {} had read {} at {}, before it, and overwrote it at {}",
                                  name_of(names, lost->by), time_text(lost->at), name_of(names, effect.by),
                                  effect.object, time_text(read->second.effect->at), time_text(effect.at));
        return finding;
      }
    }
    object.writes.push_back(&effect);
  }
  if (updates == 0) {
    finding.verdict = Verdict::unknown;
    finding.why = "nothing was read and then written";
    return finding;
  }
  finding.verdict = Verdict::holds;
  finding.why = counted(updates, "update", "updates") + " after a read, none lost";
  return finding;
}

Property entries::no_lost_update() {
  return {.name = "no-lost-update",
          .view = View::damage,
          .meaning = "Nobody overwrites an update of the resource that he has not seen.",
          .meaning_zh = "没有人会覆盖资源上自己未曾读到的更新。",
          .question = "Did somebody overwrite an update that he had not seen?",
          .why_not_explored = [](const Circumstances& story) -> std::string_view {
            return !story.has_resource ? "no resource in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::no_lost_update(run.story, run.names, run.resources); },
          .headline = [](const BothLanguages& by, std::size_t) -> BothLanguages {
            return {"An update is lost: " + by.en, "更新丢失：" + by.zh};
          }};
}

}  // namespace lockstep::checker
