#include "models/consul/cluster/messages.hpp"

#include <array>

#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::consul {

std::string Command::describe() const { return request.describe(); }

std::uint64_t Command::digest() const { return sim::combine64(id, request.digest()); }

std::string_view ServerMessage::name() const {
  static constexpr std::array<std::string_view, 3> kNames{"CONNECT", "FORWARD", "FORWARDED"};
  return kNames[content.index()];
}

std::string ServerMessage::describe() const {
  const std::string text(name());
  if (const auto* forwarded = std::get_if<Forward>(&content)) return text + " " + forwarded->command.describe();
  const auto* answered = std::get_if<Answered>(&content);
  return answered == nullptr ? text : text + " " + consul::describe(answered->told);
}

std::uint64_t ServerMessage::digest() const {
  if (const auto* forwarded = std::get_if<Forward>(&content)) return forwarded->command.digest();
  const auto* answered = std::get_if<Answered>(&content);
  return sim::combine64(digest_bytes(describe()), answered == nullptr ? 0 : answered->id);
}

}  // namespace lockstep::models::consul
