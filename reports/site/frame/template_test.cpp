#include "reports/site/frame/template.hpp"

#include <catch2/catch.hpp>

#include "reports/text/embedded_text.hpp"

namespace lockstep::reports::site {

TEST_CASE("template: what comes from a story is text, whatever it contains") {
  const std::string hostile = "<script>\"'&{{{both}}}";
  const std::string table = filled("reports/site/frame/table.mustache", {{"en", hostile}, {"zh", "表"}});
  CHECK(table.find("<script>") == std::string::npos);
  CHECK(table.find("aria-label=\"&lt;script&gt;&quot;&#39;&amp;{{{both}}} / 表\"") != std::string::npos);
  CHECK(both(hostile, "") == "&lt;script&gt;&quot;&#39;&amp;{{{both}}}");
}

TEST_CASE("template: rows are in their order, and all but the first are next") {
  const std::vector<Values> cells{{{"cell", "<b>A</b>"}}, {{"cell", "B"}}, {{"cell", ""}}};
  const std::string table =
      filled("reports/site/frame/table.mustache", {{"rows", std::vector<Values>{{{"cells", cells}}}}});
  CHECK(table.find("<tbody>\n<tr><th scope=\"row\"><b>A</b></th><td>B</td><td></td></tr>\n</tbody>") !=
        std::string::npos);
  CHECK(filled("reports/site/frame/table.mustache", {}).find("<tbody>\n</tbody>") != std::string::npos);
}

TEST_CASE("template: a page says its words in both languages, or in one") {
  const Values none;
  const std::string two = filled("reports/site/locks/market.mustache", none);
  CHECK(two.find("<p><i lang=\"en\">This report has no market: its stories have none.</i><i lang=\"zh\">"
                 "本报告没有市场") != std::string::npos);
  const std::string one = filled("reports/site/locks/market.mustache", none, Language::en);
  CHECK(one.find("<p>This report has no market: its stories have none.</p>") != std::string::npos);
  CHECK(one.find("市场") == std::string::npos);
}

TEST_CASE("template: every one in the program is well formed") {
  for (const EmbeddedText& text : embedded_texts()) {
    if (!text.path.ends_with(".mustache")) continue;
    const std::string page = filled(text.path, {});
    INFO(text.path);
    CHECK(page.find("{{") == std::string::npos);
    CHECK(page.find("\n\n\n") == std::string::npos);
  }
}

}  // namespace lockstep::reports::site
