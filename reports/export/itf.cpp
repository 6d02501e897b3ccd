#include "reports/export/itf.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/export/causality.hpp"
#include "reports/json/json.hpp"
#include "reports/run/events.hpp"
#include "reports/run/lane_state.hpp"
#include "reports/text/local_time.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::ProcessId;

Json itf_integer(std::int64_t n) { return {{"#bigint", std::to_string(n)}}; }

/// A function, as pairs of argument and value. Arguments are written as they are: made printable, two of them could
/// become one.
class ItfMap {
 public:
  void add(const std::string& key, Json value) { pairs_.push_back(Json::array({key, std::move(value)})); }
  Json written() const { return {{"#map", pairs_}}; }

 private:
  Json pairs_ = Json::array();
};

Json itf_set(const std::vector<std::string>& names) { return {{"#set", names}}; }

class ItfTracer {
 public:
  explicit ItfTracer(const Story& story)
      : story_(story), outcome_(story.outcome), states_(story), local_(story.outcome) {
    for (const std::string& lock : scenarios::lock_keys(story.scenario)) locks_.insert(lock);
    for (const auto& hold : states_.holds()) locks_.insert(std::string(hold.object));
    for (std::size_t i = 0; i < outcome_.lanes.size(); ++i) {
      const bool is_probe = outcome_.lanes[i].role == Lane::Role::probe;
      if (!is_probe || shows_probe(outcome_)) lanes_.push_back(ProcessId{static_cast<std::uint16_t>(i)});
    }
  }

  std::string written() {
    add_state(0, sim::Instant::origin(), "", "the beginning");
    const Causality causality = causality_of(story_);
    for (std::size_t i = 0; i < causality.events.size();) {
      const CausalEvent& first = causality.events[i];
      std::string text;
      for (; i < causality.events.size() && causality.events[i].step == first.step; ++i)
        text += (text.empty() ? "" : "; ") + causality.events[i].text;
      add_state(first.step, first.at, name(first.process), text);
    }
    Json document;
    document["#meta"] = meta();
    document["vars"] = Json::array({"step", "time_ns", "process", "event", "believes", "keys", "status", "clock_ns"});
    document["states"] = std::move(json_);
    return document.dump(1) + "\n";
  }

 private:
  Json meta() const {
    return {{"format", "ITF"},
            {"format-description", "https://apalache-mc.org/docs/adr/015adr-trace.html"},
            {"source", printable(story_.scenario.file)},
            {"description", printable("Lockstep: " + story_.scenario.title.en)},
            {"varTypes",
             {{"step", "Int"},
              {"time_ns", "Int"},
              {"process", "Str"},
              {"event", "Str"},
              {"believes", "Str -> Set(Str)"},
              {"keys", "Str -> (Str -> { type: Str, text: Str, has_expiry: Bool, expires_ns: Int })"},
              {"status", "Str -> Str"},
              {"clock_ns", "Str -> Int"}}}};
  }

  std::string name(ProcessId process) const { return printable(name_of(outcome_, process)); }

  void add_state(sim::Step step, sim::Instant at, const std::string& process, const std::string& event) {
    const Moment moment{at, step};
    take_key_states(step);
    Json state;
    state["#meta"] = {{"index", json_.size()}};
    state["step"] = itf_integer(step);
    state["time_ns"] = itf_integer(at.offset().count_ns());
    state["process"] = process;
    state["event"] = event;
    state["believes"] = believes(moment);
    state["keys"] = keys();
    ItfMap status;
    ItfMap clocks;
    for (const ProcessId lane : lanes_) {
      status.add(name(lane), status_of(lane, moment));
      clocks.add(name(lane), itf_integer(local_.reading(lane, at).offset().count_ns()));
    }
    state["status"] = status.written();
    state["clock_ns"] = clocks.written();
    json_.push_back(std::move(state));
  }

  std::string_view status_of(ProcessId process, Moment moment) const {
    if (states_.is_dead(process, moment)) return "dead";
    return states_.is_paused(process, moment) ? "paused" : "runs";
  }

  Json believes(Moment moment) const {
    ItfMap believes;
    for (const std::string& lock : locks_) {
      std::set<ProcessId> holders;
      for (const auto& hold : states_.holds()) {
        if (hold.object == lock && LaneStates::covers(hold, moment)) holders.insert(hold.process);
      }
      std::vector<std::string> names;
      for (const ProcessId holder : holders) {
        if (std::find(lanes_.begin(), lanes_.end(), holder) != lanes_.end()) names.push_back(name(holder));
      }
      believes.add(lock, itf_set(names));
    }
    return believes.written();
  }

  /// Up to this step.
  void take_key_states(sim::Step step) {
    for (; next_ < outcome_.key_states.size() && outcome_.key_states[next_].step <= step; ++next_) {
      const scenarios::KeyState& state = outcome_.key_states[next_];
      if (state.type.empty()) {
        held_[state.server].erase(state.key);
      } else {
        held_[state.server][state.key] = &state;
      }
    }
  }

  Json keys() const {
    ItfMap servers;
    for (const ProcessId lane : lanes_) {
      if (outcome_.lanes[lane.index].role != Lane::Role::server) continue;
      ItfMap own;
      if (const auto found = held_.find(lane); found != held_.end()) {
        for (const auto& [key, state] : found->second) own.add(key, json_of_key(*state));
      }
      servers.add(name(lane), own.written());
    }
    return servers.written();
  }

  static Json json_of_key(const scenarios::KeyState& state) {
    return {{"type", state.type},
            {"text", printable(state.text)},
            {"has_expiry", state.expires.has_value()},
            {"expires_ns", itf_integer(state.expires ? state.expires->offset().count_ns() : 0)}};
  }

  const Story& story_;
  const scenarios::Outcome& outcome_;
  LaneStates states_;
  LocalTimes local_;
  std::set<std::string> locks_;
  std::vector<ProcessId> lanes_;
  std::size_t next_ = 0;
  std::map<ProcessId, std::map<std::string, const scenarios::KeyState*>> held_;
  Json json_ = Json::array();
};

}  // namespace

std::string itf_trace(const Story& story) { return ItfTracer(story).written(); }

}  // namespace lockstep::reports
