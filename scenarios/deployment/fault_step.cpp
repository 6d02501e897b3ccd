#include "scenarios/deployment/fault_step.hpp"

namespace lockstep::scenarios {

std::string fault_step(const sim::World& world, const sim::Event& event) {
  switch (event.kind) {
    case sim::EventKind::start: return "start";
    case sim::EventKind::fault: return "";
    case sim::EventKind::timer:
      // What the process of an earlier life had set does nothing.
      if (event.incarnation != world.state(event.process).incarnation) return "";
      switch (event.timer_kind) {
        case sim::TimerKind::sleep: return "sleep";
        case sim::TimerKind::tick: return "tick";
        case sim::TimerKind::work: return "work";
        case sim::TimerKind::timeout:
        case sim::TimerKind::deadline: return "timeout";
      }
      return "";
    case sim::EventKind::message: break;
  }
  const std::string name(event.message->name());
  if (!event.message->is_reply && !event.bounced) return world.name(event.from) + "." + name;
  if (event.message->is_push && !event.bounced) return world.is_heard(event) ? name : "";
  if (!world.is_awaited(event.message->call)) return "";
  return event.bounced ? "reset" : name;
}

}  // namespace lockstep::scenarios
