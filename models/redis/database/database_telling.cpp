// What a database tells its subscribers of what commands do to keys.

#include <cstddef>
#include <string>
#include <vector>

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"
#include "models/redis/database/notifications.hpp"

namespace lockstep::models::redis {

void Database::announce(Call& call, const CommandSpec& spec) {
  tell(notifications_of(call, spec, configuration_.notified_events()));
}

void Database::announce_expiries(Call& call) {
  tell(expiries_of(call, *find_command(call.arguments), configuration_.notified_events()));
}

void Database::tell(const std::vector<Notification>& notifications) {
  const NotifiedEvents events = configuration_.notified_events();
  for (const Notification& notification : notifications) {
    touches_more_than_keys();
    const std::size_t first = deliveries_.size();
    const std::string number = std::to_string(notification.database);
    if (events.has(EventClass::by_key)) {
      send_to_subscribers(*this, "__keyspace@" + number + "__:" + notification.key, notification.event);
    }
    if (events.has(EventClass::by_event)) {
      send_to_subscribers(*this, "__keyevent@" + number + "__:" + std::string(notification.event), notification.key);
    }
    place_deliveries(first, notification.written);
  }
}

}  // namespace lockstep::models::redis
