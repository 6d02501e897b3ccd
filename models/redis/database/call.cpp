#include "models/redis/database/call.hpp"

#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// A timestamp of an exploration differs from every other instant unless the world says otherwise.
bool Call::equal(const Value& a, const Value& b) const {
  const Timestamp* left = a.timestamp();
  const Timestamp* right = b.timestamp();
  if (left == nullptr || right == nullptr || left->instant.anchor() == right->instant.anchor()) return a == b;
  return left->unit == right->unit && world().prints_alike(left->instant, right->instant, left->unit);
}

}  // namespace lockstep::models::redis
