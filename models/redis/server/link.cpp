#include "models/redis/server/link.hpp"

#include "sim/schedules/random.hpp"

namespace lockstep::models::redis {

std::string_view LinkMessage::name() const {
  switch (kind) {
    case Kind::psync: return "PSYNC";
    case Kind::acknowledges: return "REPLCONF ACK";
    case Kind::closed: return "CLOSED";
    case Kind::refused: return "REFUSED";
    case Kind::full_resync: return "FULLRESYNC";
    case Kind::partial_resync: return "CONTINUE";
    case Kind::stream: return "STREAM";
    case Kind::reachable: return "REACHABLE";
  }
  return "?";
}

std::string LinkMessage::describe() const {
  constexpr std::size_t kShown = 8;
  std::string text(name());
  switch (kind) {
    case Kind::psync:
      text += " " + id.substr(0, kShown) + " " + std::to_string(offset) + (takes_over ? " FAILOVER" : "");
      break;
    case Kind::full_resync: text += " " + id.substr(0, kShown) + " " + std::to_string(offset); break;
    case Kind::acknowledges: text += " " + std::to_string(offset); break;
    case Kind::partial_resync: text += " " + id.substr(0, kShown); break;
    case Kind::closed:
    case Kind::refused:
    case Kind::reachable: break;
    case Kind::stream:
      text.clear();
      for (const Effect& effect : part->effects) text += (text.empty() ? "" : "; ") + effect.command.describe();
      if (part->asks_for_ack) text = "REPLCONF GETACK *";
      break;
  }
  return text;
}

std::uint64_t LinkMessage::digest() const {
  std::uint64_t sum = sim::combine64(static_cast<std::uint64_t>(kind), number);
  sum = sim::combine64(sum, digest_bytes(id));
  sum = sim::combine64(sum, static_cast<std::uint64_t>(offset) * 2 + (takes_over ? 1 : 0));
  if (part) {
    sum = sim::combine64(sum, static_cast<std::uint64_t>(part->end));
    for (const Effect& effect : part->effects) sum = sim::combine64(sum, effect.command.digest());
  }
  if (keys) sum = sim::combine64(sum, keys->digest());
  return sum;
}

}  // namespace lockstep::models::redis
