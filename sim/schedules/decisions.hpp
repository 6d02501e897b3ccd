#pragma once

// The only source of nondeterminism. Every question that could be answered in several ways is asked here, so the
// answers determine the run. They can be defaults, random, recorded, or an explorer's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/schedules/random.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

/// What is being decided.
enum class Choice : std::uint8_t {
  delay,       ///< how long within a range: option 0 is the shortest
  order,       ///< which of several events that are due at the same moment comes first: option 0 was emitted first
  fault,       ///< whether an allowed fault strikes here: option 0 is no
  comparison,  ///< of an exploration alone: which way a comparison of symbolic instants goes, in which part of a range
               ///< a length is
  model        ///< a server's own freedom, e.g. which member of a set SPOP takes
};

/// An answer to `Choice::model` that a story plans: "2 of 3" is option 1 of three. Where the question has more options
/// (an exploration asks for fewer), the one as far along.
struct PlannedChoice {
  std::uint64_t index = 0;
  std::uint64_t options = 1;
  std::uint64_t among(std::uint64_t asked) const { return index * asked / options; }
  bool operator==(const PlannedChoice&) const = default;
};

std::string_view to_string(Choice choice);

class Decisions {
 public:
  virtual ~Decisions() = default;

  /// An index below `options`. `event` is the identity of the event that is decided about.
  /// Requires: options >= 2.
  virtual std::uint64_t choose(Choice choice, std::uint64_t options, EventId event) = 0;

  /// Whether the answer is always 0: then the question need not be put where putting it costs.
  virtual bool always_first() const { return false; }
};

/// Always the default: the shortest delay, first emitted first, no fault. Pins of a scenario are added to that.
class DefaultDecisions final : public Decisions {
 public:
  std::uint64_t choose(Choice, std::uint64_t, EventId) override { return 0; }
  bool always_first() const override { return true; }
};

/// Reproducible chance.
class RandomDecisions final : public Decisions {
 public:
  explicit RandomDecisions(std::uint64_t seed) : random_(seed) {}
  std::uint64_t choose(Choice, std::uint64_t options, EventId) override { return random_.below(options); }

 private:
  Random random_;
};

/// One decision that was made.
struct Decision {
  Choice choice = Choice::delay;
  std::uint64_t options = 0;
  std::uint64_t index = 0;
  EventId event;
  bool operator==(const Decision&) const = default;
};

/// Writes down what another source decides.
class RecordingDecisions final : public Decisions {
 public:
  explicit RecordingDecisions(Decisions& source) : source_(source) {}
  std::uint64_t choose(Choice choice, std::uint64_t options, EventId event) override {
    const std::uint64_t index = source_.choose(choice, options, event);
    record_.push_back({choice, options, index, event});
    return index;
  }
  const std::vector<Decision>& record() const { return record_; }

 private:
  Decisions& source_;
  std::vector<Decision> record_;
};

/// Answers from a record. The world must ask the same questions as when it was made; the first one that differs is a
/// divergence: from there on the answers are defaults, and the run is worthless.
class RecordedDecisions final : public Decisions {
 public:
  explicit RecordedDecisions(std::vector<Decision> record) : record_(std::move(record)) {}
  std::uint64_t choose(Choice choice, std::uint64_t options, EventId event) override;

  bool diverged() const { return !divergence_.empty(); }
  /// Which decision differed, what the record says, and what the world asked instead.
  const std::string& divergence() const { return divergence_; }
  /// Whether every recorded decision was asked for.
  bool is_used_up() const { return next_ == record_.size(); }

 private:
  std::vector<Decision> record_;
  std::size_t next_ = 0;
  std::string divergence_;
};

}  // namespace lockstep::sim
