#include "scenarios/fuzzing/coverage.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Effect;
using sim::Operation;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  return hash;
}

/// Whose an effect is, seen from the one before it.
enum class Whose : std::uint8_t { first, same, other, nobody };

class Extraction {
 public:
  Extraction(const sim::History& history, std::uint64_t salt, const Coverage& known, std::vector<Feature>& out)
      : history_(history), known_(known), out_(out) {
    for (std::uint64_t kind = 0; kind < kKinds; ++kind) salts_[kind] = sim::combine64(salt, kind);
    out_.clear();
    look_at_effects();
    look_at_operations();
    look_at_interruptions();
    std::sort(out_.begin(), out_.end());
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
  }

 private:
  static constexpr std::uint64_t kKinds = 6;

  void show(std::uint64_t kind, std::uint64_t what) {
    const auto feature = static_cast<Feature>(sim::combine64(salts_[kind], what) % Coverage::size);
    // Mostly all of them are known: those are not worth sorting.
    if (!known_.has(feature)) out_.push_back(feature);
  }

  /// The last effects on one key of one server.
  struct Place {
    sim::ProcessId server;
    std::uint64_t object = 0;
    sim::ProcessId by;
    std::uint64_t last = 0;
    std::uint64_t before_last = 0;
  };

  Place& place_of(const Effect& effect) {
    if (effect.object != last_object_) {
      last_object_ = effect.object;
      last_hash_ = hash_of(effect.object);
    }
    const std::uint64_t object = last_hash_;
    for (Place& place : places_) {
      if (place.server == effect.server && place.object == object) return place;
    }
    return places_.emplace_back(Place{.server = effect.server, .object = object, .by = {}});
  }

  void look_at_effects() {
    for (const Effect& effect : history_.effects) {
      Place& place = place_of(effect);
      Whose whose = Whose::nobody;
      if (effect.by.is_valid()) {
        whose = !place.by.is_valid() ? Whose::first : place.by == effect.by ? Whose::same : Whose::other;
        place.by = effect.by;
      }
      const std::uint64_t present = static_cast<std::uint64_t>(effect.kind) * 4 + static_cast<std::uint64_t>(whose) + 1;
      show(1, present + place.last * 64);
      show(2, present + place.last * 64 + place.before_last * 4096);
      place.before_last = place.last;
      place.last = present;
    }
  }

  /// How many are open, or hold, when an operation ends: few, since with many clients all numbers would come.
  static std::uint64_t few(std::size_t count) { return std::min<std::size_t>(count, 3); }

  void look_at_operations() {
    std::uint64_t last = 0;
    std::size_t holders = 0;
    std::size_t trying = 0;
    for (const Operation& operation : history_.operations) {
      const std::uint64_t function = hash_of(operation.function);
      const bool takes = operation.function == "acquire";
      const bool has_it = operation.phase == sim::Phase::ok;
      const std::uint64_t present =
          function * 8 + static_cast<std::uint64_t>(operation.phase) * 2 + (operation.is_shared ? 1 : 0);
      show(3, sim::combine64(present, few(holders) * 4 + few(trying)));
      show(4, sim::combine64(present, last));
      last = present;
      if (takes && has_it) ++holders;
      if (takes && !has_it) ++trying;
      if (operation.function == "release" && holders > 0) --holders;
    }
  }

  void look_at_interruptions() {
    for (const sim::Interruption& interruption : history_.interruptions) {
      // Operations are in the order in which they were invoked.
      const Operation* last = nullptr;
      const Operation* first_after = nullptr;
      for (const Operation& operation : history_.operations) {
        if (operation.process != interruption.process) continue;
        if (operation.invoked_in > interruption.step) {
          first_after = &operation;
          break;
        }
        last = &operation;
      }
      std::uint64_t doing = 0;
      if (last != nullptr) {
        const bool is_open = last->phase == sim::Phase::invoke || last->completed_in > interruption.step;
        doing = hash_of(last->function) * 2 + (is_open ? 1 : 0);
      }
      const std::uint64_t next = first_after != nullptr ? hash_of(first_after->function) : 0;
      std::uint64_t effects_meanwhile = 0;
      if (interruption.until) {
        for (const Effect& effect : history_.effects) {
          if (effect.step > interruption.step && effect.at.offset() < interruption.until->offset()) ++effects_meanwhile;
        }
      }
      show(5, sim::combine64(sim::combine64(doing, next),
                             static_cast<std::uint64_t>(interruption.kind) * 8 + few(effects_meanwhile)));
    }
  }

  const sim::History& history_;
  const Coverage& known_;
  std::array<std::uint64_t, kKinds> salts_{};
  std::vector<Feature>& out_;
  std::string_view last_object_;
  std::uint64_t last_hash_ = 0;  ///< of no object: that of the empty name
  std::vector<Place> places_;
};

}  // namespace

bool Coverage::add(Feature feature) {
  std::uint64_t& word = seen_[feature / 64];
  const std::uint64_t bit = std::uint64_t{1} << (feature % 64);
  const bool is_new = (word & bit) == 0;
  word |= bit;
  count_ += is_new ? 1 : 0;
  return is_new;
}

void features_of(const sim::History& history, std::uint64_t salt, const Coverage& known, std::vector<Feature>& out) {
  Extraction(history, salt, known, out);
}

}  // namespace lockstep::scenarios
