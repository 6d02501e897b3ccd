#include "reports/picture/shape.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "reports/text/text.hpp"

namespace lockstep::reports::picture {
namespace {

struct Element {
  std::string_view name;
  std::array<std::string_view, 4> attributes;
};

Element element_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::line: return {"line", {"x1", "y1", "x2", "y2"}};
    case Shape::Kind::rect: return {"rect", {"x", "y", "width", "height"}};
    case Shape::Kind::circle: return {"circle", {"cx", "cy", "r", ""}};
    case Shape::Kind::text: break;
  }
  return {"text", {"x", "y", "", ""}};
}

std::string title_of(const Shape& shape) {
  if (shape.title_en.empty()) return "";
  if (shape.title_zh.empty() || shape.title_zh == shape.title_en)
    return fmt::format("<title>{}</title>", escaped_markup(shape.title_en));
  return fmt::format("<title>{}\n{}</title>", escaped_markup(shape.title_en), escaped_markup(shape.title_zh));
}

}  // namespace

std::string escaped_markup(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

namespace {

/// The places that differ on another axis: time runs downwards on both.
std::vector<int> heights_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::line:
    case Shape::Kind::rect: return {shape.place[1], shape.place[3]};
    case Shape::Kind::circle:
    case Shape::Kind::text: break;
  }
  return {shape.place[1]};
}

/// By how much all of them move; nothing: not as a whole.
std::optional<int> shift_of(const Shapes& shapes, const Shapes& other, std::size_t begin, std::size_t end) {
  const int shift = other[begin].place[1] - shapes[begin].place[1];
  for (std::size_t i = begin; i < end; ++i) {
    const bool is_box = shapes[i].kind == Shape::Kind::rect;
    const std::vector<int> here = heights_of(shapes[i]), there = heights_of(other[i]);
    for (std::size_t h = 0; h < here.size(); ++h) {
      if (there[h] != here[h] + (is_box && h == 1 ? 0 : shift)) return std::nullopt;
    }
  }
  return shift;
}

constexpr std::string_view kCrowded = " crowded";

std::string element_text(const Shape& shape, const Shape* there) {
  const Element element = element_of(shape.kind);
  std::string_view style = shape.style;
  if (style.ends_with(kCrowded)) style.remove_suffix(kCrowded.size());
  std::string out = fmt::format("<{} class=\"{}\"", element.name, style);
  for (std::size_t p = 0; p < shape.place.size(); ++p)
    out += fmt::format(" {}=\"{}\"", element.attributes[p], shape.place[p]);
  if (there != nullptr && there->place != shape.place)
    out += fmt::format(" data-to=\"{}\"", fmt::join(heights_of(*there), " "));
  const std::string inside = title_of(shape) + shape.markup;
  return out + (inside.empty() ? "/>\n" : fmt::format(">{}</{}>\n", inside, element.name));
}

}  // namespace

std::string svg_elements(const Shapes& shapes, const Shapes& other) {
  assert(other.empty() || other.size() == shapes.size());
  std::string out;
  for (std::size_t begin = 0, end = 0; begin < shapes.size(); begin = end) {
    const int row = shapes[begin].row;
    for (end = begin + 1; row >= 0 && end < shapes.size() && shapes[end].row == row;) ++end;
    std::optional<int> shift;
    if (!other.empty() && row >= 0) shift = shift_of(shapes, other, begin, end);
    if (row >= 0) {
      const auto is_crowded = [&](const Shapes& all) {
        return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(begin),
                           all.begin() + static_cast<std::ptrdiff_t>(end),
                           [](const Shape& shape) { return shape.style.ends_with(kCrowded); });
      };
      std::string style = is_crowded(shapes) ? "crowded" : "";
      if (!other.empty() && is_crowded(other)) style += style.empty() ? "crowded-there" : " crowded-there";
      out += fmt::format("<g data-row=\"{}\"", row);
      if (!style.empty()) out += fmt::format(" class=\"{}\"", style);
      if (shift && *shift != 0) out += fmt::format(" data-to=\"{}\"", *shift);
      out += ">";
    }
    for (std::size_t i = begin; i < end; ++i)
      out += element_text(shapes[i], other.empty() || shift ? nullptr : &other[i]);
    if (row >= 0) out += "</g>\n";
  }
  return out;
}

}  // namespace lockstep::reports::picture
