#include "models/zookeeper/client/handle.hpp"

#include <algorithm>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::zookeeper {
namespace {

/// A program waits for something that is no reply: it may come from what services do by themselves.
class AwaitedAnswer final : sim::ReplyOwner {
 public:
  explicit AwaitedAnswer(Client& client) : world_(client.world()), call_(world_.open_call(*this, client.id())) {}
  AwaitedAnswer(const AwaitedAnswer&) = delete;
  AwaitedAnswer& operator=(const AwaitedAnswer&) = delete;
  ~AwaitedAnswer() { world_.close_call(call_); }

 private:
  void reply_arrived(sim::Message&) override {}
  void connection_lost() override {}
  sim::World& world_;
  sim::CallRef call_;
};

bool is_set_off(EventType type, Watch::Kind kind) {
  if (type == EventType::node_deleted) return true;
  return (type == EventType::node_children_changed) == (kind == Watch::Kind::child);
}

}  // namespace

sim::Task<bool> Handle::open(Client& client, sim::Duration timeout) {
  users_.insert(client.self().index);
  for (Client* each : {&client, &client.process(), &client.background()}) each->to<Endpoint>().set_listener(*this);
  if (timeout_ == sim::Duration::zero()) timeout_ = timeout;
  co_return co_await connect(client);
}

sim::Task<bool> Handle::connect(Client& client) {
  if (state_ == State::connected) co_return true;
  if (state_ == State::closed || state_ == State::lost) co_return co_await connect_anew(client);
  const AwaitedAnswer waiting(client);
  co_await changed_.acquire(client);
  if (state_ == State::lost) co_return co_await connect_anew(client);
  co_return state_ == State::connected;
}

/// StaticHostProvider: each client has an order of its own, of which nothing is known, and goes round.
void Handle::turn(Client& client) {
  const std::size_t count = client.to<Endpoint>().servers();
  if (count == 1) {
    server_ = 0;
  } else if (!server_) {
    server_ = (client.process().id().index + client.world().choose(sim::Choice::model, count)) % count;
  } else {
    server_ = (*server_ + 1) % count;
  }
}

sim::Task<bool> Handle::connect_anew(Client& client) {
  become(State::connecting);
  const std::size_t count = client.to<Endpoint>().servers();
  std::optional<Told> told;
  for (std::size_t tried = 0; tried < count && !told; ++tried) {
    // A new session may as well be opened where the last one was.
    if (!server_ || tried > 0) turn(client);
    // ClientCnxn's connectTimeout.
    const std::optional<sim::Duration> patience =
        count == 1 ? std::nullopt : std::optional(timeout_ / static_cast<std::int64_t>(count));
    told = co_await client.to<Endpoint>().send({}, Connect{.timeout = timeout_}, patience, *server_);
  }
  if (!told) {
    become(State::closed);
    co_return false;
  }
  on_ = told->on;
  last_zxid_ = 0;
  become(State::connected);
  client.run_in_background(keep_alive(client.background(), on_.session, told->timeout));
  co_return true;
}

sim::Task<std::optional<Answer>> Handle::ask(Client& client, Operation operation) {
  if (!co_await connect(client)) co_return std::nullopt;
  co_return co_await send(client, std::move(operation));
}

sim::Task<std::optional<Answer>> Handle::ask_in(Client& client, SessionId session, Operation operation) {
  if (state_ == State::suspended && on_.session == session) {
    const AwaitedAnswer waiting(client);
    co_await changed_.acquire(client);
  }
  if (on_.session != session || state_ == State::lost || state_ == State::closed)
    co_return Answer{.result = {.error = Error::session_expired}};
  if (state_ != State::connected) co_return std::nullopt;
  co_return co_await send(client, std::move(operation));
}

sim::Task<std::optional<Answer>> Handle::send(Client& client, Operation operation) {
  const ConnectionNumber on = on_;
  std::optional<Told> told = co_await client.to<Endpoint>().send(on, std::move(operation), {}, *server_);
  if (!told) {
    suspend(on);
    co_return std::nullopt;
  }
  if (on_.session == on.session) last_zxid_ = std::max(last_zxid_, told->answer.zxid);
  co_return std::move(told->answer);
}

void Handle::suspend(ConnectionNumber on) {
  if (state_ != State::connected || !(on == on_)) return;
  become(State::suspended);
  to_do_.release();
}

void Handle::become(State state) {
  state_ = state;
  if (state == State::suspended)
    std::erase_if(watches_, [](const auto& watch) { return watch->kept_ == Watch::Kept::on_the_connection; });
  if (state != State::suspended && state != State::connecting) wake_all();
}

