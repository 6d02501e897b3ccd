#include "models/zookeeper/conformance/steps.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lockstep::models::zookeeper::conformance {
namespace {

/// One that is there, or one of a few that may be, or one that cannot be.
std::string random_path(sim::Random& random, const Engine& engine) {
  static constexpr std::array kNames{"a", "b", "c", "a/x", "a/y", "b/x"};
  static constexpr std::array kWrong{"t", "/t/a/", "/t//a"};
  if (random.one_in(60)) return kWrong[random.below(kWrong.size())];
  const std::vector<std::string> paths = engine.paths();
  if (random.one_in(2) && paths.size() > 1) return paths[1 + random.below(paths.size() - 1)];
  return fmt::format("{}/{}", kTop, kNames[random.below(kNames.size())]);
}

std::int32_t random_version(sim::Random& random) {
  return random.one_in(2) ? kAnyVersion : static_cast<std::int32_t>(random.below(3));
}

std::string random_data(sim::Random& random) { return std::string(random.below(3), 'x'); }

Create random_create(sim::Random& random, const Engine& engine) {
  Create create{.path = random_path(random, engine),
                .data = random_data(random),
                .mode = static_cast<CreateMode>(random.below(4)),
                .asks_for_stat = random.one_in(3)};
  if (is_sequential(create.mode) && random.one_in(2)) create.path += "/s-";
  return create;
}

MultiOperation random_part(sim::Random& random, const Engine& engine) {
  switch (random.below(7)) {
    case 0: return Delete{random_path(random, engine), random_version(random)};
    case 1:
    case 2: return SetData{random_path(random, engine), random_data(random), random_version(random)};
    case 3: return Check{random_path(random, engine), random_version(random)};
    default: return random_create(random, engine);
  }
}

SetWatches random_watches(sim::Random& random, const Engine& engine) {
  SetWatches asked{.relative_zxid = random.between(std::max<Zxid>(0, engine.zxid() - 40), engine.zxid())};
  for (auto* paths : {&asked.data, &asked.exist, &asked.child}) {
    for (std::uint64_t i = random.below(3); i > 0; --i) paths->push_back(random_path(random, engine));
  }
  return asked;
}

Operation random_operation(sim::Random& random, const Engine& engine) {
  switch (random.below(20)) {
    case 0:
    case 1:
    case 2: return Delete{random.one_in(40) ? "/" : random_path(random, engine), random_version(random)};
    case 3:
    case 4:
    case 5: return SetData{random_path(random, engine), random_data(random), random_version(random)};
    case 6:
    case 7: return Exists{random_path(random, engine), !random.one_in(4)};
    case 8:
    case 9: return GetData{random_path(random, engine), !random.one_in(4)};
    case 10:
    case 11: return GetChildren{random_path(random, engine), !random.one_in(4), random.one_in(2)};
    case 12:
    case 13: {
      Multi multi;
      for (std::uint64_t i = random.below(5); i > 0; --i) multi.operations.push_back(random_part(random, engine));
      return multi;
    }
    case 14: {
      if (random.one_in(3)) return random_watches(random, engine);
      break;
    }
    case 15: {
      RemoveWatches asked{random_path(random, engine), static_cast<WatcherKind>(random.between(1, 3)),
                          random.one_in(2)};
      // ZooKeeper stumbles over a path without a slash, and says so with a code that means nothing else.
      if (asked.path.front() != '/') asked.path = kTop;
      return asked;
    }
    default: break;
  }
  return random_create(random, engine);
}

}  // namespace

Step random_step(sim::Random& random, const Engine& engine, SessionId last_session) {
  const std::vector<SessionId> sessions = engine.sessions();
  Step step{.session = sessions[random.below(sessions.size())]};
  const std::uint64_t drawn = random.below(100);
  if (drawn < 3 && sessions.size() < kSessionsMax) {
    step.kind = Step::Kind::open;
    step.session = last_session + 1;
  } else if (drawn < 5 && sessions.size() > 1) {
    step.kind = Step::Kind::close;
  } else if (drawn < 7) {
    step.kind = Step::Kind::reconnect;
  } else {
    step.operation = random_operation(random, engine);
  }
  return step;
}

Answer carry_out(Engine& engine, const Step& step) {
  switch (step.kind) {
    case Step::Kind::open: engine.open(step.session); break;
    case Step::Kind::close:
      engine.close(step.session);
      engine.drop_watches(step.session);
      break;
    case Step::Kind::reconnect: engine.drop_watches(step.session); break;
    case Step::Kind::operation: return engine.execute(step.session, step.session, step.operation);
  }
  return {.zxid = engine.zxid()};
}

std::string describe(const Step& step) {
  switch (step.kind) {
    case Step::Kind::open: return fmt::format("session {} opens", step.session);
    case Step::Kind::close: return fmt::format("session {} closes", step.session);
    case Step::Kind::reconnect: return fmt::format("session {} connects anew", step.session);
    case Step::Kind::operation: break;
  }
  return fmt::format("session {}: {}", step.session, describe(step.operation));
}

}  // namespace lockstep::models::zookeeper::conformance
