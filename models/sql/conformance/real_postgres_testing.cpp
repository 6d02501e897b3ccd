// The processes behind `RealPostgres`, and its protocol.

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "models/sql/conformance/real_postgres.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::sql::conformance {
namespace {

/// In milliseconds: a machine that is busy with other things is no server that does not answer.
constexpr int kPostgresPatience = 60'000;
constexpr std::string_view kPrograms = "/usr/lib/postgresql/15/bin/";

/// Starts one of PostgreSQL's programs; as its own user where we are root, which it refuses to be.
int launch(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), std::string(kPrograms) + program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int pid = fork();
  if (pid != 0) return pid;
  if (getuid() == 0) {
    const passwd* user = getpwnam("postgres");
    if (user == nullptr || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(126);
  }
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
  execv(pointers[0], pointers.data());
  _exit(127);
}

std::string number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written <= 0) throw std::runtime_error("PostgreSQL does not listen");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// The first message of `received` if all of it is there: its type and its content.
std::optional<std::pair<char, std::string>> take_message(std::string& received) {
  if (received.size() < 5) return std::nullopt;
  const std::size_t size = number_at(received, 1);
  if (received.size() < 1 + size) return std::nullopt;
  std::pair<char, std::string> message{received[0], received.substr(5, size - 4)};
  received.erase(0, 1 + size);
  return message;
}

/// "10, 20" of a DataRow.
std::string row_of(std::string_view content) {
  const std::size_t columns = static_cast<unsigned char>(content[0]) * 256u + static_cast<unsigned char>(content[1]);
  std::string text;
  std::size_t at = 2;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::uint32_t size = number_at(content, at);
    at += 4;
    if (i > 0) text += ", ";
    if (size == 0xffffffff) continue;
    text += content.substr(at, size);
    at += size;
  }
  return text;
}

