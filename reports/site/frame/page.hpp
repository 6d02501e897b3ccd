#pragma once

// The frame of every page: head, navigation, languages, and a policy under which nothing but our own scripts and styles
// works. Start here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/site/frame/template.hpp"

namespace lockstep::reports::site {

struct Link {
  std::string path;  ///< from the root of the site: "stories/x.html"
  Text text;
};

struct Page {
  std::string path;  ///< from the root of the site
  Text title;
  std::string body;  ///< HTML, well formed as XML
  std::vector<std::string>
      scripts;              ///< paths in the tree, beside those that every page has; each after those that it imports
  std::string data;         ///< JSON for scripts; empty: none
  std::vector<Link> above;  ///< from the root down to it, without itself
  std::vector<std::string> styles = {
      "reports/site/frame/pages.css"};  ///< paths in the tree, beside those that every page has
  std::string policy;                   ///< what its content may do besides: "connect-src 'self'"; empty: nothing
  /// Stands alone: no page to go to. Else all pages of a site are beside each other.
  bool is_single = false;
};

/// A whole file.
std::string html_of(const Page& page);

/// A link to another page of the site, seen from `from`.
std::string path_between(std::string_view from, std::string_view to);
std::string link_to(std::string_view from, const Link& link);

/// "Not a name of a file: ü" as "not-a-name-of-a-file": letters, digits and hyphens.
std::string anchor_of(std::string_view text);

/// For a `<script type="application/json">`: no text of it ends the element.
std::string json_for_page(std::string_view json);

/// Base64 of the SHA-256, as a policy has it.
std::string sha256_of(std::string_view bytes);

}  // namespace lockstep::reports::site
