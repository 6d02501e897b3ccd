// SQL servers as a kind of server: PostgreSQL 15 or MariaDB 10.11, as models/sql/engine has them, with the tables of
// the locks.

#include <array>
#include <deque>
#include <sstream>
#include <string>
#include <utility>

#include "models/client/client.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "models/sql/client/sql_endpoint.hpp"
#include "models/sql/server/sql_server.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models {
namespace sql {
namespace {

/// What the locks of models/locks/sql expect to find. Their key is the primary key of each.
std::vector<TableSpec> tables_of_locks(const std::string& rows) {
  TableSpec names{.name = "locks", .columns = {"name"}, .keys = {0}};
  TableSpec owners{.name = "owners", .columns = {"name", "owner"}, .keys = {0}};
  TableSpec leases{.name = "shedlock", .columns = {"name", "lock_until", "locked_at", "locked_by"}, .keys = {0}};
  TableSpec versions{.name = "versions", .columns = {"name", "version"}, .keys = {0}};
  std::istringstream words(rows);
  for (std::string name; words >> name;) {
    names.rows.push_back({Value(name)});
    versions.rows.push_back({Value(name), Value(0)});
  }
  return {std::move(names), std::move(owners), std::move(leases), std::move(versions)};
}

constexpr std::array<std::string_view, 2> kProducts{"postgresql", "mariadb"};
constexpr sim::Duration kLockWaitTimeout = sim::Duration::seconds(50);

bool is_mariadb(const Settings& settings) { return settings.get("product", std::string(kProducts[0])) == kProducts[1]; }

Timeouts timeouts_of(const Settings& settings) {
  const Timeouts standard;
  if (is_mariadb(settings)) return {.deadlock = {}, .lock = settings.get("innodb_lock_wait_timeout", kLockWaitTimeout)};
  return {.deadlock = settings.get("deadlock_timeout", standard.deadlock),
          .lock = settings.get("lock_timeout", standard.lock),
          .idle_in_transaction = settings.get("idle_in_transaction_session_timeout", standard.idle_in_transaction)};
}

class SqlServers final : public Servers {
 public:
  explicit SqlServers(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      const Product product = is_mariadb(spec.settings) ? Product::mariadb : Product::postgresql;
      Server& server = servers_.emplace_back(tables_of_locks(spec.settings.get("rows", std::string("lock"))),
                                             timeouts_of(spec.settings), product);
      ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
    }
  }

  void connect(Client& client, const ClientLink& how) override {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      client.connect<Endpoint>().add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
  }

  void keep_resource(sim::ProcessId resource) override {
    TableSpec counters{.name = "counters", .columns = {"name", "value"}, .keys = {0}, .is_resource = true};
    counters.rows.push_back({Value("resource"), Value(0)});
    servers_.front().keep_resource(std::move(counters), resource);
  }

  bool is_as_at_first() const override {
    for (const Server& server : servers_) {
      if (!server.engine().is_as_at_first()) return false;
    }
    return true;
  }

  std::uint64_t digest(std::size_t server) const override {
    std::uint64_t digest = servers_[server].engine().commits();
    for (const HeldObject& object : held(server))
      digest = sim::combine64(digest, digest_bytes(object.text, digest_bytes(object.name)));
    return digest;
  }

  std::vector<HeldObject> held(std::size_t server) const override {
    std::vector<HeldObject> objects;
    for (const Engine::Held& each : servers_[server].engine().held()) {
      std::string text = each.text;
      if (each.owner) {
        const std::optional<sim::ProcessId> client = servers_[server].client_of(*each.owner);
        text += text.empty() ? "locked by " : ", locked by ";
        text += client ? setup_.world.name(*client) : "a lost session";
      }
      objects.push_back({each.object, each.type, std::move(text), each.until});
    }
    return objects;
  }

