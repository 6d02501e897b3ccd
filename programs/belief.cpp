#include "programs/belief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace lockstep::programs {

namespace {

constexpr std::string_view kPrefix = "lockstep: ";
constexpr std::array<std::pair<std::string_view, BeliefLine::Kind>, 4> kWords{
    {{"acquired", BeliefLine::Kind::acquired},
     {"releasing", BeliefLine::Kind::releasing},
     {"released", BeliefLine::Kind::released},
     {"lost", BeliefLine::Kind::lost}}};

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<std::int64_t> token_of(std::string_view word) {
  constexpr std::string_view kName = "token=";
  if (!word.starts_with(kName)) return std::nullopt;
  word.remove_prefix(kName.size());
  std::int64_t token = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(token) : std::nullopt;
}

}  // namespace

std::optional<BeliefLine> read_belief(std::string_view line) {
  if (!line.starts_with(kPrefix)) return std::nullopt;
  line.remove_prefix(kPrefix.size());
  const std::string_view word = take_word(line);
  for (const auto& [name, kind] : kWords) {
    if (name != word) continue;
    const std::string lock(take_word(line));
    return BeliefLine{kind, lock, token_of(take_word(line))};
  }
  return std::nullopt;
}

std::optional<std::string> Beliefs::take(sim::World& world, sim::ProcessId process, const BeliefLine& line) {
  const auto hold = holds_.find(line.lock);
  if (line.kind == BeliefLine::Kind::acquired) {
    if (hold != holds_.end()) {
      return fmt::format(
          "says that it acquired {0}, which it holds already; it has to say \"lockstep: lost {0}\" before", line.lock);
    }
    const sim::OperationId id = world.invoke(process, "acquire", line.lock);
    world.operation(id).value = line.token;
    world.complete(id, sim::Phase::ok);
    holds_[line.lock] = {.acquire = id};
    return std::nullopt;
  }
  if (hold == holds_.end()) return std::nullopt;
  if (hold->second.release == 0) {
    if (line.kind == BeliefLine::Kind::released) {
      return fmt::format(
          "says that it released {0}, and did not say when it began to; it has to print \"lockstep: releasing {0}\" "
          "before "
          "it gives the lock back",
          line.lock);
    }
    const bool is_lost = line.kind == BeliefLine::Kind::lost;
    hold->second.release = world.invoke(process, is_lost ? "lost" : "release", line.lock);
    world.operation(hold->second.release).of = hold->second.acquire;
  }
  if (line.kind == BeliefLine::Kind::releasing) return std::nullopt;
  // A client that finds out while it gives back has given nothing back.
  const bool is_failed_release =
      line.kind == BeliefLine::Kind::lost && world.operation(hold->second.release).function == "release";
  world.complete(hold->second.release, is_failed_release ? sim::Phase::fail : sim::Phase::ok);
  holds_.erase(hold);
  return std::nullopt;
}

void Beliefs::end(sim::World& world, sim::ProcessId process) {
  while (!holds_.empty()) take(world, process, {BeliefLine::Kind::lost, holds_.begin()->first, std::nullopt});
}

}  // namespace lockstep::programs
