#pragma once

// A client process: what a lock algorithm's code can see and do.
//
// A process with several threads has one `Client` for each, and one for each background task (a watchdog): they have
// names of their own ("A/1", "A/watchdog") and connections of their own, but share the process's clocks, its fate, and
// its objects (`shared`).

#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/client/endpoint.hpp"
#include "models/client/mode.hpp"
#include "models/client/session.hpp"
#include "models/value.hpp"
#include "sim/coroutines/await.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::models {

/// What all threads of a process share: a lock library's tables. Gone when the process crashes.
class ProcessObject {
 public:
  virtual ~ProcessObject() = default;
};

/// One thread of a client with its connections; most clients have but one, which is the process itself. Its program
/// starts with the process, and again after a restart.
class Client final : public sim::Process {
 public:
  using Program = std::function<sim::Task<void>(Client&)>;

  /// No program: a process whose threads have theirs, or a thread for background tasks.
  explicit Client(Program program = {}) : program_(std::move(program)) {}
  /// A world can end while its programs still wait, on connections that are this client's own.
  ~Client() override { drop_tasks(); }

  // --- Building. Requires: after the client was added to its world, before it starts.

  /// Its endpoint, made when it is first asked for. Requires: it has none of another kind.
  template <class E>
  E& connect() {
    if (endpoint_ == nullptr) endpoint_ = std::make_unique<E>(*this);
    return to<E>();
  }
  /// Servers may send it what is no reply: its endpoints hear of that.
  void expect_unasked() { hears_unasked_ = true; }
  /// Requires: it was added to the world as a part of `process`, which outlives it.
  void become_thread_of(Client& process, std::int64_t thread_id) {
    process_ = &process;
    thread_id_ = thread_id;
  }
  void become_background_of(Client& process) {
    process_ = &process;
    process.background_ = this;
  }
  /// `is_configured`: it keeps it when it comes back after a crash. Else its library makes up another.
  void set_process_name(std::string unique, bool is_configured = false) {
    process_name_ = first_process_name_ = std::move(unique);
    has_configured_name_ = is_configured;
  }
  void set_thread_id(std::int64_t thread_id) { thread_id_ = thread_id; }
  void set_mode(Mode mode) { mode_ = mode; }

  // --- Who it is.

  /// The process that it is, or is a thread of.
  Client& process() { return process_ == nullptr ? *this : *process_; }
  /// What its library took for unique when the process started: its name, unless the deployment gave two processes the
  /// same.
  const std::string& process_name() const { return process_ == nullptr ? process_name_ : process_->process_name_; }
  /// Unique within the process alone.
  std::int64_t thread_id() const { return thread_id_; }
  /// How it wants to take the lock that it asks for.
  Mode mode() const { return mode_; }

  // --- Servers.

  /// Its connections to servers, which are all of one kind: `client.to<redis::Endpoint>()`. Requires: of this one, as
  /// the algorithm's entry says.
  template <class E>
  E& to() {
    static_assert(std::is_final_v<E>, "whether it is one is then a single comparison");
    assert(dynamic_cast<E*>(endpoint_.get()) != nullptr && "connected to no servers, or to some of another kind");
    return static_cast<E&>(*endpoint_);
  }

  /// A value that is unique in this world, also among this client's own: "A-1".
  Value unique_token();

  // --- Waiting.

  /// Waits by its own clock.
  sim::Wait sleep(sim::DurationRange length, sim::TimerKind kind = sim::TimerKind::sleep);
  sim::Wait sleep(sim::Duration length) { return sleep(sim::DurationRange::exactly(length)); }
  /// Sleeps between two looks at something: what happens meanwhile, it does not wait for. The history tells.
  sim::Task<void> doze(sim::DurationRange length, sim::TimerKind kind = sim::TimerKind::sleep);
  sim::Task<void> doze(sim::Duration length) { return doze(sim::DurationRange::exactly(length)); }
  /// Waits by its own clock for the next round of something that repeats for ever: a story does not wait for it.
  sim::Wait tick(sim::Duration length) { return sleep(sim::DurationRange::exactly(length), sim::TimerKind::tick); }
  /// Keeps its processor busy: a pause makes it last longer. Where several threads or background tasks share the
  /// process, the work is done elsewhere (a database, another service) and the client waits for it: a pause matters
  /// only if it covers the end.
  sim::Wait work(sim::DurationRange length);

  /// Are the two strings equal? Timestamps may be symbolic, so this may fork an exploration.
  bool equal(const Value& a, const Value& b) const;

  /// A named step of its program, at which a planned fault can strike: `co_await client.step("release", …)`. Goes on at
  /// once, or when the pause that struck is over; after a crash never.
  class Step;
  Step step(std::string_view name, sim::Moment moment);

  Session& session() { return session_; }

  // --- What the threads of a process share.

  /// The process's object of this type and name; made when it is first asked for.
  template <class T>
  T& shared(std::string_view name) {
    Client& owner = process();
    for (auto& [known, object] : owner.objects_) {
      if (T* found = dynamic_cast<T*>(object.get()); found != nullptr && known == name) return *found;
    }
    return static_cast<T&>(*owner.objects_.emplace_back(std::string(name), std::make_unique<T>()).second);
  }
  /// Where background tasks of the process run. Requires: the algorithm's entry asks for it.
  Client& background() { return *process().background_; }
  void run_in_background(sim::Task<void> task) { background().spawn(std::move(task)); }

  // --- What it tells the checkers.

  /// The client that got the lock by this acquire knows from now on that it lost it.
  void tell_lost(sim::OperationId acquire);
  bool knows_lost(sim::OperationId acquire) const;
  /// The name of the place that the present acquire was granted, or the present release freed: for servers that keep no
  /// place for each owner, such as a counter of free places or a list. It follows from replies alone.
  void granted(const Value& place) { name_place(place); }
  void freed(const Value& place) { name_place(place); }

  /// Its program comes to its end: what it keeps open at its servers may be closed.
  void end_program() {
    if (endpoint_ != nullptr) endpoint_->ended();
  }

  void start() override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;
  bool hears_unasked() const override { return hears_unasked_; }
  void crashed(bool keep) override;
  void reset() override;

 private:
  void forget();
  void name_place(const Value& place);

  Program program_;
  Client* process_ = nullptr;  ///< of a thread
  Client* background_ = nullptr;
  std::string first_process_name_;
  std::string process_name_;  ///< of its present life
  bool has_configured_name_ = false;
  int lives_ = 1;
  std::int64_t thread_id_ = 1;
  Mode mode_ = Mode::exclusive;
  Session session_;
  std::unique_ptr<Endpoint> endpoint_;  ///< null: it knows no servers
  bool hears_unasked_ = false;
  std::int64_t tokens_ = 0;
  std::vector<std::pair<std::string, std::unique_ptr<ProcessObject>>> objects_;
  std::vector<sim::OperationId> lost_;
};

class [[nodiscard]] Client::Step {
 public:
  Step(Client& client, std::string_view name, sim::Moment moment);
  bool await_ready() const noexcept { return !struck_; }
  void await_suspend(std::coroutine_handle<> program) { pause_.await_suspend(program); }
  void await_resume() noexcept { pause_.await_resume(); }

 private:
  bool struck_;
  sim::Wait pause_;
};

}  // namespace lockstep::models
