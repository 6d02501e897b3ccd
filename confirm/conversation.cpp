#include "confirm/conversation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/value.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::confirm {
namespace {

using models::Value;
using models::redis::Command;
using models::redis::Node;
using models::redis::Reply;
using models::redis::Request;

template <class Wanted>
bool has_argument(const Request& request, Wanted wanted) {
  const auto is_in = [&](const Command& command) {
    const auto values = command.values();
    return std::any_of(values.begin(), values.end(), wanted);
  };
  return is_in(request.command) || std::any_of(request.in_front.begin(), request.in_front.end(), is_in);
}

bool mentions(const Value& value, std::string_view word) {
  std::string scratch;
  std::string text(value.view(scratch));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text.find(word) != std::string::npos;
}

std::optional<std::int64_t> number_of(const Reply& reply) {
  if (reply.is_integer()) return reply.integer();
  if (reply.is_bulk()) return reply.value().integer();
  return std::nullopt;
}

/// Numbers alone: seconds, milliseconds or microseconds, which one tells by their size.
bool are_near(std::int64_t a, std::int64_t b, sim::Duration tolerance) {
  constexpr std::int64_t kMicroseconds = 100'000'000'000'000;
  if (a < 0 || b < 0) return false;
  const std::int64_t unit = std::max(a, b) > kMicroseconds ? 1'000 : 1'000'000;
  return std::max(a, b) - std::min(a, b) <= std::max<std::int64_t>(1, tolerance.count_ns() / unit);
}

bool are_times(const Reply& a, const Reply& b, sim::Duration tolerance) {
  if (a.resp() == b.resp()) return true;
  if (a.is_array() && b.is_array() && a.items().size() == b.items().size()) {
    for (std::size_t i = 0; i < a.items().size(); ++i) {
      if (!are_times(a.items()[i], b.items()[i], tolerance)) return false;
    }
    return true;
  }
  const auto first = number_of(a);
  const auto second = number_of(b);
  return first && second && are_near(*first, *second, tolerance);
}

/// Ports are the same in all of a story, so they may go, too.
Reply without_offsets(const Reply& reply) {
  if (reply.is_integer()) return Reply::integer(0);
  if (reply.is_bulk() && reply.value().integer()) return Reply::bulk("0");
  if (!reply.is_array()) return reply;
  std::vector<Reply> items;
  for (const Reply& item : reply.items()) items.push_back(without_offsets(item));
  return Reply::array(std::move(items));
}

}  // namespace

Kin kin_of(const Request& request) {
  if (request.command[0].is_word("ROLE")) return Kin::offsets;
  const auto is_about_time = [](const Value& value) {
    constexpr std::array<std::string_view, 4> kWords{"TTL", "TIME", "IDLETIME", "EVALSHA"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return mentions(value, word); });
  };
  return has_argument(request, is_about_time) ? Kin::times : Kin::nothing;
}

Exchange::Sameness compare(const Reply& model, const Reply& real, Kin kin, sim::Duration tolerance) {
  if (model.is_unknown() || real.is_unknown())
    return model.is_unknown() == real.is_unknown() ? Exchange::Sameness::same : Exchange::Sameness::differs;
  if (model.resp() == real.resp()) return Exchange::Sameness::same;
  const bool mean_the_same = (kin == Kin::times && are_times(model, real, tolerance)) ||
                             (kin == Kin::offsets && without_offsets(model).resp() == without_offsets(real).resp());
  return mean_the_same ? Exchange::Sameness::as_times : Exchange::Sameness::differs;
}

std::optional<Reply> Listener::answered(Node& node, sim::ConnectionId connection, const Request& request,
                                        std::optional<Reply> answer) {
  const auto is_moment = [](const Value& value) {
    constexpr std::array<std::string_view, 3> kWords{"EXPIREAT", "EXAT", "PXAT"};
    if (std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
          return value.is_word(word) || value.is_word("P" + std::string(word));
        }))
      return true;
    return value.is_word("TIME") || mentions(value, "'TIME'") || mentions(value, "\"TIME\"") ||
           mentions(value, "EXPIREAT'") || mentions(value, "EXPIREAT\"");
  };
  if (has_argument(request, is_moment)) asks_for_time_ = true;
  const sim::World& world = node.world();
  const std::string& who = world.name(world.client_of(connection));
  note(node, who + ": " + request.describe(), answer ? answer->describe() : "(waits)");
  measure(node);
  return answer;
}

std::optional<Reply> Listener::delivered(Node& node, const models::redis::Delivery& delivery) {
  note(node, "(message)", delivery.reply.describe());
  return delivery.reply;
}

void Listener::crashed(Node& node, bool) { ends_.forget(node); }

void Listener::note(const Node& node, std::string_view said, std::string_view answer) {
  ++exchanges_;
  const auto now = static_cast<std::uint64_t>(node.world().now().offset().count_ns());
  digest_ = models::digest_number(now, digest_);
  for (const std::string_view text : {std::string_view(node.name()), said, answer})
    digest_ = models::digest_bytes(text, digest_);
}

/// Ends that were there before the command count as well as those that are there now: it may have moved one that it
/// came close to, and a lease of a millisecond is near its own beginning.
void Listener::measure(const Node& node) {
  const sim::Duration now = node.world().now().offset();
  const auto look = [&] {
    for (const sim::Duration end : ends_.of(node)) {
      if (end > now) margin_ = std::min(margin_.value_or(end - now), end - now);
    }
  };
  look();
  ends_.follow(node);
  look();
}

const std::vector<sim::Duration>& LeaseEnds::of(const Node& node) const {
  static const std::vector<sim::Duration> none;
  const auto found = ends_.find(node.name());
  return found == ends_.end() ? none : found->second;
}

void LeaseEnds::follow(const Node& node) {
  std::vector<sim::Duration>& ends = ends_[node.name()];
  ends.clear();
  for (models::redis::DatabaseId database = 0; database < models::redis::kDatabases; ++database) {
    for (const models::redis::Entry& entry : node.database().keys().entries(database)) {
      if (entry.expires) ends.push_back(node.clock().true_time_of(entry.at).offset());
    }
  }
}

void LeaseEnds::forget(const Node& node) { ends_.erase(node.name()); }

}  // namespace lockstep::confirm
