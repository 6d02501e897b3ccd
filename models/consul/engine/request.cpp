#include "models/consul/engine/request.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lockstep::models::consul {

sim::DurationRange wait_of(const Query& query) {
  const sim::Duration wait = query.wait <= sim::Duration::zero() ? kStandardWait : std::min(query.wait, kLongestWait);
  return {wait, wait + wait / kJitterFraction};
}

std::string_view to_string(Error error) {
  switch (error) {
    case Error::none: break;
    case Error::missing_key: return "Missing key name";
    case Error::missing_session: return "missing session";
    case Error::invalid_session: return "invalid session";
    case Error::unknown_session: return "Session id not found";
    case Error::missing_check: return "Missing check registration";
    case Error::critical_check: return "Check is in critical state";
    case Error::invalid_ttl: return "Invalid Session TTL";
    case Error::no_path_to_datacenter: return "No path to datacenter";
    case Error::no_leader: return "No cluster leader";
    case Error::not_leader: return "node is not the leader";
    case Error::refused: return "connection refused";
    case Error::leadership_lost: return "leadership lost while committing log";
  }
  return "";
}

std::string_view name_of(const Write& write) {
  static constexpr std::array<std::string_view, 4> kNames{"PUT", "PUT_CAS", "PUT_ACQUIRE", "PUT_RELEASE"};
  return kNames[static_cast<std::size_t>(write.how)];
}

std::string_view name_of(const Delete& asked) {
  static constexpr std::array<std::string_view, 3> kNames{"DELETE", "DELETE_CAS", "DELETE_RECURSE"};
  return kNames[static_cast<std::size_t>(asked.how)];
}

/// A blocking query has a name of its own: files say at which of them a fault strikes.
std::string_view name_of(const Query& query) {
  static constexpr std::array<std::array<std::string_view, 2>, 5> kNames{{{"GET", "GET_WAIT"},
                                                                          {"GET_RECURSE", "GET_RECURSE_WAIT"},
                                                                          {"GET_KEYS", "GET_KEYS_WAIT"},
                                                                          {"SESSION_INFO", "SESSION_INFO_WAIT"},
                                                                          {"SESSION_LIST", "SESSION_LIST_WAIT"}}};
  return kNames[static_cast<std::size_t>(query.what)][query.index > 0 ? 1 : 0];
}

std::string describe(const KeyValue& kv) {
  std::string text = kv.key;
  if (!kv.value.empty()) text += " = " + kv.value;
  text += fmt::format(" created at {}, modified at {}", kv.create_index, kv.modify_index);
  if (kv.lock_index != 0) text += fmt::format(", locked {}", kv.lock_index);
  if (kv.session != 0) text += fmt::format(", session {}", kv.session);
  return text;
}

std::string describe(const Session& session) {
  std::string text =
      fmt::format("session {} ttl {}, lock-delay {}{}", session.id, to_string(session.ttl),
                  to_string(session.lock_delay), session.behavior == Behavior::deletes ? ", deletes" : "");
  for (const std::string& check : session.checks) text += ", check " + check;
  return text;
}

std::string describe(const Write& write) {
  std::string text = "PUT " + write.key;
  if (write.how == Write::How::cas) text += fmt::format(" cas={}", write.index);
  if (write.how == Write::How::acquire) text += fmt::format(" acquire={}", write.session);
  if (write.how == Write::How::release) text += fmt::format(" release={}", write.session);
  if (!write.value.empty()) text += " " + write.value;
  return text;
}

std::string describe(const Delete& asked) {
  std::string text = "DELETE " + asked.key;
  if (asked.how == Delete::How::cas) text += fmt::format(" cas={}", asked.index);
  if (asked.how == Delete::How::recurse) text += " recurse";
  return text;
}

std::string describe(const CheckUpdate& update) {
  static constexpr std::array<std::string_view, 3> kWords{"passing", "critical", "deregistered"};
  return fmt::format("CHECK {} {}", update.check, kWords[static_cast<std::size_t>(update.status)]);
}

std::string describe(const Query& query) {
  std::string text = "GET ";
  switch (query.what) {
    case Query::What::key: text += query.key; break;
    case Query::What::recurse: text += query.key + " recurse"; break;
    case Query::What::keys:
      text += query.key + " keys" + (query.separator.empty() ? "" : " by " + query.separator);
      break;
    case Query::What::session_info: text += fmt::format("session {}", query.session); break;
    case Query::What::session_list: text += "sessions"; break;
  }
  if (query.index > 0) text += fmt::format(" index={}", query.index);
  if (query.index > 0 && query.wait > sim::Duration::zero()) text += " wait=" + to_string(query.wait);
  if (query.consistency == Consistency::consistent) text += " consistent";
  if (query.consistency == Consistency::stale) text += " stale";
  return text;
}

std::string describe(const Answer& answer) {
  if (answer.error != Error::none) return "ERROR: " + std::string(to_string(answer.error));
  if (answer.index == 0) return answer.ok ? "true" : "false";
  std::string text = fmt::format("index {}", answer.index);
  for (const KeyValue& kv : answer.kvs) text += "; " + describe(kv);
  for (const std::string& key : answer.keys) text += "; " + key;
  for (const Session& session : answer.sessions) text += "; " + describe(session);
  return text;
}

}  // namespace lockstep::models::consul
