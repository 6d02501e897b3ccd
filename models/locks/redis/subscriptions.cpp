#include "models/locks/redis/subscriptions.hpp"

#include <algorithm>

#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

PermitLimits while_leased(const redis::Reply& pttl, Client& client, std::optional<std::size_t> server,
                          Patience& patience) {
  PermitLimits limits{.patience = &patience};
  const sim::Duration unit = sim::Duration::milliseconds(1);
  if (!pttl.is_time_left()) {
    if (pttl.integer() >= 0) limits.timeout = pttl.duration(unit).lo;
    return limits;
  }
  const redis::TimeLeft& left = pttl.remaining();
  sim::World& world = client.world();
  const bool is_known = left.longest != sim::Duration::forever();
  // A script calculated it, from readings of any clock: it may be over.
  if (!is_known && pttl.is_less_than(0)) return limits;
  const sim::WholeUnits::Length rounded{left.now, left.deadline};
  // A number of the unit of `pttl`, and the client waits as many milliseconds on its own clock.
  const auto longest_on_clock = [&] { return unit * ((left.longest + left.unit).count_ns() / left.unit.count_ns()); };
  const sim::Duration longest = is_known ? client.clock().true_length(longest_on_clock()) : left.longest;
  const bool is_of_true_time =
      left.deadline.scale() == 0 && left.now.scale() == 0 && client.clock().drift_ppb() == 0 && left.unit == unit;
  if (!is_of_true_time) {
    limits.after = PermitLimits::After{world.now(), {sim::Duration::zero(), longest}, unit};
  } else if (server && is_known) {
    // From the deadline to the end of the wait it is as long as the answer travelled, but for rounding: longer than the
    // network takes, if it was delayed, or a pause held it up at one of its ends. The reading of the server's clock
    // differs from true time by what the present one does.
    const sim::DurationRange usual = world.latency_of(redis::servers_of(client)[*server].id());
    const sim::DurationRange travel = world.apart(world.now(), left.now - left.now.offset(), usual);
    limits.after = PermitLimits::After{left.deadline - left.now.offset(), {travel.lo - unit, travel.hi}, unit, rounded};
  } else {
    limits.after = PermitLimits::After{
        world.sum(world.now(), left.deadline, left.now), {-unit, sim::Duration::zero()}, unit, rounded};
  }
  return limits;
}

Subscriptions::Channel* Subscriptions::find(std::size_t server, const Value& name) {
  for (Channel& channel : channels_) {
    if (channel.server == server && channel.name == name) return &channel;
  }
  return nullptr;
}

sim::Task<Subscriptions::Channel*> Subscriptions::join(Client& thread, std::size_t server, Value name,
                                                       Patience& patience) {
  Channel* channel = find(server, name);
  if (channel == nullptr) {
    channel = &channels_.emplace_back();
    channel->server = server;
    channel->name = name;
  }
  if (++channel->users > 1) {
    if (!channel->is_ready) co_await channel->ready.acquire(thread, {.patience = &patience});
    if (channel->is_ready) co_return channel;
    abandon(*channel);
    co_return nullptr;
  }

  Client& process = thread.process();
  if (std::find(listening_.begin(), listening_.end(), server) == listening_.end()) {
    listening_.push_back(server);
    process.spawn(listen(process, server));
  }
  const redis::Reply reply = co_await redis::subscriber_of(process, server).subscribe(name);
  channel->is_ready = reply.is_array();
  for (std::size_t i = channel->ready.waiting(); i > 0; --i) channel->ready.release();
  if (channel->is_ready) co_return channel;
  abandon(*channel);
  co_return nullptr;
}

void Subscriptions::abandon(Channel& channel) {
  if (--channel.users > 0) return;
  channels_.remove_if([&](const Channel& known) { return &known == &channel; });
}

void Subscriptions::leave(Client& thread, Channel& channel) {
  // Nobody waits for the answer.
  if (channel.users == 1) thread.process().spawn(unsubscribe(thread.process(), channel.server, channel.name));
  abandon(channel);
}

sim::Task<void> Subscriptions::unsubscribe(Client& process, std::size_t server, Value name) {
  co_await redis::subscriber_of(process, server).unsubscribe(name);
}

sim::Task<void> Subscriptions::listen(Client& process, std::size_t server) {
  while (true) {
    const std::optional<redis::Reply> message =
        co_await redis::subscriber_of(process, server).next_message(std::nullopt);
    if (message->is_unknown()) {
      // The connection is gone, and with it the subscriptions. A library subscribes anew; what was published meanwhile
      // is lost.
      std::vector<Value> lost;
      for (const Channel& channel : channels_) {
        if (channel.server == server) lost.push_back(channel.name);
      }
      for (const Value& name : lost) co_await redis::subscriber_of(process, server).subscribe(name);
      continue;
    }
    const std::vector<redis::Reply>& items = message->items();
    Channel* channel = find(server, items[1].value());
    if (channel == nullptr) continue;
    // One permit for one waiter; or as many as there are waiters just now.
    const std::size_t permits = items[2].value() == Value(kWakeAll) ? channel->message.waiting() : 1;
    for (std::size_t i = 0; i < permits; ++i) channel->message.release();
  }
}

}  // namespace lockstep::models::locks
