#pragma once

// A small chart of measured figures: curves over a few sizes, as SVG, with the same figures as a table.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/site/frame/page.hpp"

namespace lockstep::reports::site {

struct Curve {
  Text name;
  std::vector<std::optional<std::uint64_t>> values;  ///< one for each size; nothing: there is none
};

struct Figure {
  std::string id;  ///< letters, digits, hyphens
  Text title;
  Text sizes_name;                                   ///< "clients"
  std::vector<std::string> sizes;                    ///< from left to right, equally far apart
  std::vector<Curve> curves;                         ///< at most three; each has as many values as there are sizes
  std::function<std::string(std::uint64_t)> format;  ///< of a value
};

/// The chart, and its table in a `<details>`. Empty if no curve has a value.
std::string figure_html(const Figure& figure);

}  // namespace lockstep::reports::site
