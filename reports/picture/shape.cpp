#include "reports/picture/shape.hpp"

#include <array>
#include <cassert>

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

std::string svg_elements(const Shapes& shapes, const Shapes& other) {
  assert(other.empty() || other.size() == shapes.size());
  std::string out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& shape = shapes[i];
    const Element element = element_of(shape.kind);
    const bool is_crowded_there = !other.empty() && other[i].style.ends_with(" crowded");
    out += fmt::format("<{} class=\"{}{}\"", element.name, shape.style, is_crowded_there ? " crowded-there" : "");
    for (std::size_t p = 0; p < shape.place.size(); ++p)
      out += fmt::format(" {}=\"{}\"", element.attributes[p], shape.place[p]);
    if (shape.row >= 0) out += fmt::format(" data-row=\"{}\"", shape.row);
    if (!other.empty() && other[i].place != shape.place)
      out += fmt::format(" data-to=\"{}\"", fmt::join(other[i].place, " "));
    const std::string inside = title_of(shape) + shape.markup;
    out += inside.empty() ? "/>\n" : fmt::format(">{}</{}>\n", inside, element.name);
  }
  return out;
}

}  // namespace lockstep::reports::picture
