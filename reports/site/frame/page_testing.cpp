#include "reports/site/frame/page_testing.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "checker/properties/properties.hpp"
#include "reports/site/frame/page.hpp"
#include "reports/words/property_names.hpp"

namespace lockstep::reports::site::testing {
namespace {

/// What stands between the tags. Requires: there is one element of this beginning.
std::string content_of(const std::string& html, std::string_view begin, std::string_view end) {
  const std::size_t at = html.find(begin);
  REQUIRE(at != std::string::npos);
  REQUIRE(html.find(begin, at + 1) == std::string::npos);
  const std::size_t first = at + begin.size();
  return html.substr(first, html.find(end, first) - first);
}

void blank_out(std::string& html, std::string_view begin, std::string_view end) {
  const std::size_t first = html.find(begin);
  if (first == std::string::npos) return;
  const std::size_t from = first + begin.size();
  html.erase(from, html.find(end, from) - from);
}

void collect(const pugi::xml_node& node, std::vector<pugi::xml_node>& all) {
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_element) all.push_back(child);
    collect(child, all);
  }
}

void require_sound_attributes(const pugi::xml_node& element, std::set<std::string>& ids) {
  for (const pugi::xml_attribute& attribute : element.attributes()) {
    const std::string_view name = attribute.name();
    const std::string_view value = attribute.value();
    INFO(element.name() << " " << name << "=" << value);
    REQUIRE(name != "style");
    REQUIRE_FALSE(name.starts_with("on"));
    if (name == "id") {
      const bool is_new = ids.insert(std::string(value)).second;
      REQUIRE(is_new);
    }
    if (name != "href" && name != "src") continue;
    const bool is_elsewhere = value.find(':') != std::string_view::npos || value.starts_with("//");
    REQUIRE_FALSE(is_elsewhere);
  }
}

bool is_in(pugi::xml_node node, std::string_view section) {
  while (node && node.attribute("id").value() != section) node = node.parent();
  return !node.empty();
}

/// Chinese readers are told a property by its Chinese name as well. Some parameters are called like properties.
void require_chinese_before(const pugi::xml_node& code) {
  const std::string name = text_of_page(code);
  if (checker::find_property(name) == nullptr || is_in(code, "parameters")) return;
  const pugi::xml_node before = code.previous_sibling("i");
  INFO(name);
  REQUIRE(std::string_view(before.attribute("lang").value()) == "zh");
  REQUIRE(text_of_page(before) == std::string(chinese_property(name)) + " ");
}

}  // namespace

pugi::xml_document read_back(const std::string& html) {
  std::string xml = html;
  blank_out(xml, "<style>", "</style>");
  blank_out(xml, "<script type=\"module\">", "</script>");
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_string(xml.c_str(), pugi::parse_full);
  INFO(result.description() << " at " << xml.substr(static_cast<std::size_t>(result.offset), 200));
  REQUIRE(result);
  return document;
}

void require_sound(const std::string& html) {
  const pugi::xml_document document = read_back(html);
  std::vector<pugi::xml_node> all;
  collect(document, all);
  std::set<std::string> ids;
  std::size_t scripts = 0;
  std::size_t styles = 0;
  std::size_t first_headings = 0;
  int level = 1;
  for (const pugi::xml_node& element : all) {
    const std::string_view name = element.name();
    require_sound_attributes(element, ids);
    if (name == "code") require_chinese_before(element);
    scripts += name == "script" && std::string_view(element.attribute("type").value()) != "application/json" ? 1 : 0;
    styles += name == "style" ? 1 : 0;
    for (const std::string_view banned : {"iframe", "object", "embed", "form", "base", "link", "img"})
      REQUIRE(name != banned);
    if (name.size() != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6') continue;
    const int deep = name[1] - '0';
    INFO("heading " << text_of_page(element));
    first_headings += deep == 1 ? 1 : 0;
    REQUIRE(deep <= level + 1);
    level = deep;
  }
  REQUIRE(scripts == 1);
  REQUIRE(styles == 1);
  REQUIRE(first_headings == 1);

  const std::string policy = content_of(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  REQUIRE(policy.starts_with("default-src 'none';"));
  REQUIRE(policy.find("unsafe") == std::string::npos);
  const std::string style = content_of(html, "<style>", "</style>");
  const std::string script = content_of(html, "<script type=\"module\">", "</script>");
  REQUIRE(policy.find("style-src 'sha256-" + sha256_of(style) + "'") != std::string::npos);
  REQUIRE(policy.find("script-src 'sha256-" + sha256_of(script) + "'") != std::string::npos);
}

std::string text_of_page(const pugi::xml_node& node) {
  std::string text = node.value();
  for (const pugi::xml_node& child : node.children()) text += text_of_page(child);
  return text;
}

}  // namespace lockstep::reports::site::testing
