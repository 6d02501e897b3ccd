#include "models/client/latch.hpp"

#include <algorithm>

namespace lockstep::models {

Patience::Patience(Client& client, std::optional<sim::Duration> length, Patience* outer)
    : client_(client), outer_(outer) {
  if (outer != nullptr) {
    outer->inner_ = this;
    is_over_ = outer->is_over_;
  }
  if (!length || *length >= sim::Duration::forever()) return;
  is_over_ = is_over_ || *length <= sim::Duration::zero();
  if (is_over_) return;
  const sim::Duration true_length = client.clock().true_length(*length);
  // A sleep and no timeout: nothing was asked of anybody.
  timer_ =
      client.world().set_timer(client.id(), sim::DurationRange::exactly(true_length), sim::TimerKind::sleep, *this);
}

void Patience::timer_fired() {
  timer_ = {};
  end();
}

Patience::~Patience() {
  if (outer_ != nullptr) outer_->inner_ = nullptr;
  client_.world().cancel_timer(timer_);
}

void Patience::end() {
  is_over_ = true;
  if (inner_ != nullptr) inner_->end();
  if (waiter_ != nullptr) waiter_->give_up();
}

void Latch::release() {
  if (waiters_.empty()) {
    ++permits_;
    return;
  }
  PermitWait* next = waiters_.front();
  next->withdraw();
  next->got_ = true;
  next->wake();
}

PermitWait Latch::acquire(Client& client, PermitLimits limits) { return PermitWait(client, *this, limits); }

PermitWait::~PermitWait() {
  withdraw();
  client_.world().cancel_timer(timer_);
}

void PermitWait::withdraw() {
  if (!is_waiting_) return;
  is_waiting_ = false;
  if (limits_.patience != nullptr) limits_.patience->waiter_ = nullptr;
  latch_.waiters_.erase(std::find(latch_.waiters_.begin(), latch_.waiters_.end(), this));
}

bool PermitWait::await_ready() {
  if (latch_.permits_ > 0) {
    --latch_.permits_;
    got_ = true;
    return true;
  }
  const bool has_no_time = limits_.timeout && *limits_.timeout <= sim::Duration::zero();
  return has_no_time || (limits_.patience != nullptr && limits_.patience->is_over());
}

void PermitWait::await_suspend(std::coroutine_handle<> program) {
  program_ = program;
  is_waiting_ = true;
  latch_.waiters_.push_back(this);
  if (limits_.patience != nullptr) limits_.patience->waiter_ = this;
  sim::World& world = client_.world();
  begin_ = world.now();
  if (limits_.after) {
    timer_ = world.set_timer_after(client_.id(), limits_.after->moment, limits_.after->delay, limits_.kind, *this);
  } else if (limits_.timeout) {
    const sim::Duration length = client_.clock().true_length(*limits_.timeout);
    timer_ = world.set_timer(client_.id(), sim::DurationRange::exactly(length), limits_.kind, *this);
  }
}

void PermitWait::timer_fired() {
  timer_ = {};
  sim::World& world = client_.world();
  // At a moment that is known it ends exactly then.
  if (limits_.after && !limits_.after->delay.is_exact())
    world.note_approximation(sim::WholeUnits{begin_, world.now(), limits_.after->unit, limits_.after->rounded});
  give_up();
}

void PermitWait::give_up() {
  withdraw();
  wake();
}

void PermitWait::wake() {
  client_.world().cancel_timer(timer_);
  timer_ = {};
  client_.executor().make_ready(program_);
}

}  // namespace lockstep::models
