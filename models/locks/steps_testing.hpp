#pragma once

// What a lock sends to its server, and in which order: clients with one lock, whatever kind of server it has.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/servers/server_kind.hpp"
#include "models/workloads/lock_user.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::locks::testing {

using namespace sim::literals;
using Steps = std::vector<std::string>;

/// Clients A, B, … with one lock at one server, 1ms away.
class Bench {
 public:
  explicit Bench(std::string_view algorithm, std::vector<std::pair<std::string_view, ParameterValue>> set = {},
                 Settings settings = {})
      : world_(decisions_), simulation_(world_) {
    static const Catalogue catalogue = Catalogue::built_in();
    entry_ = catalogue.find(algorithm);
    REQUIRE(entry_ != nullptr);
    Parameters parameters(entry_->parameters);
    for (auto& [name, value] : set) parameters.set(name, std::move(value));
    lock_ = entry_->make(parameters);
    specs_.emplace_back().name = entry_->server_kind->name();
    specs_.back().settings = std::move(settings);
    servers_ = entry_->server_kind->make(
        {.world = world_, .servers = specs_, .latency = sim::DurationRange::exactly(1_ms), .shared = shared_});
    world_.enable_trace();
  }
  /// Programs may be waiting for objects of their processes, so they go first.
  ~Bench() { world_.restart(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// `timeout`: how long it waits for a reply.
  sim::ProcessId client(sim::Duration start, sim::Duration hold, std::int64_t reenter = 0,
                        std::optional<sim::Duration> timeout = std::nullopt) {
    workloads::LockUser& settings = settings_.emplace_back();
    settings.locks.push_back({.algorithm = lock_.get()});
    settings.hold = sim::DurationRange::exactly(hold);
    settings.reenter = reenter;
    Client& client = clients_.emplace_back([&settings](Client& c) { return workloads::run(c, settings); });
    const std::string name(1, static_cast<char>('A' + starts_.size()));
    const sim::ProcessId id = world_.add(client, name, {});
    servers_->connect(client, {.timeout = timeout});
    starts_.emplace_back(id, start);
    if (!entry_->has_background) return id;
    Client& background = clients_.emplace_back();
    world_.add_part(background, id, name + "/session");
    background.become_background_of(client);
    servers_->connect(background, {});
    return id;
  }

  /// The client takes the lock to read. Requires: it is the latest one.
  void latest_reads() { clients_[clients_.size() - (entry_->has_background ? 2 : 1)].set_mode(Mode::shared); }

  void run() {
    for (const auto& [id, start] : starts_) world_.start(id, sim::DurationRange::exactly(start));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), 100'000) == sim::Simulation::End::quiet);
  }

  /// The names of what a client sent, in order.
  Steps sent_by(sim::ProcessId client) const {
    Steps names;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind == sim::EventKind::message && !record.is_reply && record.from == client)
        names.push_back(record.text.substr(0, record.text.find(' ')));
    }
    return names;
  }
  /// How often anybody sent this.
  std::ptrdiff_t count(std::string_view text) const {
    const auto& records = world_.trace().records;
    return std::count_if(records.begin(), records.end(), [&](const sim::TraceRecord& record) {
      return record.kind == sim::EventKind::message && !record.is_reply && record.text == text;
    });
  }
  /// What it sent and was told, in words: "BEGIN", "-> 0".
  Steps talk_of(sim::ProcessId client) const {
    Steps talk;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind != sim::EventKind::message) continue;
      if (!record.is_reply && record.from == client) talk.push_back(record.text);
      if (record.is_reply && record.process == client) talk.push_back("-> " + record.text);
    }
    return talk;
  }
  /// "A 4ms": who has got the lock, and when.
  Steps grants() const {
    Steps grants;
    for (const sim::Operation& operation : world_.history().operations) {
      if (operation.function == "acquire" && operation.phase == sim::Phase::ok)
        grants.push_back(world_.name(operation.process) + " " + to_string(operation.completed.offset()));
    }
    return grants;
  }

  sim::World& world() { return world_; }
  sim::ProcessId server() const { return servers_->ids().front(); }

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_;
  sim::Simulation simulation_;
  const Entry* entry_ = nullptr;
  std::unique_ptr<LockAlgorithm> lock_;
  std::vector<ServerSpec> specs_;
  Settings shared_;
  std::unique_ptr<Servers> servers_;
  std::deque<workloads::LockUser> settings_;
  std::deque<Client> clients_;
  std::vector<std::pair<sim::ProcessId, sim::Duration>> starts_;
};

}  // namespace lockstep::models::locks::testing