void Handle::wake_all() {
  for (std::size_t waiting = changed_.waiting(); waiting > 0; --waiting) changed_.release();
}

// --- What the library does in the background.

sim::Task<void> Handle::keep_alive(Client& background, SessionId session, sim::Duration timeout) {
  const sim::Duration period = timeout / 3;
  while (state_ != State::closed && state_ != State::lost && on_.session == session) {
    if (state_ == State::suspended) {
      co_await reconnect(background, period);
      continue;
    }
    const PermitLimits limits{.timeout = period, .kind = sim::TimerKind::tick};
    if (co_await to_do_.acquire(background, limits)) continue;
    co_await background.step("ping", sim::Moment::before);
    const ConnectionNumber on = on_;
    const std::optional<Told> told = co_await background.to<Endpoint>().send(on, Ping{}, period, *server_);
    if (!told && state_ == State::connected && on == on_) become(State::suspended);
  }
}

sim::Task<void> Handle::reconnect(Client& background, sim::Duration period) {
  const SessionId session = on_.session;
  const std::size_t count = background.to<Endpoint>().servers();
  std::optional<Told> told;
  for (std::size_t tried = 0; tried < count && !told; ++tried) {
    turn(background);
    const Connect asked{.session = session, .seen = count == 1 ? 0 : last_zxid_};
    told = co_await background.to<Endpoint>().send({}, asked, period, *server_);
    if (state_ != State::suspended || on_.session != session) co_return;
  }
  if (!told) {
    // What waits for a connection is told that there is none; the next attempt comes later.
    wake_all();
    const PermitLimits limits{.timeout = period, .kind = sim::TimerKind::tick};
    co_await to_do_.acquire(background, limits);
    co_return;
  }
  if (told->on.session == 0) {
    become(State::lost);
    end_watches();
    co_return;
  }
  on_ = told->on;
  if (!watches_.empty()) co_await set_watches(background);
  if (state_ == State::suspended && on_ == told->on) become(State::connected);
}

sim::Task<void> Handle::set_watches(Client& background) {
  SetWatches asked{.relative_zxid = last_zxid_};
  for (const std::shared_ptr<Watch>& watch : watches_) {
    if (watch->kind_ == Watch::Kind::data) asked.data.push_back(watch->path_);
    if (watch->kind_ == Watch::Kind::exist) asked.exist.push_back(watch->path_);
    if (watch->kind_ == Watch::Kind::child) asked.child.push_back(watch->path_);
  }
  static_cast<void>(co_await background.to<Endpoint>().send(on_, Operation(std::move(asked)), {}, *server_));
}

void Handle::left_by(Client& client) {
  users_.erase(client.self().index);
  if (!users_.empty() || state_ == State::closed) return;
  const bool is_connected = state_ == State::connected;
  become(State::closed);
  end_watches();
  to_do_.release();
  if (is_connected) client.spawn(close_session(client, on_));
}

sim::Task<void> Handle::close_session(Client& client, ConnectionNumber on) {
  static_cast<void>(co_await client.to<Endpoint>().send(on, CloseSession{}, {}, *server_));
}

// --- Watches.

std::shared_ptr<Watch> Handle::watch(Watch::Kind kind, std::string path, Watch::Kept kept) {
  return watches_.emplace_back(std::make_shared<Watch>(kind, std::move(path), kept));
}

sim::Task<bool> Handle::wait_for(Client& client, std::shared_ptr<Watch> watch, Patience& patience) {
  const AwaitedAnswer waiting(client);
  const bool is_over = co_await watch->is_over_.acquire(client, {.patience = &patience});
  std::erase(watches_, watch);
  co_return is_over && watch->event_.has_value();
}

void Handle::notified(const Notification& notification) {
  // What an earlier connection still had to say nobody hears any more.
  if (!(notification.on == on_)) return;
  std::vector<std::shared_ptr<Watch>> waiting;
  for (const std::shared_ptr<Watch>& watch : watches_) {
    const bool is_its = watch->path_ == notification.event.path && is_set_off(notification.event.type, watch->kind_);
    if (!is_its) waiting.push_back(watch);
    if (!is_its) continue;
    watch->event_ = notification.event.type;
    watch->is_over_.release();
  }
  watches_ = std::move(waiting);
}

void Handle::end_watches() {
  for (const std::shared_ptr<Watch>& watch : watches_) watch->is_over_.release();
  watches_.clear();
}

}  // namespace lockstep::models::zookeeper
