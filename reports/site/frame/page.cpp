#include "reports/site/frame/page.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>

#include "reports/picture/shape.hpp"
#include "reports/site/frame/minify.hpp"
#include "reports/text/embedded_text.hpp"

namespace lockstep::reports::site {
namespace {

using picture::escaped_markup;

const std::vector<Link>& main_pages() {
  static const std::vector<Link> pages = {
      {"index.html", {"Overview", "总览"}},
      {"algorithms/index.html", {"Algorithms", "算法"}},
      {"history.html", {"History of a lock", "一把锁的历史"}},
      {"market.html", {"Market experiment", "市场实验"}},
  };
  return pages;
}

std::string trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? "" : std::string(line.substr(first));
}

/// Modules of a page become one: what they import is in it.
std::string joined_scripts(const std::vector<std::string>& paths) {
  std::string script;
  for (const std::string& path : paths) {
    std::string_view text = embedded_text(path);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string line = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.starts_with("import ")) continue;
      if (line.starts_with("export ")) line.erase(0, std::string_view("export ").size());
      script += line + "\n";
    }
  }
  return minified_script(script);
}

std::string navigation(const Page& page) {
  std::string links;
  for (const Link& link : main_pages()) {
    const std::string_view current = link.path == page.path ? " aria-current=\"page\"" : "";
    links += fmt::format("<a href=\"{}\"{}>{}</a>\n", path_between(page.path, link.path), current, both(link.text));
  }
  return links;
}

std::string breadcrumbs(const Page& page) {
  std::string items;
  for (const Link& link : page.above) items += fmt::format("<li>{}</li>\n", link_to(page.path, link));
  return items;
}

}  // namespace

std::string sha256_of(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&context, digest.size(), digest.data());
  std::string text(BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE), '\0');
  base64_encode_raw(text.data(), digest.size(), digest.data());
  return text;
}

std::string path_between(std::string_view from, std::string_view to) {
  std::string path;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::count(from.begin(), from.end(), '/')); ++i) path += "../";
  return path + std::string(to);
}

std::string link_to(std::string_view from, const Link& link) {
  return fmt::format("<a href=\"{}\">{}</a>", escaped_markup(path_between(from, link.path)), both(link.text));
}

std::string anchor_of(std::string_view text) {
  std::string anchor;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_letter || is_capital) {
      anchor += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!anchor.empty() && anchor.back() != '-') {
      anchor += '-';
    }
  }
  while (anchor.ends_with('-')) anchor.pop_back();
  return anchor.empty() ? "x" : anchor;
}

std::string json_for_page(std::string_view json) {
  std::string out;
  for (const char c : json) {
    switch (c) {
      // Within a JSON text these stand in strings only, where they may be written so.
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_of(const Page& page) {
  std::string style;
  for (const std::string_view path : {"reports/picture/colours.css", "reports/site/frame/site.css"})
    style += minified_style(embedded_text(path));
  for (const std::string& path : page.styles) style += minified_style(embedded_text(path));
  std::vector<std::string> scripts = {"reports/site/frame/site.js"};
  scripts.insert(scripts.end(), page.scripts.begin(), page.scripts.end());
  const std::string script = joined_scripts(scripts);
  // Their elements hold them as they are: neither may end its own.
  assert(style.find("</") == std::string::npos && script.find("</") == std::string::npos);

  const std::string policy = fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action "
      "'none'{}{}",
      sha256_of(style), sha256_of(script), page.policy.empty() ? "" : "; ", page.policy);
  return filled("reports/site/frame/page.mustache", {{"style", style},
                                                     {"script", script},
                                                     {"policy", policy},
                                                     {"title_text", page.title.en},
                                                     {"title", page.title},
                                                     {"home", path_between(page.path, "index.html")},
                                                     {"navigation", page.is_single ? "" : navigation(page)},
                                                     {"breadcrumbs", page.is_single ? "" : breadcrumbs(page)},
                                                     {"body", page.body},
                                                     {"data", json_for_page(page.data)}});
}

}  // namespace lockstep::reports::site
