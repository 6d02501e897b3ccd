#include "models/sql/engine/statement.hpp"

#include <array>

#include <fmt/format.h>

namespace lockstep::models::sql {
namespace {

/// An instant may have no digits.
std::string shown(const Value& value) {
  if (value.timestamp() == nullptr) return plain_or_quoted(value.text());
  return value.timestamp()->instant.anchor() == 0 ? value.text() : "a timestamp";
}

std::string shown(const Term& term) {
  switch (term.kind) {
    case Term::Kind::value: return shown(term.value);
    case Term::Kind::column: return fmt::format("{} + {}", term.column, term.plus);
    case Term::Kind::now: break;
  }
  return term.after == sim::Duration() ? "now()" : "now() + " + sim::to_string(term.after);
}

void append_list(std::string& out, std::string_view before, std::string_view between,
                 const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? before : between;
    out += texts[i];
  }
}

}  // namespace

std::string_view Statement::name() const {
  switch (kind) {
    case Kind::begin: return "BEGIN";
    case Kind::commit: return "COMMIT";
    case Kind::rollback: return "ROLLBACK";
    case Kind::select: return locking == Locking::none ? "SELECT" : "SELECT_FOR_UPDATE";
    case Kind::insert: return "INSERT";
    case Kind::update: return "UPDATE";
    case Kind::remove: return "DELETE";
    case Kind::lock_advisory: return "PG_ADVISORY_LOCK";
    case Kind::try_advisory: return "PG_TRY_ADVISORY_LOCK";
    case Kind::unlock_advisory: return "PG_ADVISORY_UNLOCK";
    case Kind::now: break;
  }
  return "NOW";
}

std::string Statement::describe() const {
  std::string text(name());
  if (kind == Kind::begin && isolation == Isolation::repeatable_read) text += " ISOLATION LEVEL REPEATABLE READ";
  if (kind == Kind::begin && isolation == Isolation::read_committed) text += " ISOLATION LEVEL READ COMMITTED";
  if (kind == Kind::lock_advisory || kind == Kind::try_advisory || kind == Kind::unlock_advisory)
    text += " " + shown(key);
  if (table.empty()) return text;
  text += " " + table;
  std::vector<std::string> parts;
  for (const Term& term : row) parts.push_back(shown(term));
  append_list(text, " ", ", ", parts);
  parts.clear();
  for (const Assignment& each : set) parts.push_back(each.column + " = " + shown(each.term));
  append_list(text, " SET ", ", ", parts);
  parts.clear();
  constexpr std::array<std::string_view, 3> kSigns{" = ", " <= ", " > "};
  for (const Condition& each : where)
    parts.push_back(each.column + std::string(kSigns[static_cast<std::size_t>(each.is)]) + shown(each.term));
  append_list(text, " WHERE ", " AND ", parts);
  if (locking == Locking::nowait) text += " NOWAIT";
  if (locking == Locking::skip_locked) text += " SKIP LOCKED";
  return text;
}

std::uint64_t Statement::digest() const {
  std::uint64_t digest = digest_bytes(describe());
  const auto add = [&](const Term& term) {
    if (term.kind == Term::Kind::value) digest = digest_number(term.value.digest(), digest);
  };
  for (const Term& term : row) add(term);
  for (const Assignment& each : set) add(each.term);
  for (const Condition& each : where) add(each.term);
  return digest;
}

bool Statement::is_answered_at_once() const {
  switch (kind) {
    case Kind::select: return locking != Locking::wait;
    case Kind::insert:
    case Kind::update:
    case Kind::remove:
    case Kind::lock_advisory: return false;
    default: return true;
  }
}

std::string_view to_string(Error error) {
  constexpr std::array<std::string_view, 7> kTexts{"ok",
                                                   "duplicate key value violates unique constraint",
                                                   "could not serialize access due to concurrent update",
                                                   "deadlock detected",
                                                   "could not obtain lock",
                                                   "current transaction is aborted",
                                                   "server closed the connection"};
  return kTexts[static_cast<std::size_t>(error)];
}

std::string_view sqlstate(Error error) {
  constexpr std::array<std::string_view, 7> kCodes{"", "23505", "40001", "40P01", "55P03", "25P02", "08006"};
  return kCodes[static_cast<std::size_t>(error)];
}

std::uint64_t Result::digest() const {
  std::uint64_t digest = digest_bytes(describe());
  for (const Row& row : rows) {
    for (const Value& value : row) digest = digest_number(value.digest(), digest);
  }
  return digest;
}

std::string Result::describe() const {
  if (!ok()) return "ERROR: " + std::string(to_string(error));
  if (rolled_back) return "ROLLBACK";
  if (now) return shown(Value::milliseconds(*now));
  std::string text = std::to_string(affected);
  for (const Row& row : rows) {
    std::vector<std::string> parts;
    for (const Value& value : row) parts.push_back(shown(value));
    append_list(text, ": ", ", ", parts);
  }
  return text;
}

}  // namespace lockstep::models::sql
