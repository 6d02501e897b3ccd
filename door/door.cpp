#include "door/door.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::door {

Door::~Door() = default;

VisitId Door::open(sim::ProcessId server) {
  VisitId id = 0;
  while (id < visits_.size() &&
         (visits_[id]->state != Visit::State::free || world().server_of(visits_[id]->connection) != server))
    ++id;
  if (id == visits_.size()) {
    const sim::ConnectionId connection = world().connect(this->id(), server, {});
    visits_.push_back(make_visit(connection));
    if (visit_of_.size() <= connection.index) visit_of_.resize(connection.index + 1);
    visit_of_[connection.index] = id;
  }
  Visit& visit = *visits_[id];
  visit.output.clear();
  // A server that is down lets nobody in.
  visit.is_over = !world().state(server).alive;
  visit.life = world().state(server).incarnation;
  visit.state = Visit::State::open;
  visit.begin();
  return id;
}

void Door::feed(VisitId id, std::string_view bytes) {
  Visit& visit = *visits_[id];
  if (visit.is_over) return;
  visit.take(bytes);
  count_unfinished(visit);
  if (unfinished_ > limits_.unfinished_bytes) {
    Visit& greediest = **std::max_element(visits_.begin(), visits_.end(),
                                          [](const auto& a, const auto& b) { return a->unfinished < b->unfinished; });
    greediest.is_over = true;
    greediest.forget_input();
    count_unfinished(greediest);
  }
  // Also one that waits for a reply: if it has it when its turn comes, it takes it.
  make_ready(visit);
}

void Door::hang_up(VisitId id) {
  Visit& visit = *visits_[id];
  visit.abandon();
  visit.state = Visit::State::hung_up;
  visit.output = std::string();  // with its memory, which may be much
  visit.forget_input();
  count_unfinished(visit);
  make_ready(visit);
}

void Door::notice_ends() {
  for (const auto& visit : visits_) {
    if (visit->state != Visit::State::open || visit->is_over) continue;
    const bool has_crashed = world().state(world().server_of(visit->connection)).incarnation != visit->life;
    visit->is_over = has_crashed || visit->has_ended();
  }
}

bool Door::wants_input(VisitId id) const {
  const Visit& visit = *visits_[id];
  return !visit.is_over && (!visit.is_waiting() || visit.bytes_ahead() < limits_.read_ahead_bytes);
}

void Door::make_ready(Visit& visit) {
  if (visit.is_ready) return;
  visit.is_ready = true;
  ready_.push_back(id_of(visit));
}

void Door::start() {
  if (!is_present_) {
    is_present_ = true;
    world().set_timer(id(), sim::DurationRange::exactly(sim::Duration::forever()), sim::TimerKind::sleep, presence_);
  }
  if (!has_work()) return;
  const bool has_bytes = !ready_.empty();
  std::deque<VisitId>& row = has_bytes ? ready_ : released_;
  Visit& visit = *visits_[row.front()];
  row.pop_front();
  (has_bytes ? visit.is_ready : visit.is_released) = false;
  served_ = &visit;
  serve(visit);
}

void Door::serve(Visit& visit) {
  if (visit.state == Visit::State::hung_up) {
    if (visit.call.generation != 0) world().close_call(std::exchange(visit.call, {}));
    visit.leave();
  } else {
    visit.serve();
    count_unfinished(visit);
  }
}

void Door::count_unfinished(Visit& visit) {
  const std::size_t now = visit.bytes_unfinished();
  unfinished_ += now - std::exchange(visit.unfinished, now);
}

void Door::notified(sim::Message& message, sim::ConnectionId connection) {
  Visit& visit = *visits_[visit_of_[connection.index]];
  if (visit.state == Visit::State::open && !visit.is_over) visit.hear(message);
}

void Door::Visit::send(sim::MessagePtr request) {
  call = request->call = door.world().open_call(*this, door.id());
  door.world().send_request(connection, std::move(request));
}

void Door::Visit::reply_arrived(sim::Message& message) {
  call = {};
  if (state == State::leaving) state = State::free;
  if (state != State::open) return;
  answer(message);
  go_on();
}

/// What came behind a request that was answered later has its turn when all have had theirs whose bytes are there, in
/// the order in which they were let go first: who is let go twice meanwhile keeps its place.
void Door::Visit::go_on() {
  if (door.served_ == this) {
    door.serve(*this);
  } else if (!std::exchange(is_released, true)) {
    door.released_.push_back(door.id_of(*this));
  }
}

/// The server has crashed: its machine resets the connection.
void Door::Visit::connection_lost() {
  call = {};
  if (state == State::leaving) state = State::free;
  is_over = true;
}

}  // namespace lockstep::door
