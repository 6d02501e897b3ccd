#pragma once

// For the tests of this folder: a real MariaDB to compare with.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/sql/conformance/stories.hpp"

namespace lockstep::models::sql::conformance {

/// A MariaDB 10.11 of our own, on a socket in a temporary folder; both are gone with the object.
class RealMariadb {
 public:
  /// Null if none is installed; `why` says so.
  static std::unique_ptr<RealMariadb> start(std::string& why);
  ~RealMariadb();
  RealMariadb(const RealMariadb&) = delete;
  RealMariadb& operator=(const RealMariadb&) = delete;

  /// A session, by the protocol of MySQL 4.1, text queries alone. Rows that are found count as affected.
  class Connection {
   public:
    explicit Connection(const std::string& path);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// The server's number of it.
    int id() const { return id_; }
    void send(const std::string& query);
    /// The answer as `Result::describe` has it, if it is there within this time.
    std::optional<std::string> answer_within(int milliseconds);
    /// Requires: no error.
    std::string ask(const std::string& query);

   private:
    std::optional<std::string> take_packet();
    std::optional<std::string> take_answer();
    bool receive_within(int milliseconds);
    void send_packet(char number, const std::string& content);

    int fd_ = -1;
    int id_ = 0;
    std::string received_;
    std::optional<std::size_t> columns_;  ///< of a result that is coming in
    bool has_columns_ = false;            ///< their descriptions are over
    std::vector<std::string> rows_;
  };
  std::unique_ptr<Connection> connect() const { return std::make_unique<Connection>(folder_ + "/socket"); }

 private:
  explicit RealMariadb(std::string folder) : folder_(std::move(folder)) {}

  int pid_ = 0;
  std::string folder_;
};

/// Tells as `TestEngine` does, of the real one.
class RealMariadbSessions {
 public:
  explicit RealMariadbSessions(const RealMariadb& mariadb);
  /// The table as at first, new sessions.
  void begin_again();
  /// `answers`: how many of those who wait are expected to be told something.
  std::string say(SessionId session, const Statement& statement, std::size_t answers = 0);

 private:
  std::string blockers_of(SessionId session);
  void let_purge();
  RealMariadb::Connection& session(SessionId id);

  const RealMariadb& mariadb_;
  std::unique_ptr<RealMariadb::Connection> monitor_;
  std::vector<std::unique_ptr<RealMariadb::Connection>> sessions_;
  std::vector<std::optional<Statement>> waiting_;
  struct Purger {
    explicit Purger(std::unique_ptr<RealMariadb::Connection> c) : connection(std::move(c)) {}
    std::unique_ptr<RealMariadb::Connection> connection;
    bool is_waiting = false;
  };
  std::vector<Purger> purgers_;
  std::size_t next_purger_ = 0;
};

}  // namespace lockstep::models::sql::conformance
