#pragma once

// Sorted sets, and their scores: floating-point numbers, or timestamps that an exploration keeps symbolic.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/data/flat_table.hpp"
#include "models/value.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// Redis calculates scores in IEEE 754 doubles, so this must. What decides here is comparison, addition and one
/// multiplication at a time, each of which IEEE 754 rounds correctly; no build contracts them (-ffp-contract=off); and
/// reading and printing 17 digits is exact in both directions. So every build agrees.
using Real = double;  // tidy: not deciding (see above)

/// As Redis reads a score or an increment: what strtod takes as a whole, without blanks in front, and no NaN.
std::optional<Real> parse_real(std::string_view text);
/// As Redis prints a score: up to 17 digits, "inf", "-inf".
std::string print_real(Real number);

/// A score. A timestamp stays a timestamp, unrounded, so that an exploration can compare it.
class Score {
 public:
  Score() = default;
  explicit Score(Real number) : content_(number) {}
  explicit Score(Timestamp timestamp) : content_(timestamp) {}
  /// Nothing if it is no number.
  static std::optional<Score> read(const Value& value);

  /// Asks the world where a timestamp is symbolic, so this may fork an exploration. Timestamps in different units
  /// compare as the numbers that they print if they have digits; if not, the one with the finer unit is the larger.
  bool less_than(const Score& other, const sim::World& world) const;
  bool equals(const Score& other, const sim::World& world) const;
  bool is_symbolic() const;
  bool is_not_a_number() const;
  bool is_zero() const;

  /// Nothing where an exploration has no name for the sum: two timestamps, or a fraction of a unit.
  static std::optional<Score> sum(const Score& a, const Score& b);
  static std::optional<Score> product(const Score& score, Real weight);

  /// What a client reads.
  Value value() const;
  std::uint64_t digest() const;
  /// As a number: of a timestamp, the digits that it prints. Requires: not symbolic.
  Real number() const;

 private:
  const Timestamp* timestamp() const { return std::get_if<Timestamp>(&content_); }
  std::variant<Real, Timestamp> content_ = Real{0};
};

struct ScoredMember {
  std::string key;
  std::uint64_t hash = 0;
  Score score;
};

/// Members are put in order when somebody asks for an order, not when they come: adding a member whose score is
/// symbolic forks nothing. While no score is symbolic the order is kept, and only those that have come since are put in
/// their places.
class SortedSet {
 public:
  SortedSet() = default;
  /// What ZUNION and its relatives reply, and keep nowhere, has zeros with a sign.
  static SortedSet with_signed_zeros() {
    SortedSet set;
    set.keeps_sign_of_zero_ = true;
    return set;
  }
  std::size_t size() const { return members_.size(); }
  bool empty() const { return members_.empty(); }
  /// In no order that means anything.
  std::span<const ScoredMember> members() const { return members_.items(); }
  const ScoredMember* find(std::string_view key) const { return members_.find(key); }
  /// Adds the member, or gives it another score. Redis forgets the sign of zero in sets that are not large.
  void set(std::string_view key, const Score& score);
  bool erase(std::string_view key);

  /// By score, then by bytes. Valid until the next change.
  std::span<const std::uint32_t> order(const sim::World& world) const;
  const ScoredMember& member(std::uint32_t position) const { return members_.items()[position]; }

 private:
  bool is_before(std::uint32_t i, std::uint32_t j, const sim::World& world) const;
  void order_all(const sim::World& world) const;
  void order_late_ones(const sim::World& world) const;
  void forget(std::uint32_t position);

  FlatTable<ScoredMember> members_;
  mutable std::vector<std::uint32_t> order_;  ///< by score; without those that are late
  mutable std::vector<std::uint32_t> late_;   ///< have come or changed since somebody asked
  bool keeps_sign_of_zero_ = false;
  mutable bool has_symbols_ = false;  ///< of those in order; then each change has all of them ordered again
};

}  // namespace lockstep::models::redis
