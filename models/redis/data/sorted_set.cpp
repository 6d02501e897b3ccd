#include "models/redis/data/sorted_set.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace lockstep::models::redis {
namespace {

/// A number of units as an instant, unless it is out of all reach. The part below a nanosecond is cut.
std::optional<sim::Instant> instant_of(Real number, sim::Duration unit) {
  constexpr Real kMost = 9e18;
  const Real nanoseconds = number * static_cast<Real>(unit.count_ns());
  if (!(nanoseconds > -kMost && nanoseconds < kMost)) return std::nullopt;
  return sim::Instant::at(sim::Duration::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
}

/// Whether t < number (`strict`), or t <= number.
bool is_before(const Timestamp& t, Real number, bool strict, const sim::World& world) {
  const std::optional<sim::Instant> limit = instant_of(number, t.unit);
  if (!limit) return number > 0;
  return strict ? !world.is_at_or_after(t.instant, *limit) : world.is_at_or_after(*limit, t.instant);
}

std::optional<Timestamp> moved(const Timestamp& t, Real units) {
  const Real whole = std::trunc(units);
  const std::optional<sim::Instant> length = instant_of(units, t.unit);
  if (whole != units || !length) return std::nullopt;
  return Timestamp{t.instant + length->offset(), t.unit};
}

bool has_anchor(const Timestamp& t) { return t.instant.anchor() != 0; }

}  // namespace

std::optional<Real> parse_real(std::string_view text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front()))) return std::nullopt;
  const std::string terminated(text);
  char* end = nullptr;
  errno = 0;
  const Real number = std::strtod(terminated.c_str(), &end);
  const bool is_out_of_range = errno == ERANGE && (std::isinf(number) || number == 0);
  if (end != terminated.c_str() + terminated.size() || std::isnan(number) || is_out_of_range) return std::nullopt;
  return number;
}

std::string print_real(Real number) {
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::array<char, 40> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.17g", number);
  return std::string(digits.data(), static_cast<std::size_t>(length));
}

// --- Scores.

std::optional<Score> Score::read(const Value& value) {
  if (const Timestamp* t = value.timestamp()) return Score(*t);
  std::string scratch;
  const std::optional<Real> number = parse_real(value.view(scratch));
  return number ? std::optional(Score(*number)) : std::nullopt;
}

bool Score::is_symbolic() const { return timestamp() != nullptr && has_anchor(*timestamp()); }
bool Score::is_not_a_number() const { return timestamp() == nullptr && std::isnan(std::get<Real>(content_)); }

bool Score::is_zero() const { return timestamp() == nullptr && std::get<Real>(content_) == 0; }

Real Score::number() const {
  if (const Timestamp* t = timestamp()) return static_cast<Real>(*Value(*t).integer());
  return std::get<Real>(content_);
}

bool Score::less_than(const Score& other, const sim::World& world) const {
  const Timestamp* a = timestamp();
  const Timestamp* b = other.timestamp();
  if (a == nullptr && b == nullptr) return number() < other.number();
  if (a != nullptr && b != nullptr) {
    if (a->unit == b->unit) return !world.is_at_or_after(a->instant, b->instant);
    if (is_symbolic() || other.is_symbolic()) return a->unit > b->unit;
    return number() < other.number();
  }
  if (a != nullptr) return is_before(*a, other.number(), true, world);
  return !is_before(*b, number(), false, world);
}

bool Score::equals(const Score& other, const sim::World& world) const {
  return !less_than(other, world) && !other.less_than(*this, world);
}

std::optional<Score> Score::sum(const Score& a, const Score& b) {
  if (const Timestamp* t = a.timestamp(); t != nullptr && b.timestamp() == nullptr) {
    if (const auto later = moved(*t, b.number())) return Score(*later);
  }
  if (const Timestamp* t = b.timestamp(); t != nullptr && a.timestamp() == nullptr) {
    if (const auto later = moved(*t, a.number())) return Score(*later);
  }
  if (a.is_symbolic() || b.is_symbolic()) return std::nullopt;
  return Score(a.number() + b.number());
}

