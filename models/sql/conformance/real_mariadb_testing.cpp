// The processes behind `RealMariadb`, and its protocol.

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include "models/sql/conformance/real_mariadb.hpp"
#include "models/sql/conformance/real_postgres.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::sql::conformance {
namespace {

using StatementKind = Statement::Kind;

/// In milliseconds: a machine that is busy with other things is no server that does not answer.
constexpr int kPatience = 60'000;
constexpr const char* kServer = "/usr/sbin/mariadbd";
constexpr const char* kInstaller = "/usr/bin/mariadb-install-db";

int start_program(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int pid = fork();
  if (pid != 0) return pid;
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
  execv(pointers[0], pointers.data());
  _exit(127);
}

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// A length or a number, as the protocol encodes it; moves `at` behind it.
std::uint64_t take_number(std::string_view bytes, std::size_t& at) {
  const auto first = static_cast<unsigned char>(bytes[at++]);
  if (first < 0xfb) return first;
  const std::size_t size = first == 0xfc ? 2 : first == 0xfd ? 3 : 8;
  at += size;
  return little_endian(bytes, at - size, size);
}

std::string error_text(std::uint64_t code, const std::string& message) {
  switch (code) {
    case 1062: return "ERROR: " + std::string(to_string(Error::unique_violation));
    case 1205: return "ERROR: " + std::string(to_string(Error::lock_not_available));
    case 1213: return "ERROR: " + std::string(to_string(Error::deadlock_detected));
    default: return "ERROR " + std::to_string(code) + ": " + message;
  }
}

bool is_advisory(StatementKind kind) {
  return kind == StatementKind::lock_advisory || kind == StatementKind::try_advisory ||
         kind == StatementKind::unlock_advisory;
}

/// As MariaDB reads it; in sequence, of which the second is what is asked.
std::vector<std::string> to_mariadb(const Statement& statement) {
  const std::string lock = "'" + statement.key.text() + "'";
  switch (statement.kind) {
    case StatementKind::begin: {
      const bool is_committed = statement.isolation == Isolation::read_committed;
      return {std::string("SET SESSION TRANSACTION ISOLATION LEVEL ") +
                  (is_committed ? "READ COMMITTED" : "REPEATABLE READ"),
              "BEGIN", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"};
    }
    case StatementKind::lock_advisory: return {"SELECT GET_LOCK(" + lock + ", 1000)"};
    case StatementKind::try_advisory: return {"SELECT GET_LOCK(" + lock + ", 0)"};
    case StatementKind::unlock_advisory: return {"SELECT RELEASE_LOCK(" + lock + ")"};
    default: return {to_sql(statement)};
  }
}

/// In the engine's words.
std::string in_our_words(const std::string& answer, const Statement& statement) {
  if (statement.kind == StatementKind::rollback && answer == "0") return "ROLLBACK";
  if (!is_advisory(statement.kind) || answer.starts_with("ERROR")) return answer;
  return answer == "1: 1" ? "1" : "0";
}

}  // namespace

std::unique_ptr<RealMariadb> RealMariadb::start(std::string& why) {
  if (access(kServer, X_OK) != 0 || access(kInstaller, X_OK) != 0) {
    why = "no MariaDB is installed (Debian: mariadb-server)";
    return nullptr;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-mariadb-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  std::string user = "--user=";
  if (getuid() == 0) {
    const passwd* mysql = getpwnam("mysql");
    if (mysql == nullptr || chown(folder.c_str(), mysql->pw_uid, mysql->pw_gid) != 0) {
      why = "no user mysql, and MariaDB refuses to run as root";
      std::filesystem::remove_all(folder);
      return nullptr;
    }
    user += "mysql";
  } else {
    user += getpwuid(getuid())->pw_name;
  }
  std::unique_ptr<RealMariadb> server(new RealMariadb(folder));
  int status = 0;
  waitpid(start_program({kInstaller, "--no-defaults", user, "--datadir=" + folder + "/data",
                         "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
                         "--innodb-use-native-aio=0"}),
          &status, 0);
  if (status != 0) throw std::runtime_error("mariadb-install-db failed");
  server->pid_ = start_program({kServer, "--no-defaults", user, "--datadir=" + folder + "/data",
                                "--socket=" + folder + "/socket", "--pid-file=" + folder + "/pid", "--skip-networking",
                                "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0",
                                "--innodb-lock-wait-timeout=1000", "--innodb-use-native-aio=0"});
  for (int i = 0; i < kPatience / 10; ++i) {
    const int fd = sim::connect_to(folder + "/socket");
    if (fd >= 0) {
      close(fd);
      server->connect()->ask("CREATE DATABASE IF NOT EXISTS test");
      return server;
    }
    usleep(10'000);
  }
  throw std::runtime_error("MariaDB did not come up");
}

RealMariadb::~RealMariadb() {
  if (pid_ != 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove_all(folder_);
}

RealMariadb::Connection::Connection(const std::string& path) : fd_(sim::connect_to(path)) {
  if (fd_ < 0) throw std::runtime_error("MariaDB does not listen");
  std::optional<std::string> greeting;
  while (!(greeting = take_packet())) {
    if (!receive_within(kPatience)) throw std::runtime_error("MariaDB did not greet");
  }
  id_ = static_cast<int>(little_endian(*greeting, greeting->find('\0', 1) + 1, 4));
  // CLIENT_LONG_PASSWORD, FOUND_ROWS, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
  constexpr std::uint32_t kWishes = 0x1 | 0x2 | 0x200 | 0x2000 | 0x8000 | 0x80000;
  std::string response;
  for (int i = 0; i < 4; ++i) response += static_cast<char>(kWishes >> (8 * i));
  response += std::string("\0\0\0\1", 4) + static_cast<char>(45) + std::string(23, '\0');
  response += std::string("root") + '\0' + '\0' + "mysql_native_password" + '\0';
  send_packet(1, response);
  const auto answer = answer_within(kPatience);
  if (!answer || answer->starts_with("ERROR")) throw std::runtime_error("MariaDB: " + answer.value_or("no answer"));
}

RealMariadb::Connection::~Connection() { close(fd_); }

void RealMariadb::Connection::send_packet(char number, const std::string& content) {
  std::string bytes;
  for (int i = 0; i < 3; ++i) bytes += static_cast<char>(content.size() >> (8 * i));
  bytes += number + std::string();
  bytes += content;
  if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("MariaDB does not listen");
}

void RealMariadb::Connection::send(const std::string& query) { send_packet(0, "\3" + query); }

std::optional<std::string> RealMariadb::Connection::take_packet() {
  if (received_.size() < 4) return std::nullopt;
  const std::size_t size = little_endian(received_, 0, 3);
  if (received_.size() < 4 + size) return std::nullopt;
  std::string packet = received_.substr(4, size);
  received_.erase(0, 4 + size);
  return packet;
}

/// What is there of an answer, until it is whole.
std::optional<std::string> RealMariadb::Connection::take_answer() {
  while (auto packet = take_packet()) {
    const auto first = static_cast<unsigned char>((*packet)[0]);
    const bool is_end = first == 0xfe && packet->size() < 9;
    if (first == 0xff) {
      columns_.reset();
      rows_.clear();
      return error_text(little_endian(*packet, 1, 2), packet->substr(std::min<std::size_t>(9, packet->size())));
    }
    std::size_t at = columns_ ? 0 : 1;
    if (!columns_ && first == 0) return std::to_string(take_number(*packet, at));
    if (!columns_) {
      columns_ = first;
      has_columns_ = false;
    } else if (!has_columns_) {
      has_columns_ = is_end;
    } else if (!is_end) {
      std::string row;
      for (std::size_t i = 0; i < *columns_; ++i) {
        if (i > 0) row += ", ";
        if (static_cast<unsigned char>((*packet)[at]) == 0xfb) {
          ++at;  // NULL
          continue;
        }
        const std::uint64_t size = take_number(*packet, at);
        row += packet->substr(at, size);
        at += size;
      }
      rows_.push_back(std::move(row));
    } else {
      columns_.reset();
      std::vector<std::string> rows = std::exchange(rows_, {});
      std::sort(rows.begin(), rows.end());
      std::string text = std::to_string(rows.size());
      for (const std::string& row : rows) text += ": " + row;
      return text;
    }
  }
  return std::nullopt;
}

bool RealMariadb::Connection::receive_within(int milliseconds) {
  pollfd poll_at{fd_, POLLIN, 0};
  if (poll(&poll_at, 1, milliseconds) <= 0) return false;
  char bytes[4096];
  const ssize_t size = read(fd_, bytes, sizeof bytes);
  if (size <= 0) throw std::runtime_error("MariaDB has closed the connection");
  received_.append(bytes, static_cast<std::size_t>(size));
  return true;
}

std::optional<std::string> RealMariadb::Connection::answer_within(int milliseconds) {
  while (true) {
    if (auto answer = take_answer()) return answer;
    if (!receive_within(milliseconds)) return std::nullopt;
  }
}

std::string RealMariadb::Connection::ask(const std::string& query) {
  send(query);
  const auto answer = answer_within(kPatience);
  if (!answer || answer->starts_with("ERROR")) throw std::runtime_error(query + ": " + answer.value_or("no answer"));
  return *answer;
}

RealMariadbSessions::RealMariadbSessions(const RealMariadb& mariadb) : mariadb_(mariadb), monitor_(mariadb.connect()) {
  monitor_->ask("USE test");
}

void RealMariadbSessions::begin_again() {
  sessions_.clear();
  waiting_.clear();
  // Sessions that are closed may still be there for a moment.
  const std::string own = "1: " + std::to_string(1 + purgers_.size());
  while (monitor_->ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root'") != own) usleep(1'000);
  monitor_->ask("DROP TABLE IF EXISTS test");
  monitor_->ask("CREATE TABLE test (id int PRIMARY KEY, value int, other int) ENGINE = InnoDB");
  monitor_->ask("INSERT INTO test VALUES (1, 10, 100), (2, 20, 200)");
}

RealMariadb::Connection& RealMariadbSessions::session(SessionId id) {
  while (sessions_.size() <= id) {
    sessions_.push_back(mariadb_.connect());
    sessions_.back()->ask("USE test");
    waiting_.push_back(std::nullopt);
  }
  return *sessions_[id];
}

/// What it shows of waits InnoDB does not renew while somebody has looked in the last 100ms.
std::string RealMariadbSessions::blockers_of(SessionId id) {
  usleep(110'000);
  const std::string own = std::to_string(session(id).id());
  const std::string found = monitor_->ask(
      "SELECT b.trx_mysql_thread_id FROM information_schema.INNODB_LOCK_WAITS w JOIN information_schema.INNODB_TRX r "
      "ON "
      "r.trx_id = w.requesting_trx_id JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id WHERE "
      "r.trx_mysql_thread_id = " +
      own);
  std::string text;
  for (SessionId other = 0; other < sessions_.size(); ++other) {
    if ((found + ":").find(": " + std::to_string(sessions_[other]->id()) + ":") != std::string::npos)
      text += " " + std::to_string(other);
  }
  const bool is_user_lock =
      monitor_->ask("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = " + own) == "1: User lock";
  if (!is_user_lock) return text;
  const std::string owner = monitor_->ask("SELECT IS_USED_LOCK('" + waiting_[id]->key.text() + "')");
  for (SessionId other = 0; other < sessions_.size(); ++other) {
    if (owner == "1: " + std::to_string(sessions_[other]->id())) text += " " + std::to_string(other);
  }
  return text;
}

/// Rows that nobody can see any more leave the index within a second, or soon where somebody waits for that.
void RealMariadbSessions::let_purge() {
  constexpr std::size_t kWaiters = 8;
  while (purgers_.size() < kWaiters) purgers_.emplace_back(mariadb_.connect());
  Purger& purger = purgers_[next_purger_++ % purgers_.size()];
  if (purger.is_waiting && !purger.connection->answer_within(0)) {
    // Somebody's snapshot keeps some.
    monitor_->ask("KILL QUERY " + std::to_string(purger.connection->id()));
    if (!purger.connection->answer_within(kPatience)) throw std::runtime_error("MariaDB purges for ever");
  }
  purger.connection->send("SET GLOBAL innodb_max_purge_lag_wait = 0");
  purger.is_waiting = true;
  usleep(5'000);
}

std::string RealMariadbSessions::say(SessionId id, const Statement& statement, std::size_t answers) {
  RealMariadb::Connection& own = session(id);
  const std::vector<std::string> queries = to_mariadb(statement);
  if (queries.size() > 1) own.ask(queries.front());
  own.send(queries.size() > 1 ? queries[1] : queries.front());
  waiting_[id] = statement;
  std::string text;
  for (int i = 0; text.empty(); ++i) {
    if (const auto answer = own.answer_within(10)) {
      text = in_our_words(*answer, statement);
      waiting_[id].reset();
    } else if (const std::string blockers = blockers_of(id); !blockers.empty()) {
      text = "waits for" + blockers;
    }
    if (i > 100) throw std::runtime_error("neither an answer nor a wait");
  }
  if (queries.size() > 1) own.ask(queries.back());
  // With each answer somebody else may go on.
  std::map<SessionId, std::string> told;
  // What is expected may take its time on a busy machine; nobody else is waited for.
  for (int quiet = 0; quiet < (told.size() < answers ? 300 : 3); ++quiet) {
    for (SessionId other = 0; other < sessions_.size(); ++other) {
      if (!waiting_[other]) continue;
      const int patience = told.size() < answers ? 10 : 2;
      if (const auto answer = sessions_[other]->answer_within(patience)) {
        told[other] = in_our_words(*answer, *waiting_[other]);
        waiting_[other].reset();
        quiet = 0;
      }
    }
  }
  if (told.count(id) != 0) {
    text = told[id];
    told.erase(id);
  }
  for (const auto& [other, answer] : told) text += "; " + std::to_string(other) + ": " + answer;
  let_purge();
  return text;
}

}  // namespace lockstep::models::sql::conformance