std::string field(std::string_view content, char type) {
  for (std::size_t at = 0; at < content.size() && content[at] != '\0';) {
    const std::size_t end = content.find('\0', at);
    if (content[at] == type) return std::string(content.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return {};
}

/// The words of our own for an error with this code.
std::string error_text(const std::string& code, const std::string& message) {
  for (int i = 1; i <= static_cast<int>(Error::connection_failure); ++i) {
    const auto error = static_cast<Error>(i);
    if (sqlstate(error) == code) return "ERROR: " + std::string(to_string(error));
  }
  return "ERROR " + code + ": " + message;
}

}  // namespace

std::unique_ptr<RealPostgres> RealPostgres::start(std::string& why) {
  if (access((std::string(kPrograms) + "postgres").c_str(), X_OK) != 0) {
    why = "no PostgreSQL 15 is installed (Debian: postgresql-15)";
    return nullptr;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-postgres-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  if (getuid() == 0) {
    const passwd* user = getpwnam("postgres");
    if (user == nullptr || chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
      why = "no user postgres, and PostgreSQL refuses to run as root";
      std::filesystem::remove_all(folder);
      return nullptr;
    }
  }
  std::unique_ptr<RealPostgres> server(new RealPostgres(folder));
  int status = 0;
  waitpid(launch("initdb", {"-D", folder + "/data", "-A", "trust", "-U", "lockstep", "--no-sync", "--locale=C"}),
          &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed");
  server->pid_ = launch("postgres", {"-D", folder + "/data", "-k", folder, "-h", "", "-F", "-c", "deadlock_timeout=1h",
                                     "-c", "autovacuum=off", "-c", "jit=off"});
  for (int i = 0; i < kPostgresPatience / 10; ++i) {
    const int fd = sim::connect_to(folder + "/.s.PGSQL.5432");
    if (fd >= 0) {
      close(fd);
      try {
        server->connect()->ask("SELECT 1");
        return server;
      } catch (const std::runtime_error&) {
        // It is still starting.
      }
    }
    usleep(10'000);
  }
  throw std::runtime_error("PostgreSQL did not come up");
}

RealPostgres::~RealPostgres() {
  if (pid_ != 0) {
    kill(pid_, SIGQUIT);
    waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove_all(folder_);
}

RealPostgres::Connection::Connection(const std::string& path) : fd_(sim::connect_to(path)) {
  if (fd_ < 0) throw std::runtime_error("PostgreSQL does not listen");
  std::string content = number(0x30000);
  for (const std::string_view word : {"user", "lockstep", "database", "postgres"}) (content += word) += '\0';
  content += '\0';
  write_all(fd_, number(static_cast<std::uint32_t>(content.size() + 4)) + content);
  if (!answer_within(kPostgresPatience)) throw std::runtime_error("PostgreSQL did not answer");
}

RealPostgres::Connection::~Connection() { close(fd_); }

void RealPostgres::Connection::send(const std::string& query) {
  write_all(fd_, "Q" + number(static_cast<std::uint32_t>(query.size() + 5)) + query + '\0');
}

std::optional<std::string> RealPostgres::Connection::answer_within(int milliseconds) {
  while (true) {
    while (auto message = take_message(received_)) {
      const auto& [type, content] = *message;
      if (type == 'D') rows_.push_back(row_of(content));
      if (type == 'K') pid_ = static_cast<int>(number_at(content, 0));
      if (type == 'C') tag_ = content.substr(0, content.size() - 1);
      if (type == 'E') error_ = error_text(field(content, 'C'), field(content, 'M'));
      if (type != 'Z') continue;
      std::string text = std::exchange(error_, {});
      std::vector<std::string> rows = std::exchange(rows_, {});
      const std::string tag = std::exchange(tag_, {});
      if (!text.empty()) return text;
      if (tag == "ROLLBACK") return tag;
      const std::size_t space = tag.rfind(' ');
      text = space == std::string::npos ? "0" : tag.substr(space + 1);
      if (rows == std::vector<std::string>{"t"} || rows == std::vector<std::string>{""}) return "1";
      if (rows == std::vector<std::string>{"f"}) return "0";
      std::sort(rows.begin(), rows.end());
      for (const std::string& row : rows) text += ": " + row;
      return text;
    }
    pollfd poll_at{fd_, POLLIN, 0};
    if (poll(&poll_at, 1, milliseconds) <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t size = read(fd_, bytes, sizeof bytes);
    if (size <= 0) throw std::runtime_error("PostgreSQL has closed the connection");
    received_.append(bytes, static_cast<std::size_t>(size));
  }
}

std::string RealPostgres::Connection::ask(const std::string& query) {
  send(query);
  const auto answer = answer_within(kPostgresPatience);
  if (!answer || answer->starts_with("ERROR")) throw std::runtime_error(query + ": " + answer.value_or("no answer"));
  return *answer;
}

std::string to_sql(const Statement& statement) {
  using Kind = Statement::Kind;
  const auto term_of = [](const Term& term) {
    if (term.kind == Term::Kind::value) return term.value.text();
    return term.column + " + " + std::to_string(term.plus);
  };
  const auto joined = [](const std::vector<std::string>& parts, std::string_view before, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) (text += text.empty() ? before : between) += part;
    return text;
  };
  std::vector<std::string> where;
  for (const Condition& each : statement.where) where.push_back(each.column + " = " + term_of(each.term));
  std::vector<std::string> set;
  for (const Assignment& each : statement.set) set.push_back(each.column + " = " + term_of(each.term));
  std::vector<std::string> row;
  for (const Term& each : statement.row) row.push_back(term_of(each));
  switch (statement.kind) {
    case Kind::begin:
      return statement.isolation == Isolation::repeatable_read ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN";
    case Kind::commit: return "COMMIT";
    case Kind::rollback: return "ROLLBACK";
    case Kind::select: {
      std::string text = "SELECT id, value, other FROM test" + joined(where, " WHERE ", " AND ");
      if (statement.locking != Locking::none) text += " FOR UPDATE";
      if (statement.locking == Locking::nowait) text += " NOWAIT";
      if (statement.locking == Locking::skip_locked) text += " SKIP LOCKED";
      return text;
    }
    case Kind::insert: return "INSERT INTO test VALUES (" + joined(row, "", ", ") + ")";
    case Kind::update: return "UPDATE test SET " + joined(set, "", ", ") + joined(where, " WHERE ", " AND ");
    case Kind::remove: return "DELETE FROM test" + joined(where, " WHERE ", " AND ");
    case Kind::lock_advisory: return "SELECT pg_advisory_lock(" + statement.key.text() + ")";
    case Kind::try_advisory: return "SELECT pg_try_advisory_lock(" + statement.key.text() + ")";
    case Kind::unlock_advisory: return "SELECT pg_advisory_unlock(" + statement.key.text() + ")";
    case Kind::now: break;
  }
  return "SELECT now()";
}

void RealSessions::begin_again() {
  sessions_.clear();
  waiting_.clear();
  // Sessions that are closed may still be there for a moment.
  while (monitor_->ask("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "
                       "pg_backend_pid()") != "0")
    usleep(1'000);
  monitor_->ask("DROP TABLE IF EXISTS test");
  monitor_->ask("CREATE TABLE test (id int PRIMARY KEY, value int, other int UNIQUE)");
  monitor_->ask("INSERT INTO test VALUES (1, 10, 100), (2, 20, 200)");
}

RealPostgres::Connection& RealSessions::session(SessionId id) {
  while (sessions_.size() <= id) {
    sessions_.push_back(postgres_.connect());
    waiting_.push_back(false);
  }
  return *sessions_[id];
}

std::string RealSessions::blockers_of(SessionId id) {
  std::string text;
  for (SessionId other = 0; other < sessions_.size(); ++other) {
    const std::string answer = monitor_->ask("SELECT " + std::to_string(sessions_[other]->pid()) +
                                             " = ANY(pg_blocking_pids(" + std::to_string(session(id).pid()) + "))");
    if (answer == "1") text += " " + std::to_string(other);
  }
  return text;
}

std::string RealSessions::say(SessionId id, const Statement& statement, bool is_expected_to_end_circle) {
  RealPostgres::Connection& own = session(id);
  if (is_expected_to_end_circle) own.ask("SET deadlock_timeout = '10ms'");
  own.send(to_sql(statement));
  std::string text;
  for (int i = 0; text.empty(); ++i) {
    if (const auto answer = own.answer_within(is_expected_to_end_circle ? kPostgresPatience : 2)) {
      text = *answer;
    } else if (const std::string blockers = blockers_of(id); !blockers.empty()) {
      waiting_[id] = true;
      return "waits for" + blockers;
    }
    if (i > 5'000) throw std::runtime_error("neither an answer nor a wait");
  }
  if (is_expected_to_end_circle) {
    // Refused where the deadlock has ended a transaction, whose end takes the setting back as well.
    own.send("RESET deadlock_timeout");
    static_cast<void>(own.answer_within(kPostgresPatience));
  }
  // Who is not blocked any more answers soon; and with each answer somebody else may go on.
  std::map<SessionId, std::string> answers;
  for (bool is_over = false; !is_over;) {
    is_over = true;
    for (SessionId other = 0; other < sessions_.size(); ++other) {
      while (waiting_[other]) {
        if (const auto answer = sessions_[other]->answer_within(2)) {
          answers[other] = *answer;
          waiting_[other] = false;
          is_over = false;
        } else if (!blockers_of(other).empty()) {
          break;
        }
      }
    }
  }
  for (const auto& [other, answer] : answers) text += "; " + std::to_string(other) + ": " + answer;
  return text;
}

}  // namespace lockstep::models::sql::conformance
