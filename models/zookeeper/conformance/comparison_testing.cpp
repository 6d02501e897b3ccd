#include "models/zookeeper/conformance/comparison.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/zookeeper/conformance/steps.hpp"

namespace lockstep::models::zookeeper::conformance {

Heard described(const std::vector<WatchedEvent>& events) {
  Heard lines;
  for (const WatchedEvent& event : events) lines.push_back(describe(event));
  return lines;
}

Heard sorted(Heard heard) {
  std::sort(heard.begin(), heard.end());
  return heard;
}

void Expected::take(Engine& engine) {
  for (const Engine::Notice& notice : engine.take_notices()) heard_[notice.watcher].push_back(describe(notice.event));
}

Heard Expected::of(SessionId session) { return std::exchange(heard_[session], {}); }

std::vector<SessionId> Expected::listeners() const {
  std::vector<SessionId> ids;
  for (const auto& [id, events] : heard_) {
    if (!events.empty()) ids.push_back(id);
  }
  return ids;
}

std::string describe(const Comparison& comparison) {
  return fmt::format("{} requests of {} sessions, {} of them multis, {} errors; {} watch events", comparison.requests,
                     comparison.sessions, comparison.multis, comparison.errors, comparison.events);
}

namespace {

class RandomComparison {
 public:
  RandomComparison(RealZooKeeper& server, Engine engine, std::uint64_t seed)
      : server_(server), random_(seed), engine_(std::move(engine)) {}

  Comparison run(int requests) {
    for (int i = 0; i < requests && told_.difference.empty(); ++i) compare(next(i));
    return told_;
  }

 private:
  Step next(int number) {
    if (number == 0) return {.kind = Step::Kind::open, .session = 1};
    if (number == 1) return {.session = 1, .operation = Create{std::string(kTop)}};
    return random_step(random_, engine_, told_.sessions);
  }

  void compare(const Step& step) {
    if (step.kind == Step::Kind::open) told_.sessions = step.session;
    const bool is_end = step.kind == Step::Kind::close;
    const std::string what = fmt::format("request {}, {}", ++told_.requests, describe(step));
    // What it has still to hear would be gone with its connection.
    if (step.kind == Step::Kind::reconnect) compare_events(what, step.session, false);
    const Answer answer = carry_out(engine_, step);
    expected_.take(engine_);
    const RealZooKeeper::Outcome outcome = server_.carry_out(step);
    compare(what + ", is answered", {describe(outcome.answer)}, {describe(answer)}, false);
    compare_heard(what, step.session, described(outcome.events), is_end);
    if (is_end || random_.one_in(4)) {
      for (const SessionId each : expected_.listeners()) compare_events(what, each, is_end);
    }
    told_.errors += answer.result.error != Error::none;
    told_.multis += std::holds_alternative<Multi>(step.operation) && step.kind == Step::Kind::operation;
  }

  void compare_events(const std::string& what, SessionId session, bool in_any_order) {
    compare_heard(what, session, described(server_.events_of(session)), in_any_order);
  }

  void compare_heard(const std::string& what, SessionId session, Heard real, bool in_any_order) {
    Heard ours = expected_.of(session);
    told_.events += ours.size();
    compare(fmt::format("{}: session {} hears", what, session), std::move(real), std::move(ours), in_any_order);
  }

  void compare(const std::string& what, Heard real, Heard ours, bool in_any_order) {
    if (in_any_order) {
      real = sorted(std::move(real));
      ours = sorted(std::move(ours));
    }
    if (real == ours || !told_.difference.empty()) return;
    told_.difference =
        fmt::format("{} \"{}\", and the engine says \"{}\"", what, fmt::join(real, "; "), fmt::join(ours, "; "));
  }

  RealZooKeeper& server_;
  sim::Random random_;
  Engine engine_;
  Expected expected_;
  Comparison told_;
};

}  // namespace

Comparison compare_random_requests(RealZooKeeper& server, Engine engine, int requests, std::uint64_t seed) {
  return RandomComparison(server, std::move(engine), seed).run(requests);
}

}  // namespace lockstep::models::zookeeper::conformance
