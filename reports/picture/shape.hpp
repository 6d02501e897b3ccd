#pragma once

// Shapes with whole places, in pixels, and their SVG.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports::picture {

struct Shape {
  enum class Kind : std::uint8_t {
    line,    ///< x1 y1 x2 y2
    rect,    ///< x y width height
    circle,  ///< cx cy r
    text     ///< x y
  };
  Kind kind = Kind::line;
  std::string style;       ///< classes of the style sheet
  std::vector<int> place;  ///< as the kind says
  std::string markup;      ///< text: what is in it, as SVG
  std::string title_en;    ///< shown beside the pointer; empty: nothing
  std::string title_zh;    ///< empty: the same
  int row = -1;            ///< of the diagram; -1: of none
  bool operator==(const Shape&) const = default;
};

using Shapes = std::vector<Shape>;

/// Text for SVG and HTML, in elements and in attributes: what cannot be shown is replaced.
std::string escaped_markup(std::string_view text);

/// The shapes in order, those of a row that follow each other in a group of their own. Where the shape of the same
/// number in `other` stands higher or lower, `data-to` has its other y values: "y1 y2" of a line, "y height" of a
/// rectangle, else "y"; of a group that moves as a whole, how far. `other` is empty or has the same shapes but for
/// their places.
std::string svg_elements(const Shapes& shapes, const Shapes& other);

}  // namespace lockstep::reports::picture
