#pragma once

// What a lock protects: a process of its own, so that damage is seen where it happens and not where it is believed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/coroutines/await.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::resources {

/// READ, or WRITE value [token].
class Access final : public sim::Message {
 public:
  enum class Kind : std::uint8_t { read, write };
  Kind kind = Kind::read;
  std::int64_t value = 0;
  std::optional<std::int64_t> token;

  std::string_view name() const override { return kind == Kind::read ? "READ" : "WRITE"; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

struct Answer {
  bool accepted = true;
  std::int64_t value = 0;
};

class AccessReply final : public sim::Message {
 public:
  Access::Kind kind = Access::Kind::read;
  Answer content;

  std::string_view name() const override { return kind == Access::Kind::read ? "READ" : "WRITE"; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

/// One number. Readers get it, writers replace it. With `fenced` it remembers the largest fencing token that it saw and
/// refuses writes with a smaller one; a write without a token cannot be judged, and passes.
class Resource final : public sim::Process {
 public:
  Resource(std::string object, bool fenced) : object_(std::move(object)), fenced_(fenced) {}

  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message&) const override { return true; }

  std::int64_t value() const { return value_; }

 private:
  std::string object_;
  bool fenced_;
  std::int64_t value_ = 0;
  std::optional<std::int64_t> largest_token_;
};

/// `const std::optional<Answer> answer = co_await access(client, connection, …)`; nothing: no answer came.
sim::Call<AccessReply> read(sim::Process& client, sim::ConnectionId connection, sim::OperationId operation,
                            std::optional<sim::Duration> timeout);
sim::Call<AccessReply> write(sim::Process& client, sim::ConnectionId connection, sim::OperationId operation,
                             std::int64_t value, std::optional<std::int64_t> token,
                             std::optional<sim::Duration> timeout);

}  // namespace lockstep::models::resources
