#pragma once

// A server of registers with compare-and-set: the smallest kind of server on which a lock can be built. Tests prove with
// it that a kind needs nothing but its own files and a line in two tables; docs/adding-a-server.md walks through it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::models::registers {

/// FETCH name, or CAS name expected desired [lease].
class Ask final : public sim::Message {
 public:
  enum class Kind : std::uint8_t { fetch, cas };
  Kind kind = Kind::fetch;
  std::string name_of_register;
  std::string expected, desired;
  std::optional<sim::Duration> lease;  ///< so long by the server's clock, then the register is empty again

  std::string_view name() const override { return kind == Kind::fetch ? "FETCH" : "CAS"; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

struct Answer {
  bool swapped = false;
  std::string value;         ///< that the register has now
  std::int64_t version = 0;  ///< how often it has been written
};

class Told final : public sim::Message {
 public:
  Ask::Kind kind = Ask::Kind::fetch;
  Answer content;

  std::string_view name() const override { return kind == Ask::Kind::fetch ? "FETCH" : "CAS"; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

struct Register {
  std::string value;  ///< empty: nobody's
  std::int64_t version = 0;
  std::optional<sim::Instant> until;  ///< by the server's clock
};

class RegisterServer final : public sim::Process {
 public:
  /// `durable`: what it holds is on its disk before it answers. `grace`: how much longer than asked a lease lasts.
  RegisterServer(bool durable, sim::Duration grace) : is_durable_(durable), grace_(grace) {}

  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override { registers_.clear(); }
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message&) const override { return true; }
  bool is_service() const override { return true; }

  const std::map<std::string, Register>& registers() const { return registers_; }
  std::uint64_t digest() const;

 private:
  void end_lease(Register& one, const std::string& name);

  bool is_durable_;
  sim::Duration grace_;
  std::map<std::string, Register> registers_;
};

}  // namespace lockstep::models::registers
