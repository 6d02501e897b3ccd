#include "models/testing/registers/register_kind.hpp"

#include <array>
#include <deque>
#include <string>

#include "models/client/client.hpp"
#include "models/testing/registers/register_endpoint.hpp"
#include "models/testing/registers/register_server.hpp"
#include "models/value.hpp"

namespace lockstep::models {
namespace registers {
namespace {

class RegisterServers final : public Servers {
 public:
  explicit RegisterServers(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      RegisterServer& server =
          servers_.emplace_back(spec.settings.get("durable", false), setup.shared.get("grace", sim::Duration()));
      ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
    }
  }

  void connect(Client& client, const ClientLink& how) override {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      client.connect<Endpoint>().add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
  }

  /// Versions count on: once a register has been written, a newcomer can tell.
  bool is_as_at_first() const override {
    for (const RegisterServer& server : servers_) {
      for (const auto& [name, one] : server.registers()) {
        if (one.version > 0) return false;
      }
    }
    return true;
  }

  std::uint64_t digest(std::size_t server) const override { return servers_[server].digest(); }

  std::vector<HeldObject> held(std::size_t server) const override {
    std::vector<HeldObject> objects;
    for (const auto& [name, one] : servers_[server].registers()) {
      if (!one.value.empty()) objects.push_back({name, "register", plain_or_quoted(one.value), one.until});
    }
    return objects;
  }

  std::vector<std::string> holdings(std::size_t server) const override {
    std::vector<std::string> lines;
    for (const HeldObject& object : held(server))
      lines.push_back(object.name + " = " + object.text + (object.expires ? ", with a lease" : ""));
    return lines;
  }

 private:
  ServersSetup setup_;
  std::deque<RegisterServer> servers_;  ///< the world refers to them: they must not move
};

class RegisterKind final : public ServerKind {
 public:
  std::string_view name() const override { return "register"; }
  std::string_view request() const override { return "FETCH or CAS"; }
  std::vector<std::string_view> requests() const override { return {"FETCH", "CAS"}; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  bool reads_wall_clock() const override { return true; }

  std::span<const SettingSpec> settings() const override {
    static const std::array specs{
        SettingSpec{"durable", "true or false", false, "false", "whether a crash leaves what it holds"}};
    return specs;
  }
  std::span<const SettingSpec> shared_settings() const override {
    static const std::array specs{
        SettingSpec{"grace", "duration", sim::Duration(), "\"0ms\"", "how much longer than asked a lease lasts"}};
    return specs;
  }
  bool has_disk(const Settings& settings) const override { return settings.get("durable", false); }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    return std::make_unique<RegisterServers>(setup);
  }
};

}  // namespace
}  // namespace registers

const ServerKind& register_kind() {
  static const registers::RegisterKind kind;
  return kind;
}

}  // namespace lockstep::models
