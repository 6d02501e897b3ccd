// The frame of a page, and texts that would like to be more than texts.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "reports/site/frame/page.hpp"
#include "reports/site/frame/page_testing.hpp"

namespace lockstep::reports::site::page_test {
namespace {

using testing::read_back;
using testing::require_sound;
using testing::text_of_page;

std::vector<std::string> hostile_texts() {
  return {"<script>alert(1)</script>",
          "</style><script>alert(1)</script>",
          "</title></head><body onload=\"alert(1)\">",
          "\" onmouseover=\"alert(1)\" x=\"",
          "' onmouseover='alert(1)' x='",
          "{{{body}}} {{#data}} {{/data}} {{=<% %>=}} {{> page}}",
          "&lt;script&gt; &amp;quot; &#x3c;",
          "]]> <![CDATA[ <!-- -->",
          "a\xE2\x80\xAE"
          "b\xE2\x81\xA6"
          "c\xE2\x80\x8F",
          std::string("\x01\x1b[31m\x7f\x00 end", 12),
          "broken \xff\xfe\xc3 utf-8",
          std::string(10'000, '<'),
          std::string(10'000, 'x')};
}

Page page_with(const std::string& text) {
  Page page{.path = "stories/x.html", .title = {text, text + "中"}};
  page.body = "<p>" + both(text, text + "中") + "</p>\n";
  page.above = {{"index.html", {text, text}}};
  page.scripts = {"reports/site/frame/filter.js"};
  page.data = "{\"text\": \"</script><script>alert(1)</script> & <!--\"}";
  return page;
}

}  // namespace

TEST_CASE("page: the hash of a policy is SHA-256 in Base64, as FIPS 180-4 has its examples") {
  REQUIRE(sha256_of("") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  REQUIRE(sha256_of("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  REQUIRE(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}

TEST_CASE("page: hostile texts stay texts") {
  for (const std::string& text : hostile_texts()) {
    INFO(text.substr(0, 100));
    const std::string html = html_of(page_with(text));
    require_sound(html);
    const pugi::xml_document document = read_back(html);
    REQUIRE(text_of_page(document.child("html").child("head").child("title")).ends_with(" · Lockstep"));
  }
}

TEST_CASE("page: what is text within a page reads as it was written") {
  const std::string text = "a < b && c > \"d\" {{x}} 'e' </p>";
  const pugi::xml_document document = read_back(html_of(page_with(text)));
  REQUIRE(text_of_page(document.child("html").child("body")).find(text) != std::string::npos);
}

TEST_CASE("page: marks that turn the direction of text around are not shown") {
  for (const std::string mark : {"\xE2\x80\xAE", "\xE2\x80\xAD", "\xE2\x80\xAB", "\xE2\x81\xA6", "\xE2\x81\xA7",
                                 "\xE2\x81\xA9", "\xE2\x80\x8F"}) {
    const std::string html = html_of(page_with("a" + mark + "b"));
    REQUIRE(html.find(mark) == std::string::npos);
    REQUIRE(html.find("a\xEF\xBF\xBD"
                      "b") != std::string::npos);
  }
}

TEST_CASE("page: data for scripts ends no element, and is the same JSON") {
  const std::string safe = json_for_page("{\"a\": \"</script><!-- & >\"}");
  REQUIRE(safe.find_first_of("<>&") == std::string::npos);
  REQUIRE(safe == "{\"a\": \"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u003e\"}");
}

TEST_CASE("page: links lead from where the page is") {
  REQUIRE(path_between("index.html", "stories/x.html") == "stories/x.html");
  REQUIRE(path_between("stories/x.html", "index.html") == "../index.html");
  REQUIRE(path_between("a/b/c.html", "d.html") == "../../d.html");
}

TEST_CASE("page: names of anchors are letters, digits and hyphens, and never empty") {
  REQUIRE(anchor_of("SET NX PX") == "set-nx-px");
  REQUIRE(anchor_of("../../etc/passwd") == "etc-passwd");
  REQUIRE(anchor_of("\xE4\xB8\xAD") == "x");
}

}  // namespace lockstep::reports::site::page_test
