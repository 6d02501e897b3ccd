#pragma once

// The double description method (Motzkin et al. 1953): a polyhedron by what generates it, its corners and the
// directions in which it has no end, while half-spaces are cut off. For frontier.hpp.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/time/fraction.hpp"

namespace lockstep::checker {

class Outline {
 public:
  using Factors = std::vector<std::int64_t>;
  /// Which of the generators are meant.
  using Face = std::vector<bool>;

  struct Generator {
    std::vector<Fraction> at;
    bool is_direction = false;
    std::vector<bool> on = {};  ///< by plane: whether it is there that the plane is met
    bool is_confirmed = false;  ///< for who cuts
  };

  /// All points from this one on, in each coordinate.
  explicit Outline(const std::vector<Fraction>& least);

  /// Leaves what has at least this value.
  void cut(const Factors& factors, const Fraction& least);

  std::span<const Factors> planes() const { return planes_; }
  std::span<Generator> generators() { return generators_; }
  Face on_plane(std::size_t plane) const;
  /// Whether it is more than a face at infinity.
  bool has_corner(const Face& face) const;
  /// In ascending order.
  std::vector<std::vector<Fraction>> corners() const;

  static Factors unit(std::size_t axis, std::size_t dimensions, std::int64_t sign);
  static bool is_part(const Face& face, const Face& of);
  static Face common(Face face, const Face& other);

 private:
  bool are_adjacent(std::size_t i, std::size_t j) const;
  Generator between(std::size_t i, const Fraction& beyond, std::size_t j, const Fraction& short_of) const;

  std::vector<Factors> planes_;
  std::vector<Generator> generators_;
};

}  // namespace lockstep::checker
