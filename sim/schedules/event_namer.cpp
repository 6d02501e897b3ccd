#include "sim/schedules/event_namer.hpp"

namespace lockstep::sim {
namespace {

using What = EventName::What;

What what_of(TimerKind kind) {
  switch (kind) {
    case TimerKind::sleep: return What::sleep;
    case TimerKind::work: return What::work;
    case TimerKind::timeout: return What::timeout;
    case TimerKind::deadline: return What::deadline;
    case TimerKind::tick: return What::tick;
  }
  return What::sleep;
}

}  // namespace

std::string_view to_string(EventName::What what) {
  switch (what) {
    case What::request: return "";
    case What::reply: return "reply";
    case What::reset: return "reset";
    case What::timeout: return "timeout";
    case What::start: return "start";
    case What::work: return "work";
    case What::sleep: return "sleep";
    case What::deadline: return "deadline";
    case What::tick: return "tick";
    case What::fault: break;
  }
  return name_of(EventName::fault_of(what));
}

std::int64_t EventNamer::count(What what, ProcessId process, const std::string& step, ProcessId server) {
  return ++counts_[{what, process, step, server}];
}

std::optional<EventName> EventNamer::name(const Event& event) {
  EventName name;
  if (event.kind != EventKind::message) {
    name.process = event.process;
    switch (event.kind) {
      case EventKind::start: name.what = What::start; break;
      case EventKind::timer: name.what = what_of(event.timer_kind); break;
      default: name.what = EventName::of(event.fault->kind); break;
    }
    if (name.what == What::timeout) {
      // A call sends its request and then sets its timeout.
      const auto request = latest_.find(event.process);
      if (request == latest_.end()) return std::nullopt;
      name = request->second;
      name.what = What::timeout;
      return name;
    }
    name.occurrence = count(name.what, name.process, "", {});
    return name;
  }

  // What comes without being asked for is called as a request of whoever sent it.
  const std::pair call{event.message->call.slot, event.message->call.generation};
  if ((event.message->is_reply && !event.message->is_push) || event.bounced) {
    const auto request = calls_.find(call);
    if (call.second == 0 || request == calls_.end()) return std::nullopt;
    name = request->second;
    name.what = event.bounced ? What::reset : What::reply;
    return name;
  }
  name.what = What::request;
  name.process = event.from;
  name.step = event.message->name();
  name.server = event.process;
  name.occurrence = count(What::request, name.process, name.step, {});
  name.occurrence_at_server = count(What::request, name.process, name.step, name.server);
  if (call.second != 0) calls_[call] = name;
  latest_[event.from] = name;
  return name;
}

void EventNamer::restart() {
  counts_.clear();
  calls_.clear();
  latest_.clear();
}

}  // namespace lockstep::sim
