#include "scenarios/deployment/key_states.hpp"

#include <set>
#include <utility>

namespace lockstep::scenarios {

KeyStateRecorder::Keys KeyStateRecorder::keys_of(std::size_t server) const {
  Keys keys;
  for (models::HeldObject& held : servers_.held(server))
    keys[std::move(held.name)] = {std::move(held.type), std::move(held.text), held.expires};
  return keys;
}

void KeyStateRecorder::note(sim::ProcessId server, const std::string& key, const Seen* seen) {
  KeyState& state = states_.emplace_back();
  state.step = world_.step();
  state.at = world_.now();
  state.server = server;
  state.key = key;
  if (seen == nullptr) return;
  state.type = seen->type;
  state.text = seen->text;
  state.expires_by_own_clock = seen->expires;
  if (seen->expires) state.expires = world_.state(server).wall.true_time_of(*seen->expires);
}

void KeyStateRecorder::look() {
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    const sim::ProcessId server = servers_.ids()[i];
    const std::uint64_t digest = servers_.digest(i);
    if (std::exchange(digests_[i], digest) == digest && known_.contains(i)) continue;
    Keys keys = keys_of(i);
    Keys& known = known_[i];
    std::set<std::string> names;
    for (const auto& [name, seen] : known) names.insert(name);
    for (const auto& [name, seen] : keys) names.insert(name);
    for (const std::string& name : names) {
      const auto before = known.find(name);
      const auto after = keys.find(name);
      if (after == keys.end()) {
        note(server, name, nullptr);
      } else if (before == known.end() || before->second != after->second) {
        note(server, name, &after->second);
      }
    }
    known = std::move(keys);
  }
}

}  // namespace lockstep::scenarios
