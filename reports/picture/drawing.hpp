#pragma once

// A diagram as SVG: for a page, which moves it, or as a file of its own.

#include <string>

#include "reports/picture/diagram.hpp"

namespace lockstep::reports::picture {

struct DrawingOptions {
  std::string id = "diagram";  ///< of the element, and the beginning of those within it; letters and digits
  std::string title_en, title_zh;
  bool has_scale = true;  ///< carries places to scale along, so that a script can move it there
};

/// For a page with `colours.css` and `diagram.css`. Both languages; what is of a row has its number as `data-row`, from
/// 0.
std::string page_svg(const Diagram& diagram, const DrawingOptions& options);

/// With its own style, in one language.
std::string file_svg(const Diagram& diagram, const DrawingOptions& options, Language language);

/// What the diagram shows, in a few sentences: for whoever cannot see it.
scenarios::Text description_of(const Diagram& diagram);

}  // namespace lockstep::reports::picture
