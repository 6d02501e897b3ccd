#include "reports/site/frame/minify.hpp"

#include <catch2/catch.hpp>

#include "reports/text/embedded_text.hpp"

namespace lockstep::reports::site::minify_test {

TEST_CASE("a script keeps all that it says") {
  CHECK(minified_script("// nobody\nconst a = 1; /* at all */\n  let b = a + +1;\n") == "const a=1;let b=a+ +1;");
  // A line end may stand for a semicolon.
  CHECK(minified_script("const a = b\n(c)") == "const a=b\n(c)");
  CHECK(minified_script("return x\n}\ny\n") == "return x}\ny");
  // Texts, templates with code in them, and regular expressions.
  CHECK(minified_script("f(\"a  // b\", 'it\\'s  ', `x  ${ g( `y  ${ 1 }` ) }  /* z */`);") ==
        "f(\"a  // b\",'it\\'s  ',`x  ${g(`y  ${1}`)}  /* z */`);");
  CHECK(minified_script("const r = /a  [/] b/.exec( c ) / 2;") == "const r=/a  [/] b/.exec(c)/2;");
  CHECK(minified_script("/** @type {X} */ (document.getElementById(id)).hidden = true;") ==
        "(document.getElementById(id)).hidden=true;");
  CHECK(minified_script("class A {\n  #b = 1;\n  c() { return typeof this.#b; }\n}\n") ==
        "class A{#b=1;c(){return typeof this.#b;}}");
}

TEST_CASE("a style keeps all that it says") {
  CHECK(minified_style("/* x */\na  b , c > d:not(.e) :first-child {\n  color: red;\n  margin: 0 -1px;\n}\n") ==
        "a b,c > d:not(.e) :first-child{color:red;margin:0 -1px}");
  CHECK(minified_style("@media (min-width: 4rem) { p::before { content: \" ; , { \"; width: calc(1px + 2px); } }") ==
        "@media (min-width:4rem){p::before{content:\" ; , { \";width:calc(1px + 2px)}}");
}

TEST_CASE("what is minified once stays as it is") {
  for (const EmbeddedText& text : embedded_texts()) {
    if (!text.path.ends_with(".js") && !text.path.ends_with(".css")) continue;
    INFO(text.path);
    const bool is_script = text.path.ends_with(".js");
    const std::string once = is_script ? minified_script(text.text()) : minified_style(text.text());
    CHECK(once.size() < text.text().size());
    CHECK((is_script ? minified_script(once) : minified_style(once)) == once);
  }
}

}  // namespace lockstep::reports::site::minify_test
