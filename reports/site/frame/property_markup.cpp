#include "reports/site/frame/property_markup.hpp"

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "reports/picture/drawing.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/words/property_names.hpp"

namespace lockstep::reports::site {

using picture::escaped_markup;

std::string property_markup(std::string_view name) {
  const checker::Property* property = checker::find_property(name);
  if (property == nullptr) return fmt::format("<code>{}</code>", escaped_markup(name));
  return fmt::format("<i lang=\"zh\">{} </i><code title=\"{}&#10;{}\">{}</code>", chinese_property(name),
                     escaped_markup(property->meaning), escaped_markup(property->meaning_zh), escaped_markup(name));
}

}  // namespace lockstep::reports::site
