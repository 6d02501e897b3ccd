#pragma once

// Pages read back, for tests: by a parser that is not ours, and with rules that hold for every page.

#include <string>

#include <pugixml.hpp>

namespace lockstep::reports::site::testing {

/// The page as XML, without its script and style: those are no XML. Fails the test where it is not well formed.
pugi::xml_document read_back(const std::string& html);

/// What every page keeps: no handlers and no styles in attributes, nothing loaded from elsewhere, one policy, which allows exactly the
/// script and the style that are there, headings in order, and no id twice.
void require_sound(const std::string& html);

/// All text of it, tags left out.
std::string text_of_page(const pugi::xml_node& node);

}  // namespace lockstep::reports::site::testing
