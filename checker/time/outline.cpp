#include "checker/time/outline.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::checker {

Outline::Factors Outline::unit(std::size_t axis, std::size_t dimensions, std::int64_t sign) {
  Factors factors(dimensions);
  factors[axis] = sign;
  return factors;
}

bool Outline::is_part(const Face& face, const Face& of) {
  for (std::size_t i = 0; i < face.size(); ++i) {
    if (face[i] && !of[i]) return false;
  }
  return true;
}

Outline::Face Outline::common(Face face, const Face& other) {
  for (std::size_t i = 0; i < face.size(); ++i) face[i] = face[i] && other[i];
  return face;
}

Outline::Outline(const std::vector<Fraction>& least) {
  for (std::size_t i = 0; i < least.size(); ++i) planes_.push_back(unit(i, least.size(), 1));
  generators_.push_back({least, false, std::vector<bool>(least.size(), true)});
  for (std::size_t i = 0; i < least.size(); ++i) {
    Generator& direction = generators_.emplace_back(std::vector<Fraction>(least.size()), true, generators_[0].on);
    direction.at[i] = Fraction(1);
    direction.on[i] = false;
  }
}

void Outline::cut(const Factors& factors, const Fraction& least) {
  std::vector<Fraction> beyond;
  for (const Generator& generator : generators_) {
    Fraction& value = beyond.emplace_back(generator.is_direction ? Fraction() : -least);
    for (std::size_t i = 0; i < factors.size(); ++i) value += Fraction(factors[i]) * generator.at[i];
  }
  std::vector<Generator> left;
  for (std::size_t i = 0; i < generators_.size(); ++i) {
    if (beyond[i].sign() < 0) continue;
    left.push_back(generators_[i]);
    left.back().on.push_back(beyond[i].sign() == 0);
    for (std::size_t j = 0; beyond[i].sign() > 0 && j < generators_.size(); ++j) {
      if (beyond[j].sign() < 0 && are_adjacent(i, j)) left.push_back(between(i, beyond[i], j, beyond[j]));
    }
  }
  generators_ = std::move(left);
  planes_.push_back(factors);
}

Outline::Face Outline::on_plane(std::size_t plane) const {
  Face face;
  for (const Generator& generator : generators_) face.push_back(generator.on[plane]);
  return face;
}

bool Outline::has_corner(const Face& face) const {
  for (std::size_t i = 0; i < face.size(); ++i) {
    if (face[i] && !generators_[i].is_direction) return true;
  }
  return false;
}

std::vector<std::vector<Fraction>> Outline::corners() const {
  std::vector<std::vector<Fraction>> corners;
  for (const Generator& generator : generators_) {
    if (!generator.is_direction) corners.push_back(generator.at);
  }
  std::sort(corners.begin(), corners.end());
  return corners;
}

/// Whether no third one is on all planes on which both are.
bool Outline::are_adjacent(std::size_t i, std::size_t j) const {
  const Face both = common(generators_[i].on, generators_[j].on);
  for (std::size_t other = 0; other < generators_.size(); ++other) {
    if (other != i && other != j && is_part(both, generators_[other].on)) return false;
  }
  return true;
}

/// Where the edge from one beyond the new plane to one that is not meets it.
Outline::Generator Outline::between(std::size_t i, const Fraction& beyond, std::size_t j,
                                    const Fraction& short_of) const {
  const Generator &a = generators_[i], &b = generators_[j];
  Generator met{{}, a.is_direction && b.is_direction, common(a.on, b.on)};
  met.on.push_back(true);
  const Fraction share_of_a = -short_of, share_of_b = beyond;
  const Fraction shares = (a.is_direction ? Fraction() : share_of_a) + (b.is_direction ? Fraction() : share_of_b);
  for (std::size_t k = 0; k < a.at.size(); ++k) {
    const Fraction sum = share_of_a * a.at[k] + share_of_b * b.at[k];
    met.at.push_back(met.is_direction ? sum : sum / shares);
  }
  return met;
}

}  // namespace lockstep::checker