  std::vector<std::string> holdings(std::size_t server) const override {
    std::vector<std::string> lines;
    for (const HeldObject& object : held(server))
      lines.push_back(object.name + ": " + object.text + (object.expires ? ", with a lease" : ""));
    return lines;
  }

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class SqlKind final : public ServerKind {
 public:
  std::string_view name() const override { return "sql"; }
  std::string_view request() const override { return "an SQL statement"; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  /// now().
  bool reads_wall_clock() const override { return true; }
  std::vector<std::string_view> requests() const override {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Statement::Kind::now); ++i) {
      Statement statement{.kind = static_cast<Statement::Kind>(i)};
      names.push_back(statement.name());
    }
    names.push_back(Statement{.locking = Locking::wait}.name());
    return names;
  }

  std::span<const SettingSpec> settings() const override {
    static const std::array specs{
        SettingSpec{.name = "product",
                    .type = "\"postgresql\" or \"mariadb\"",
                    .fallback = std::string(kProducts[0]),
                    .told = "\"postgresql\"",
                    .meaning = "whose engine it is: PostgreSQL 15, or MariaDB 10.11 with InnoDB",
                    .choices = kProducts},
        SettingSpec{"rows", "string", std::string("lock"), "\"lock\"",
                    "rows that the tables `locks` and `versions` have from the beginning: names, with spaces between"},
        SettingSpec{.name = "innodb_lock_wait_timeout",
                    .type = "duration",
                    .fallback = kLockWaitTimeout,
                    .told = "\"50s\"",
                    .meaning =
                        "MariaDB: how long a statement waits for a row, in whole seconds; then it has failed, and "
                        "its transaction goes on",
                    .is_constant = true},
        SettingSpec{"deadlock_timeout", "duration", sim::Duration::seconds(1), "\"1s\"",
                    "PostgreSQL: how long a session waits for a lock before it looks whether it waits in a circle; "
                    "then it is the "
                    "victim"},
        SettingSpec{"lock_timeout", "duration", sim::Duration(), "\"0ms\"",
                    "PostgreSQL: how long a session waits for a lock; zero: for ever"},
        SettingSpec{"idle_in_transaction_session_timeout", "duration", sim::Duration(), "\"0ms\"",
                    "PostgreSQL: the server closes a session that is idle in a transaction for so long; zero: never"}};
    return specs;
  }
  bool has_disk(const Settings&) const override { return true; }
  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const Settings& settings = servers[i].settings;
      if (auto found = foreign_setting(settings)) return Contradiction{i, found->first, std::move(found->second)};
      const SettingValue* patience = settings.find("innodb_lock_wait_timeout");
      if (patience != nullptr && !is_whole(std::get<sim::Duration>(*patience)))
        return Contradiction{i, "innodb_lock_wait_timeout", "expected whole seconds, one or more, such as \"50s\""};
    }
    return std::nullopt;
  }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    return std::make_unique<SqlServers>(setup);
  }

 private:
  static bool is_whole(sim::Duration length) {
    return length > sim::Duration() && length.count_ns() % sim::Duration::seconds(1).count_ns() == 0;
  }

  /// What only the other product knows, and how to say so.
  static std::optional<std::pair<std::string_view, std::string>> foreign_setting(const Settings& settings) {
    constexpr std::array<std::string_view, 3> kOfPostgres{"deadlock_timeout", "lock_timeout",
                                                          "idle_in_transaction_session_timeout"};
    constexpr std::array<std::string_view, 1> kOfMariadb{"innodb_lock_wait_timeout"};
    const bool has_mariadb = is_mariadb(settings);
    const auto foreign = has_mariadb ? std::span<const std::string_view>(kOfPostgres) : kOfMariadb;
    for (const std::string_view name : foreign) {
      if (settings.find(name) == nullptr) continue;
      return std::pair(name, std::string("a setting of ") + (has_mariadb ? "PostgreSQL" : "MariaDB") +
                                 ", and this server is product = \"" + std::string(kProducts[has_mariadb ? 1 : 0]) +
                                 "\"; leave it out");
    }
    return std::nullopt;
  }
};

}  // namespace
}  // namespace sql

const ServerKind& sql_kind() {
  static const sql::SqlKind kind;
  return kind;
}

}  // namespace lockstep::models
