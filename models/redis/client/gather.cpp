#include "models/redis/client/gather.hpp"

#include <bit>
#include <cassert>

namespace lockstep::models::redis {
namespace {

std::size_t size_of(std::uint64_t set) { return static_cast<std::size_t>(std::popcount(set)); }

/// The place of one answer in its client's state.
std::uint64_t part_of(sim::CallRef call) { return std::uint64_t{call.slot} << 32 | call.generation; }

}  // namespace

std::size_t Votes::count() const { return size_of(yes); }

Gather::Gather(std::span<Connection> servers, std::uint64_t whom, Command command, Rule rule)
    : servers_(servers), command_(std::move(command)), rule_(rule), asked_(whom) {
  assert(servers.size() <= kMaxServers && "a set of servers has 64 places");
  if (servers.size() < kMaxServers) asked_ &= (std::uint64_t{1} << servers.size()) - 1;
}

void Gather::ask(std::coroutine_handle<> program, const sim::CodeFrame* frame) {
  program_ = program;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if ((asked_ >> i & 1) == 0) continue;
    const Connection& server = servers_[i];
    sim::World& world = server.client_->world();
    Branch& branch = branches_[i];
    branch.gather = this;
    branch.bit = std::uint64_t{1} << i;
    branch.call = world.open_call(branch, server.client_->id());
    if (open_ == 0) question_ = part_of(branch.call);
    open_ |= branch.bit;
    auto request = world.make<Request>(command_);
    request->operation = server.session_->operation;
    request->call = branch.call;
    world.note_origin(*request, frame);
    world.send_request(server.id(), std::move(request));
  }
  if (!rule_.timeout) return;
  sim::Process& client = *servers_.front().client_;
  timer_ = client.world().set_timer(client.id(), sim::DurationRange::exactly(*rule_.timeout), sim::TimerKind::timeout,
                                    *this);
}

Votes Gather::await_resume() {
  if (votes_.answered != asked_) servers_.front().session_->missed_reply = true;
  return votes_;
}

void Gather::Branch::reply_arrived(sim::Message& reply) {
  gather->describe(*this);
  const Reply& content = static_cast<Response&>(reply).content;
  if (!content.is_unknown()) {
    gather->votes_.answered |= bit;
    if (gather->rule_.is_yes(content)) gather->votes_.yes |= bit;
  }
  gather->settle(*this);
}

void Gather::Branch::connection_lost() {
  gather->describe(*this);
  gather->settle(*this);
}

/// An answer among others fills its own place, in whatever order they come. The last one lets the program go on, so it
/// comes after all of them; and the last but one makes the last one what it is, so it changes that one's place, too.
/// Who need not wait for all may be decided by any of them: then each of them counts as the last. The argument is in
/// docs/exploring.md.
void Gather::describe(const Branch& arrived) const {
  sim::World& world = servers_.front().client_->world();
  const std::uint64_t others = open_ & ~arrived.bit;
  if (!rule_.enough) world.count_answer(question_);
  if (others == 0 || rule_.enough) {
    world.access_all();
    return;
  }
  world.access(part_of(arrived.call), true);
  if (size_of(others) == 1) {
    world.access(part_of(branches_[static_cast<std::size_t>(std::countr_zero(others))].call), true);
  }
}

void Gather::timer_fired() {
  timer_ = {};
  finish();
}

void Gather::settle(Branch& branch) {
  // The world has closed the call already.
  branch.call = {};
  open_ &= ~branch.bit;
  if (open_ == 0 || is_decided()) finish();
}

bool Gather::is_decided() const {
  if (!rule_.enough) return false;
  return votes_.count() >= *rule_.enough || votes_.count() + size_of(open_) < *rule_.enough;
}

void Gather::finish() {
  sim::Process& client = *servers_.front().client_;
  withdraw();
  client.executor().make_ready(program_);
}

/// Nobody listens any more.
void Gather::withdraw() {
  if (asked_ == 0) return;
  sim::World& world = servers_.front().client_->world();
  for (; open_ != 0; open_ &= open_ - 1) {
    Branch& branch = branches_[static_cast<std::size_t>(std::countr_zero(open_))];
    world.close_call(branch.call);
    branch.call = {};
  }
  world.cancel_timer(timer_);
  timer_ = {};
}

}  // namespace lockstep::models::redis