std::optional<Score> Score::product(const Score& score, Real weight) {
  if (weight == 1) return score;
  // Whatever the time is, it is finite.
  if (score.is_symbolic() && weight == 0) return Score(Real{0});
  if (score.is_symbolic()) return std::nullopt;
  return Score(score.number() * weight);
}

Value Score::value() const {
  if (const Timestamp* t = timestamp()) return Value(*t);
  return Value(print_real(std::get<Real>(content_)));
}

std::uint64_t Score::digest() const { return value().digest(); }

// --- Sorted sets.

void SortedSet::set(std::string_view key, const Score& score) {
  const std::uint64_t hash = digest_bytes(key);
  ScoredMember* member = members_.find(key, hash);
  if (member == nullptr) {
    member = &members_.insert(key, hash);
  } else {
    forget(static_cast<std::uint32_t>(member - members_.items().data()));
  }
  member->score = score.is_zero() && !keeps_sign_of_zero_ ? Score() : score;
  late_.push_back(static_cast<std::uint32_t>(member - members_.items().data()));
}

bool SortedSet::erase(std::string_view key) {
  ScoredMember* member = members_.find(key, digest_bytes(key));
  if (member == nullptr) return false;
  const auto position = static_cast<std::uint32_t>(member - members_.items().data());
  forget(position);
  members_.erase(*member);
  // The last item has its place now.
  const auto last = static_cast<std::uint32_t>(size());
  if (position == last) return true;
  for (std::vector<std::uint32_t>* list : {&order_, &late_}) {
    const auto entry = std::find(list->begin(), list->end(), last);
    if (entry != list->end()) *entry = position;
  }
  return true;
}

/// It stands in one of the lists. What is left of the order stays one.
void SortedSet::forget(std::uint32_t position) {
  for (std::vector<std::uint32_t>* list : {&order_, &late_}) {
    const auto entry = std::find(list->begin(), list->end(), position);
    if (entry == list->end()) continue;
    list->erase(entry);
    return;
  }
}

std::span<const std::uint32_t> SortedSet::order(const sim::World& world) const {
  if (late_.empty()) return order_;
  const bool is_symbolic = has_symbols_ || std::any_of(late_.begin(), late_.end(), [this](std::uint32_t position) {
                             return member(position).score.is_symbolic();
                           });
  if (is_symbolic || late_.size() > order_.size() / 8 + 1) {
    order_all(world);
  } else {
    order_late_ones(world);
  }
  late_.clear();
  return order_;
}

bool SortedSet::is_before(std::uint32_t i, std::uint32_t j, const sim::World& world) const {
  const ScoredMember& a = member(i);
  const ScoredMember& b = member(j);
  if (a.score.less_than(b.score, world)) return true;
  return !b.score.less_than(a.score, world) && a.key < b.key;
}

void SortedSet::order_all(const sim::World& world) const {
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0U);
  has_symbols_ =
      std::any_of(members().begin(), members().end(), [](const ScoredMember& m) { return m.score.is_symbolic(); });
  if (!has_symbols_) {
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t i, std::uint32_t j) { return is_before(i, j, world); });
    return;
  }
  // An exploration that has left the feasible may contradict itself, which std::sort would not survive.
  for (std::size_t i = 1; i < order_.size(); ++i) {
    for (std::size_t j = i; j > 0 && is_before(order_[j], order_[j - 1], world); --j) {
      std::swap(order_[j], order_[j - 1]);
    }
  }
}

void SortedSet::order_late_ones(const sim::World& world) const {
  for (const std::uint32_t position : late_) {
    const auto place = std::upper_bound(order_.begin(), order_.end(), position,
                                        [&](std::uint32_t i, std::uint32_t j) { return is_before(i, j, world); });
    order_.insert(place, position);
  }
}

}  // namespace lockstep::models::redis
