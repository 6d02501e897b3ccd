#pragma once

// For the tests of this folder: a real PostgreSQL to compare with.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/sql/conformance/stories.hpp"

namespace lockstep::models::sql::conformance {

/// A PostgreSQL 15 of our own, on a socket in a temporary folder; both are gone with the object.
class RealPostgres {
 public:
  /// Null if none is installed; `why` says so.
  static std::unique_ptr<RealPostgres> start(std::string& why);
  ~RealPostgres();
  RealPostgres(const RealPostgres&) = delete;
  RealPostgres& operator=(const RealPostgres&) = delete;

  /// A session, by PostgreSQL's protocol 3.0, simple queries alone.
  class Connection {
   public:
    explicit Connection(const std::string& path);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    int pid() const { return pid_; }
    void send(const std::string& query);
    /// The answer as `Result::describe` has it, if it is there within this time.
    std::optional<std::string> answer_within(int milliseconds);
    /// Requires: no error.
    std::string ask(const std::string& query);

   private:
    int fd_ = -1;
    int pid_ = 0;
    std::string received_;
    std::string tag_, error_;
    std::vector<std::string> rows_;
  };
  std::unique_ptr<Connection> connect() const { return std::make_unique<Connection>(folder_ + "/.s.PGSQL.5432"); }

 private:
  explicit RealPostgres(std::string folder) : folder_(std::move(folder)) {}

  int pid_ = 0;
  std::string folder_;
};

/// The statement as PostgreSQL reads it.
std::string to_sql(const Statement& statement);

/// Tells as `TestEngine` does, of the real one.
class RealSessions {
 public:
  explicit RealSessions(const RealPostgres& postgres) : postgres_(postgres), monitor_(postgres.connect()) {}
  /// The table as at first, new sessions.
  void begin_again();
  /// `is_expected_to_end_circle`: nobody else may look for a deadlock first.
  std::string say(SessionId session, const Statement& statement, bool is_expected_to_end_circle = false);
  bool waits(SessionId session) const { return waiting_.at(session); }

 private:
  std::string blockers_of(SessionId session);
  RealPostgres::Connection& session(SessionId id);

  const RealPostgres& postgres_;
  std::unique_ptr<RealPostgres::Connection> monitor_;
  std::vector<std::unique_ptr<RealPostgres::Connection>> sessions_;
  std::vector<bool> waiting_;
};

}  // namespace lockstep::models::sql::conformance
