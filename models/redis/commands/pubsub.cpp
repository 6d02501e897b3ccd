// Channels and patterns. A message goes to whoever is subscribed at that moment and is then gone: at most once.

#include <algorithm>
#include <set>
#include <string>

#include "models/redis/data/glob.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

Reply confirmation(std::string_view kind, Reply channel, const Session& client) {
  const auto count = static_cast<std::int64_t>(client.channels.size() + client.patterns.size());
  return Reply::push({Reply::bulk(kind), std::move(channel), Reply::integer(count)});
}

Reply one_or_several(std::vector<Reply> replies) {
  return replies.size() == 1 ? std::move(replies.front()) : Reply::several(std::move(replies));
}

Reply subscribe(Call& call, std::string_view kind, std::vector<std::string>& list) {
  call.database.touches_more_than_keys();
  std::vector<Reply> replies;
  for (std::size_t i = 1; i < call.size(); ++i) {
    const std::string name(call.key(i));
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    replies.push_back(confirmation(kind, Reply::bulk(name), call.session));
  }
  return one_or_several(std::move(replies));
}

/// From all of the list if none is named.
Reply unsubscribe(Call& call, std::string_view kind, std::vector<std::string>& list) {
  call.database.touches_more_than_keys();
  std::vector<std::string> names = list;
  if (call.size() > 1) {
    names.clear();
    for (std::size_t i = 1; i < call.size(); ++i) names.emplace_back(call.key(i));
  }
  std::vector<Reply> replies;
  for (const std::string& name : names) {
    std::erase(list, name);
    replies.push_back(confirmation(kind, Reply::bulk(name), call.session));
  }
  if (names.empty()) replies.push_back(confirmation(kind, Reply::nil(), call.session));
  return one_or_several(std::move(replies));
}

}  // namespace

Reply subscribe_command(Call& call) { return subscribe(call, "subscribe", call.session.channels); }
Reply psubscribe_command(Call& call) { return subscribe(call, "psubscribe", call.session.patterns); }
Reply unsubscribe_command(Call& call) { return unsubscribe(call, "unsubscribe", call.session.channels); }
Reply punsubscribe_command(Call& call) { return unsubscribe(call, "punsubscribe", call.session.patterns); }

std::int64_t send_to_subscribers(Database& database, const std::string& channel, const Value& payload) {
  std::int64_t receivers = 0;
  for (const Session& client : database.sessions()) {
    if (std::find(client.channels.begin(), client.channels.end(), channel) == client.channels.end()) continue;
    ++receivers;
    database.deliver(Delivery::Kind::message, client.id,
                     Reply::push({Reply::bulk("message"), Reply::bulk(channel), Reply::bulk(payload)}));
  }
  for (const Session& client : database.sessions()) {
    for (const std::string& pattern : client.patterns) {
      if (!glob_matches(pattern, channel)) continue;
      ++receivers;
      database.deliver(
          Delivery::Kind::message, client.id,
          Reply::push({Reply::bulk("pmessage"), Reply::bulk(pattern), Reply::bulk(channel), Reply::bulk(payload)}));
    }
  }
  return receivers;
}

Reply publish_command(Call& call) {
  call.database.touches_more_than_keys();
  const std::string channel(call.key(1));
  const Value& payload = call.arguments[2];
  const std::int64_t receivers = send_to_subscribers(call.database, channel, payload);
  // Replicas have subscribers, too.
  call.database.replicate_as(Command{"PUBLISH", channel, payload});
  return Reply::integer(receivers);
}

Reply pubsub_channels_command(Call& call) {
  call.database.touches_more_than_keys();
  if (call.size() > 3) return unknown_subcommand_or_arity(call, "PUBSUB");
  const std::optional<std::string> pattern = call.size() == 3 ? std::optional(call.arguments[2].text()) : std::nullopt;
  std::set<std::string> channels;
  for (const Session& client : call.database.sessions()) {
    for (const std::string& channel : client.channels) {
      if (!pattern || glob_matches(*pattern, channel)) channels.insert(channel);
    }
  }
  std::vector<Reply> names;
  for (const std::string& channel : channels) names.push_back(Reply::bulk(channel));
  return Reply::array(std::move(names));
}

Reply pubsub_numsub_command(Call& call) {
  call.database.touches_more_than_keys();
  std::vector<Reply> counts;
  for (std::size_t i = 2; i < call.size(); ++i) {
    const std::string channel(call.key(i));
    const auto& sessions = call.database.sessions();
    const auto subscribers = std::count_if(sessions.begin(), sessions.end(), [&](const Session& client) {
      return std::find(client.channels.begin(), client.channels.end(), channel) != client.channels.end();
    });
    counts.push_back(Reply::bulk(channel));
    counts.push_back(Reply::integer(subscribers));
  }
  return Reply::array(std::move(counts));
}

Reply pubsub_numpat_command(Call& call) {
  call.database.touches_more_than_keys();
  std::set<std::string> patterns;
  for (const Session& client : call.database.sessions()) {
    patterns.insert(client.patterns.begin(), client.patterns.end());
  }
  return Reply::integer(static_cast<std::int64_t>(patterns.size()));
}

}  // namespace lockstep::models::redis
