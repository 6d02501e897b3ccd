#include "models/redis/script/script_memory.hpp"

#include <algorithm>
#include <string_view>

#include "sim/coroutines/region.hpp"

namespace lockstep::models::redis {
namespace {

/// A timestamp may be symbolic, and is then compared by asking the world: such a run is no function of its texts.
bool is_timeless(const Value& value) { return value.timestamp() == nullptr; }

bool is_timeless(const Reply& reply) {
  if (reply.is_time_left()) return false;
  if (reply.is_bulk()) return is_timeless(reply.value());
  if (!reply.is_array()) return true;
  return std::all_of(reply.items().begin(), reply.items().end(), [](const Reply& item) { return is_timeless(item); });
}

std::int64_t number_of(const Reply& reply) { return reply.is_integer() && !reply.is_time_left() ? reply.integer() : 0; }

bool are_timeless(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), [](const Value& value) { return is_timeless(value); });
}

}  // namespace

ScriptMemory::Way* ScriptMemory::Node::way_of(const Reply& reply) {
  const std::int64_t number = number_of(reply);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (numbers[i] == number && ways[i].reply == reply) return &ways[i];
  }
  return nullptr;
}

ScriptMemory::Way& ScriptMemory::Node::add_way(const Reply& reply) {
  numbers.push_back(number_of(reply));
  return ways.emplace_back(reply, kNone);
}

/// Answers the first calls of a run with what is known, lets the others through, and notes all of them in the tree.
class ScriptMemory::Recorder final : public ScriptHost {
 public:
  /// `known`: the replies to the first calls.
  Recorder(ScriptMemory& memory, ScriptHost& host, Position& first, std::span<const Reply> known)
      : memory_(memory), host_(host), next_(&first), known_(known) {}

  Reply call_from_script(const Command& command, bool may_write) override {
    Reply reply = calls_ < known_.size() ? known_[calls_] : host_.call_from_script(command, may_write);
    ++calls_;
    if (next_ == nullptr) return reply;
    const sim::Region::Outside outside;
    if (*next_ == kNone)
      *next_ = add({.is_end = false,
                    .result = Reply::nil(),
                    .call = command,
                    .may_write = may_write,
                    .ways = {},
                    .numbers = {}});
    if (*next_ == kNone || !is_timeless(reply)) {
      next_ = nullptr;
      return reply;
    }
    Node& node = memory_.nodes_[*next_];
    Way* way = node.way_of(reply);
    if (way == nullptr) way = &node.add_way(reply);
    next_ = &way->next;
    return reply;
  }
  bool knows_command(const Command& command) const override { return host_.knows_command(command); }
  sim::World* world() const override { return host_.world(); }
  sim::Instant now() const override { return host_.now(); }

  void end(const Reply& result) {
    if (next_ == nullptr || *next_ != kNone || !is_timeless(result)) return;
    const sim::Region::Outside outside;
    *next_ = add({.is_end = true, .result = result, .call = {}, .may_write = true, .ways = {}, .numbers = {}});
  }

 private:
  Position add(Node node) {
    if (memory_.nodes_.size() == kMostNodes) return kNone;
    memory_.nodes_.push_back(std::move(node));
    return static_cast<Position>(memory_.nodes_.size() - 1);
  }

  ScriptMemory& memory_;
  ScriptHost& host_;
  Position* next_;  ///< where the node of the next call, or of the end, is noted; null: nowhere
  std::span<const Reply> known_;
  std::size_t calls_ = 0;
};

ScriptMemory::Position& ScriptMemory::start_of(ScriptId script, std::span<const Value> keys,
                                               std::span<const Value> arguments) {
  std::uint64_t hash = script;
  std::string scratch;
  const auto mix = [&](std::span<const Value> values) {
    hash = hash * 31 + values.size();
    for (const Value& value : values) hash = digest_bytes(value.view(scratch), hash);
  };
  mix(keys);
  mix(arguments);
  if (const auto known = starts_.find(hash); known != starts_.end()) {
    for (Start& start : known->second) {
      if (start.script == script && std::equal(keys.begin(), keys.end(), start.keys.begin(), start.keys.end()) &&
          std::equal(arguments.begin(), arguments.end(), start.arguments.begin(), start.arguments.end())) {
        return start.first;
      }
    }
  }
  const sim::Region::Outside outside;
  std::vector<Start>& starts = starts_[hash];
  starts.push_back({script, {keys.begin(), keys.end()}, {arguments.begin(), arguments.end()}, kNone});
  return starts.back().first;
}

ScriptEngine::Result ScriptMemory::run(ScriptEngine& engine, ScriptId script, std::span<const Value> keys,
                                       std::span<const Value> arguments, ScriptHost& host) {
  if (!are_timeless(keys) || !are_timeless(arguments) || nodes_.size() == kMostNodes) {
    ++runs_of_interpreter_;
    return engine.run(script, keys, arguments, host);
  }
  Position& first = start_of(script, keys, arguments);
  // They belong to the world that is running: none may be left when it goes back to an earlier moment
  // (sim/coroutines/region.hpp).
  struct Forgetting {
    std::vector<Reply>& replies;
    ~Forgetting() { std::vector<Reply>().swap(replies); }
  } const forgetting{replies_};
  constexpr std::size_t usual_calls = 8;
  replies_.reserve(usual_calls);
  for (Position position = first; position != kNone;) {
    Node& node = nodes_[position];
    if (node.is_end) return {node.result, std::nullopt};
    replies_.push_back(host.call_from_script(node.call, node.may_write));
    const Way* way = node.way_of(replies_.back());
    position = way == nullptr ? kNone : way->next;
  }
  ++runs_of_interpreter_;
  // The interpreter gives the calls that were made already the replies that they had.
  Recorder recorder(*this, host, first, replies_);
  ScriptEngine::Result result = engine.run(script, keys, arguments, recorder);
  if (!result.limit_hit) recorder.end(result.reply);
  return result;
}

}  // namespace lockstep::models::redis
