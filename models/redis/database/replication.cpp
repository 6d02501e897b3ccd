#include "models/redis/database/replication.hpp"

#include <algorithm>
#include <cassert>

#include "sim/schedules/random.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::size_t kIdLength = 40;
constexpr std::string_view kNoId = "0000000000000000000000000000000000000000";

std::int64_t digits(std::uint64_t number) {
  std::int64_t count = 1;
  for (; number > 9; number /= 10) ++count;
  return count;
}

std::int64_t bulk_bytes(std::size_t length) {
  return 1 + digits(length) + 2 + static_cast<std::int64_t>(length) + 2;  // $3\r\nSET\r\n
}

std::string hexadecimal(std::uint64_t seed) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::uint64_t word = seed; out.size() < kIdLength; word = sim::combine64(word, out.size())) {
    for (int shift = 60; shift >= 0 && out.size() < kIdLength; shift -= 4) out += kDigits[word >> shift & 15];
  }
  return out;
}

std::string id_of(const std::string& name, std::uint64_t life, std::uint64_t history) {
  return hexadecimal(sim::combine64(sim::combine64(digest_bytes(name), life), history));
}

}  // namespace

std::string_view to_string(LinkState state) {
  switch (state) {
    case LinkState::connect: return "connect";
    case LinkState::connecting: return "connecting";
    case LinkState::sync: return "sync";
    case LinkState::connected: return "connected";
  }
  return "?";
}

std::int64_t stream_bytes(const Command& command) {
  constexpr std::size_t kDigitsOfMilliseconds = 13;
  std::int64_t sum = 1 + digits(command.size()) + 2;
  std::string scratch;
  for (const Value& value : command.values()) {
    const Timestamp* time = value.timestamp();
    const bool is_symbolic = time != nullptr && time->instant.anchor() != 0;
    sum += bulk_bytes(is_symbolic ? kDigitsOfMilliseconds : value.view(scratch).size());
  }
  return sum;
}

void Replication::set_name(std::string name) {
  name_ = std::move(name);
  restart(primary_, life_);
}

// --- Role.

void Replication::follow(Address primary) {
  primary_ = std::move(primary);
  link_ = LinkState::connect;
}

void Replication::lead() {
  primary_.reset();
  second_id_ = id_;
  second_offset_ = offset_ + 1;
  id_ = new_id();
  forget_selected_database();
}

// --- History.

std::string Replication::new_id() { return id_of(name_, life_, histories_++); }

void Replication::adopt(const std::string& id, std::int64_t offset) {
  id_ = id;
  offset_ = offset;
  second_id_ = kNoId;
  second_offset_ = -1;
  backlog_.clear();
  has_backlog_ = true;
  forget_selected_database();
}

void Replication::continue_as(const std::string& id) {
  if (id == id_) return;
  second_id_ = id_;
  second_offset_ = offset_ + 1;
  id_ = id;
}

void Replication::continue_after_restart(const std::string& id, std::int64_t offset) {
  offset_ = offset;
  has_backlog_ = true;
  if (is_replica()) {
    id_ = id;
    return;
  }
  second_id_ = id;
  second_offset_ = offset + 1;
}

// --- Stream.

/// Whoever was never followed has no history to speak of.
void Replication::begin_recording() {
  if (has_backlog_) return;
  id_ = new_id();
  second_id_ = kNoId;
  second_offset_ = -1;
  has_backlog_ = true;
}

std::shared_ptr<const StreamPart> Replication::append(std::vector<Effect> effects) {
  assert(has_backlog_ && !is_replica());
  if (effects.empty()) return nullptr;
  static const std::int64_t around = stream_bytes(Command{"MULTI"}) + stream_bytes(Command{"EXEC"});
  std::int64_t bytes = effects.size() > 1 ? around : 0;
  for (const Effect& effect : effects) {
    if (selected_database_ != effect.database) bytes += stream_bytes(Command{"SELECT", effect.database});
    selected_database_ = effect.database;
    bytes += stream_bytes(effect.command);
  }
  StreamPart part;
  part.effects = std::move(effects);
  return append(std::move(part), bytes);
}

std::shared_ptr<const StreamPart> Replication::append_ack_request() {
  static const std::int64_t bytes = stream_bytes(Command{"REPLCONF", "GETACK", "*"});
  StreamPart part;
  part.asks_for_ack = true;
  return append(std::move(part), bytes);
}

std::shared_ptr<const StreamPart> Replication::append(StreamPart part, std::int64_t bytes) {
  part.begin = offset_;
  part.end = offset_ + bytes;
  offset_ = part.end;
  backlog_.push_back(std::make_shared<const StreamPart>(std::move(part)));
  std::shared_ptr<const StreamPart> appended = backlog_.back();
  trim();
  return appended;
}

void Replication::append_received(std::shared_ptr<const StreamPart> part) {
  assert(part->begin == offset_);
  offset_ = part->end;
  backlog_.push_back(std::move(part));
  trim();
}

void Replication::set_backlog_size(std::int64_t bytes) {
  backlog_size_ = bytes;
  trim();
}

void Replication::trim() {
  while (!backlog_.empty() && offset_ - backlog_.front()->begin > backlog_size_) backlog_.pop_front();
}

bool Replication::can_continue(std::string_view id, std::int64_t offset) const {
  if (!has_backlog_ || offset > offset_ || offset < backlog_begin()) return false;
  return id == id_ || (id == second_id_ && offset < second_offset_);
}

std::vector<std::shared_ptr<const StreamPart>> Replication::since(std::int64_t offset) const {
  std::vector<std::shared_ptr<const StreamPart>> parts;
  for (const auto& part : backlog_) {
    if (part->begin >= offset) parts.push_back(part);
  }
  return parts;
}

// --- Replicas.

Replica* Replication::replica(SessionId session) {
  const auto found =
      std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) { return r.session == session; });
  return found == replicas_.end() ? nullptr : &*found;
}

void Replication::forget_replica(SessionId session) {
  std::erase_if(replicas_, [&](const Replica& r) { return r.session == session; });
}

std::int64_t Replication::acknowledged_by(std::int64_t offset) const {
  return std::count_if(replicas_.begin(), replicas_.end(),
                       [&](const Replica& r) { return r.state == Replica::State::online && r.acknowledged >= offset; });
}

std::int64_t Replication::good_replicas(const sim::Clock& clock, sim::Duration lag) const {
  const bool are_heard = has_periodic_acks_ && !clock.world().is_explored();
  return std::count_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) {
    return r.state == Replica::State::online && (!are_heard || !clock.has_passed(r.heard + lag));
  });
}

// --- Restarts.

void Replication::restart(std::optional<Address> primary, std::uint64_t life) {
  primary_ = std::move(primary);
  link_ = LinkState::connect;
  down_since_ = heard_of_primary_ = sim::Instant::origin();
  life_ = life;
  histories_ = 0;
  failover_ = Failover::none;
  id_ = new_id();
  second_id_ = kNoId;
  second_offset_ = -1;
  offset_ = 0;
  has_backlog_ = false;
  forget_selected_database();
  backlog_.clear();
  replicas_.clear();
}

void Replication::begin_in_sync_with(const std::string& primary_name) {
  id_ = id_of(primary_name, 0, 0);
  has_backlog_ = true;
  if (is_replica()) link_ = LinkState::connected;
}

}  // namespace lockstep::models::redis
