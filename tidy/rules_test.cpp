// Every rule on a text that breaks it and on one that does not: a rule that cannot fail checks nothing.

#include "tidy/rules.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace lockstep::tidy;

namespace {

using Rule = Findings (*)(const File&);

struct Example {
  Rule rule;
  std::string path;
  std::string text;
  std::size_t line;  ///< of the only finding; kNothing: there is none
};

constexpr std::size_t kNothing = 1'000'000;

void require_judged(const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    INFO(example.path << "\n" << example.text);
    const Findings findings = example.rule({example.path, example.text});
    for (const Finding& finding : findings) UNSCOPED_INFO(to_string(finding));
    if (example.line == kNothing) {
      CHECK(findings.empty());
    } else {
      REQUIRE(findings.size() == 1);
      CHECK(findings[0].line == example.line);
      CHECK(findings[0].path == example.path);
    }
  }
}

const std::string kPragma = "#pragma once\n";

}  // namespace

TEST_CASE("tidy: includes point down, never up or sideways") {
  require_judged({
      {include_direction, "sim/a.cpp", "#include <map>\n#include \"models/b.hpp\"\n", 2},
      {include_direction, "models/a.cpp", "#include \"checker/b.hpp\"\n", 1},
      {include_direction, "checker/a.hpp", "#include \"models/b.hpp\"\n", 1},
      {include_direction, "checker/a_test.cpp", "#include \"scenarios/b.hpp\"\n", 1},
      {include_direction, "scenarios/a.cpp", "#include \"reports/b.hpp\"\n", 1},
      {include_direction, "reports/a.cpp", "#include \"cli/b.hpp\"\n", 1},
      {include_direction, "sim/a.cpp", "#include \"b.hpp\"\n", 1},
      {include_direction, "elsewhere/a.cpp", "", 0},
      {include_direction, "scenarios/a.cpp",
       "#include \"checker/b.hpp\"\n#include \"models/b.hpp\"\n#include \"sim/b.hpp\"\n", kNothing},
      {include_direction, "examples/own/a.cpp", "#include \"a.hpp\"\n#include \"cli/run.hpp\"\n", kNothing},
      {include_direction, "cli/a.cpp", "#include \"reports/b.hpp\"\n#include <CLI/CLI.hpp>\n", kNothing},
  });
}

TEST_CASE("tidy: no loop goes over an element of what is gone") {
  require_judged({
      {loops_over_temporaries, "cli/a_test.cpp", "int a;\nfor (const json& x : json::parse(text(f))[\"runs\"][0]) {\n",
       2},
      {loops_over_temporaries, "cli/a_test.cpp", "for (const auto& x : parse(text).items()) {\n", 1},
      {loops_over_temporaries, "cli/a_test.cpp", "for (const json& x : json::parse(text(f))) {\n", kNothing},
      {loops_over_temporaries, "cli/a_test.cpp", "for (const json& x : read[\"runs\"]) use(json::parse(y)[0]);\n",
       kNothing},
      {loops_over_temporaries, "cli/a_test.cpp", "const json x = json::parse(text)[\"runs\"];\n", kNothing},
  });
}

TEST_CASE("tidy: chance and time come from sim") {
  require_judged({
      {real_chance_and_time, "sim/a.cpp", "int f() {\n  std::random_device d;\n}\n", 2},
      {real_chance_and_time, "sim/a.cpp", "#include <random>\n", 1},
      {real_chance_and_time, "models/a.cpp", "std::uniform_int_distribution<int> d;\n", 1},
      {real_chance_and_time, "models/a_test.cpp", "std::shuffle(a, b, g);\n", 1},
      {real_chance_and_time, "sim/a.cpp", "int x = rand();\n", 1},
      {real_chance_and_time, "checker/a.cpp", "std::chrono::steady_clock::now();\n", 1},
      {real_chance_and_time, "cli/a.cpp", "std::chrono::system_clock::now();\n", 1},
      {real_chance_and_time, "reports/a.cpp", "std::chrono::high_resolution_clock::now(); // tidy: progress only\n", 1},
      {real_chance_and_time, "cli/a.cpp", "std::chrono::steady_clock::now();  // tidy: progress only\n", kNothing},
      {real_chance_and_time, "library/a.cpp", "std::chrono::steady_clock::now();  // tidy: bounds only\n", kNothing},
      {real_chance_and_time, "models/a.cpp", "std::chrono::steady_clock::now();  // tidy: bounds only\n", 1},
      {real_chance_and_time, "programs/samples/a/main.cpp", "clock_gettime(0, &t);  // tidy: a program of others\n",
       kNothing},
      {real_chance_and_time, "programs/a.cpp", "clock_gettime(0, &t);  // tidy: a program of others\n", 1},
      {real_chance_and_time, "cli/a.cpp", "std::chrono::steady_clock::now();  // tidy: real clients\n", kNothing},
      {real_chance_and_time, "models/etcd/conformance/a_test.cpp",
       "std::chrono::steady_clock::now();  // tidy: real processes\n", kNothing},
      {real_chance_and_time, "models/etcd/server/a_test.cpp",
       "std::chrono::steady_clock::now();  // tidy: real processes\n", 1},
      {real_chance_and_time, "door/a.cpp", "std::chrono::steady_clock::now();  // tidy: real clients\n", 1},
      {real_chance_and_time, "bench/a_bench.cpp", "std::chrono::steady_clock::now();\n", kNothing},
      {real_chance_and_time, "sim/a.cpp", "// not steady_clock\nint operand(int);\nconst char* s = \"rand()\";\n",
       kNothing},
  });
}

TEST_CASE("tidy: unordered containers are for lookup, and say so") {
  require_judged({
      {unordered_containers, "sim/a.cpp", "#include <unordered_map>\n", 1},
      {unordered_containers, "sim/a.cpp", "#include <unordered_set>\n", 1},
      {unordered_containers, "sim/a.cpp", "auto h = std::hash<int>{}(3);\n", 1},
      {unordered_containers, "sim/a.cpp", "#include <unordered_map>  // tidy: lookup only\n", kNothing},
      {unordered_containers, "sim/a.cpp", "// tidy: lookup only\n#include <unordered_set>\n", kNothing},
  });
}

TEST_CASE("tidy: nothing iterates over an unordered container") {
  const File header{"sim/a.hpp", "std::unordered_map<int, std::vector<int>> seen_;\nstd::map<int, int> sorted_;\n"};
  const auto findings = [&](const std::string& code) { return unordered_iteration({header, {"sim/a.cpp", code}}); };
  CHECK(findings("for (const auto& [k, v] : seen_) f(k);\n").size() == 1);
  CHECK(findings("for (auto i = seen_.begin(); i != e; ++i) f(i);\n").size() == 1);
  CHECK(findings("for (const auto& [k, v] : this->seen_) f(k);\n").size() == 1);
  CHECK(findings("for (const int k : sorted_) f(seen_.at(k));\n").empty() == false);  // rather too strict than blind
  CHECK(findings("for (const auto& [k, v] : sorted_) f(k);\n").empty());
  CHECK(findings("if (seen_.contains(3)) f(3);\n").empty());
  CHECK(unordered_iteration({header, {"sim/b.cpp", "for (const auto& e : seen_) f(e);\n"}}).empty());
}

TEST_CASE("tidy: a key is never an address") {
  require_judged({
      {pointer_keys, "sim/a.cpp", "std::map<Process*, int> m;\n", 1},
      {pointer_keys, "sim/a.cpp", "std::set<const Process*> s;\n", 1},
      {pointer_keys, "sim/a.cpp", "std::unordered_map<Process *, int> m;\n", 1},
      {pointer_keys, "sim/a.cpp", "std::map<int, Process*> m;\n", kNothing},
      {pointer_keys, "sim/a.cpp", "const auto bitset = a * b < c;\n", kNothing},
  });
}

TEST_CASE("tidy: what decides does not calculate in floating point") {
  require_judged({
      {floating_point, "sim/a.cpp", "double x = 0;\n", 1},
      {floating_point, "models/a.hpp", "float x = 0;\n", 1},
      {floating_point, "checker/a.cpp", "f(static_cast<double>(3));\n", 1},
      {floating_point, "models/a.cpp", "double x = 0;  // tidy: not deciding\n", kNothing},
      {floating_point, "reports/a.cpp", "double x = 0;\n", kNothing},
      {floating_point, "sim/a.cpp", "int redouble = 1;  // double\n", kNothing},
  });
}

TEST_CASE("tidy: there are no mutable globals") {
  const auto in_namespace = [](const std::string& text) {
    return "namespace lockstep {\nnamespace {\n" + text + "}\n}\n";
  };
  require_judged({
      {mutable_globals, "sim/a.cpp", in_namespace("int counter = 0;\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("static int counter;\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("static int counter;  // tidy: a program of others\n"), 3},
      {mutable_globals, "programs/samples/a/main.cpp",
       in_namespace("static int counter;  // tidy: a program of others\n"), kNothing},
      {mutable_globals, "sim/a.cpp", in_namespace("inline std::map<int, int> seen;\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("Registry registry{3};\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("std::atomic<int>* next = nullptr;\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("thread_local int depth = 0;\n"), 3},
      {mutable_globals, "sim/a.cpp", in_namespace("int f() {\n  static int calls = 0;\n  return ++calls;\n}\n"), 4},
      {mutable_globals, "sim/a.cpp", in_namespace("int f() {\n  static Pool pool(3);\n  return 0;\n}\n"), 4},
      {mutable_globals, "sim/a.hpp", in_namespace("class A {\n  static int calls_;\n};\n"), 4},
      {mutable_globals, "sim/a.hpp", in_namespace("struct A {\n  inline static int calls = 0;\n};\n"), 4},
      {mutable_globals, "sim/a.cpp",
       in_namespace("constexpr int kMax = 3;\nconst std::map<int, int> kTable{{1, 2}};\nstatic int f();\n"
                    "inline int g(int x = 3) { return x; }\nusing A = int;\nenum class B { c, d };\nstruct C;\n"
                    "bool operator==(const C&, const C&);\ntemplate <typename T>\nstruct D {\n  int member = 0;\n"
                    "  static D make();\n  static constexpr int kSize = 3;\n};\n"
                    "int h() {\n  int local = 0;\n  static const int kOnce = f();\n  return local + kOnce;\n}\n"
                    "sim::Task<int> C::run(\n    int a,\n    int b) const {\n  co_return a;\n}\n"
                    "A::A(int a) : a_{a}, b_(2) {}\n"),
       kNothing},
      {mutable_globals, "bench/a_bench.cpp", "int allocations = 0;\n", kNothing},
      {mutable_globals, "sim/a.cpp", in_namespace("thread_local int* heap = nullptr;  // tidy: allocation only\n"),
       kNothing},
      {mutable_globals, "sim/a.cpp", in_namespace("thread_local int* asks = nullptr;  // tidy: bounds only\n"),
       kNothing},
  });
}

TEST_CASE("tidy: nothing is left for later") {
  for (const std::string& mark : {std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"}) {
    require_judged({
        {unfinished_marks, "sim/a.cpp", "int a;\n// " + mark + ": later\n", 2},
        {unfinished_marks, "docs/a.md", mark + "\n", 1},
        {unfinished_marks, "sim/a.cpp", "int " + mark + "S;\n", kNothing},
    });
  }
}

TEST_CASE("tidy: tests and code are not switched off") {
  const std::string test = "TEST_" + std::string("CASE(");
  require_judged({
      {disabled_code, "sim/a_test.cpp", test + "\"a claim\", \"[.]\") {\n", 1},
      {disabled_code, "sim/a_test.cpp", test + "\"a claim\", \"[.slow]\") {\n", 1},
      {disabled_code, "sim/a_test.cpp", test + "\"a claim\",\n          \"[!mayfail]\") {\n", 1},
      {disabled_code, "examples/a_test.cpp", "// tidy: fails on purpose\n" + test + "\"a\", \"[!mayfail]\") {\n",
       kNothing},
      {disabled_code, "sim/a_test.cpp", test + "\"a claim\", \"[!mayfail]\") {  // tidy: fails on purpose\n", 1},
      {disabled_code, "sim/a.cpp", "int a;\n#if " + std::string("0\n"), 2},
      {disabled_code, "sim/a_test.cpp", test + "\"a claim\", \"[redis]\") {\n  f(\"[.]\");\n", kNothing},
  });
}

TEST_CASE("tidy: a file holds one thing") {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "int a;\n";
  require_judged({{file_length, "sim/a.cpp", text, kNothing},
                  {file_length, "sim/a.cpp", text + "int b;\n", 0},
                  {file_length, "docs/a.md", text + "text\n", kNothing}});
}

TEST_CASE("tidy: white space is plain") {
  require_judged({
      {whitespace, "sim/a.cpp", "int a;\n\tint b;\n", 2},
      {whitespace, "sim/a.cpp", "int a; \n", 1},
      {whitespace, "scenarios/a.toml", "a = 1", 1},
      {whitespace, "scenarios/a.toml", "a = 1\r\nb = 2\r\n", 1},
      {whitespace, "scenarios/corpus/loader/a", "a = 1\r\n", 1},
      {whitespace, "scenarios/corpus/loader/a", "a\t= 1 ", kNothing},
      {whitespace, "sim/a.cpp", "int a;\n\nint b;\n", kNothing},
      {whitespace, "sim/a.cpp", "", kNothing},
  });
}

TEST_CASE("tidy: headers guard themselves") {
  require_judged({
      {header_guard, "sim/a.hpp", "int a();\n", 0},
      {header_guard, "sim/a.hpp", "// about\n" + kPragma + "int a();\n", kNothing},
      {header_guard, "sim/a.cpp", "int a();\n", kNothing},
  });
}

TEST_CASE("tidy: folders have names") {
  require_judged({
      {folder_names, "sim/utils/a.hpp", "", 0},
      {folder_names, "helpers/a.hpp", "", 0},
      {folder_names, "models/common/redis/a.hpp", "", 0},
      {folder_names, "models/redis/common_commands.hpp", "", kNothing},
  });
}

TEST_CASE("tidy: no module includes itself by way of others") {
  const auto file = [](const std::string& path, const std::vector<std::string>& includes) {
    File made{path, {}};
    for (const std::string& include : includes) made.text += "#include \"" + include + "\"\n";
    return made;
  };
  // A .cpp belongs to its header: what b.cpp includes, b includes.
  const std::vector<File> circle{file("sim/a.hpp", {}), file("sim/a.cpp", {"sim/a.hpp", "sim/b.hpp"}),
                                 file("sim/b.hpp", {}), file("sim/b.cpp", {"sim/b.hpp", "sim/c.hpp"}),
                                 file("sim/c.hpp", {"sim/a.hpp"})};
  const Findings findings = module_cycles(circle);
  REQUIRE(findings.size() == 1);
  CHECK(to_string(findings[0])
            .starts_with("sim/a.cpp:2: modules include each other in a circle: sim/a -> sim/b -> sim/c -> sim/a"));
  CHECK(module_cycles({file("sim/a.hpp", {}), file("sim/a.cpp", {"sim/a.hpp", "sim/b.hpp"}), file("sim/b.hpp", {}),
                       file("sim/b_test.cpp", {"sim/a.hpp", "sim/b.hpp"})})
            .empty());
}

TEST_CASE("tidy: rooms include rooms below them") {
  const auto found = [](const std::string& path, const std::string& header) {
    const Findings findings = room_arrows({{path, "#include \"" + header + "\"\n"}});
    return findings.empty() ? "" : to_string(findings.front());
  };
  CHECK(found("models/redis/wire/a.cpp", "models/redis/database/b.hpp")
            .starts_with("models/redis/wire/a.cpp:1: models/redis/wire/ must not use models/redis/database/"));
  CHECK(found("models/redis/database/a.cpp", "models/redis/wire/b.hpp").empty());
  CHECK(found("scenarios/running/a.hpp", "scenarios/running/b.hpp").empty());
  CHECK(found("scenarios/running/a.cpp", "checker/time/b.hpp").empty());  // what a folder may use is another rule
  CHECK(found("scenarios/running/a.cpp", "scenarios/testing/b.hpp").starts_with("scenarios/running/a.cpp:1: "));
  CHECK(found("scenarios/running/a_test.cpp", "scenarios/exploring/b.hpp").empty());
  CHECK(found("scenarios/testing/a.hpp", "scenarios/exploring/b.hpp").empty());
  CHECK(found("checker/attic/a.hpp", "checker/time/b.hpp").starts_with("checker/attic/a.hpp: a room that"));
  CHECK(found("reports/site/a.hpp", "reports/play/b.hpp").empty());
}

TEST_CASE("tidy: a folder has no more than 25 files of its own") {
  const auto folder = [](const std::string& path, int count) {
    std::vector<File> files;
    for (int i = 0; i < count; ++i) files.push_back({path + "/" + std::to_string(i) + ".cpp", {}});
    return files;
  };
  CHECK(folder_sizes(folder("sim/time", 25)).empty());
  REQUIRE(folder_sizes(folder("sim/time", 26)).size() == 1);
  CHECK(to_string(folder_sizes(folder("sim/time", 26)).front()).starts_with("sim/time: 26 files"));
  CHECK(folder_sizes(folder("docs/manual", 26)).size() == 1);
  CHECK(folder_sizes(folder("models/locks/redis", 80)).empty());
  CHECK(folder_sizes(folder("scenarios/stories/own", 80)).empty());
  CHECK(folder_sizes(folder("scenarios/corpus/loader", 80)).empty());
}

TEST_CASE("tidy: lines have at most 120 columns") {
  const std::string fits(120, 'x'), too_long(121, 'x');
  std::string wide;
  for (int i = 0; i < 120; ++i) wide += "锁";
  require_judged({
      {line_length, "sim/a.cpp", fits + "\n", kNothing},
      {line_length, "sim/a.cpp", "int a;\n// " + fits + "\n", 2},
      {line_length, "reports/a.hpp", too_long + "\n", 1},
      {line_length, "reports/a.cpp", "f(\"" + fits + "\");\n", 1},
      {line_length, "reports/a.cpp", "f(R\"(\n" + too_long + "\n)\");\n", kNothing},
      {line_length, "reports/a.hpp", wide + "\n", kNothing},
      {line_length, "sim/a_test.cpp", too_long + "\n", kNothing},
      {line_length, "sim/testing/a.hpp", too_long + "\n", kNothing},
      {line_length, "docs/a.md", too_long + "\n", kNothing},
  });
}

TEST_CASE("tidy: every header is included by somebody") {
  const File header{"sim/a.hpp", kPragma};
  CHECK(dead_headers({header, {"sim/b.cpp", "#include \"sim/other.hpp\"\n#include <a.hpp>\n"}}).size() == 1);
  CHECK(dead_headers({header, {"sim/b.cpp", "#include \"sim/a.hpp\"\n"}}).empty());
}

TEST_CASE("tidy: a file includes what it uses, whatever its neighbours have included") {
  const File header{"sim/a.hpp", kPragma + "struct Alpha {\n};\n"};
  const File forward{"sim/f.hpp", kPragma + "#include <map>\nclass Alpha;\n"};
  const auto found = [&](const std::string& text) {
    const Findings findings = missing_includes({header, forward, {"sim/b.cpp", text}});
    return findings.empty() ? "" : to_string(findings.front());
  };
  CHECK(found("Alpha alpha;\n") == "sim/b.cpp:1: uses `Alpha`: include \"sim/a.hpp\"");
  CHECK(found("#include \"sim/a.hpp\"\nAlpha alpha;\n").empty());
  CHECK(found("#include \"sim/f.hpp\"\nAlpha* alpha;\n").empty());
  CHECK(found("struct Alpha {};\nAlpha alpha;\n").empty());
  CHECK(found("class [[nodiscard]] Alpha {};\nAlpha alpha;\n").empty());
  CHECK(found("// Alpha\nint x = f(\"Alpha\");\n").empty());
  CHECK(found("\nstd::map<int, int> m;\n") == "sim/b.cpp:2: uses `std::map`: include <map>");
  CHECK(found("#include <map>\nstd::map<int, int> m;\n").empty());
  CHECK(found("#include \"sim/f.hpp\"\nstd::map<int, int> m;\n").empty());
}

TEST_CASE("tidy: every script is used by somebody") {
  const File script{"models/locks/check-and-del.lua", "return 1\n"};
  CHECK(dead_scripts({script, {"models/a.cpp", "f(scripts::del_lua);\n"}}).size() == 1);
  CHECK(dead_scripts({script, {"models/a.cpp", "f(scripts::check_and_del_lua);\n"}}).empty());
}

TEST_CASE("tidy: what a document quotes stands in the file") {
  const File source{"sim/a.cpp", "int a() {\n  return 1;\n}\n\nint b();\n"};
  const auto quoting = [](const std::string& path, const std::string& block) {
    return File{"docs/a.md", "Text.\n<!-- from " + path + " -->\n\n" + block + "\nText.\n"};
  };
  CHECK(quotations({source, quoting("sim/a.cpp", "    int a() {\n      return 1;\n    }\n\n    int b();\n")}).empty());
  CHECK(quotations({source, quoting("sim/a.cpp", "    int a() {\n      return 2;\n    }\n")}).size() == 1);
  CHECK(quotations({source, quoting("sim/b.cpp", "    int a() {\n")}).size() == 1);
  CHECK(quotations({source, quoting("sim/a.cpp", "")}).size() == 1);
}

TEST_CASE("tidy: links lead somewhere") {
  const File page{"docs/manual/a.md", "# A\n## What it's for: `x`, and *why*\n"}, picture{"docs/a.png", ""};
  const auto links = [&](const std::string& text) {
    return dead_links({page, picture, {"docs/b.md", text + "\n"}}).size();
  };
  CHECK(links("[a](manual/a.md), ![p](a.png), [m](manual/), [x](https://example.org)") == 0);
  CHECK(links("[a](a.md)") == 1);
  CHECK(links("[a](../a.md) [b](../../../b.md)") == 2);
  CHECK(links("[a](manual/a.md#whats-for-x) and [a](#nothing)") == 2);
  CHECK(links("[a](manual/a.md#what-its-for-x-and-why)") == 0);
  CHECK(links("# Own\n[a](#own)") == 0);
  CHECK(links("`f[](nowhere)`\n    [a](nowhere)\n```\n[a](nowhere)\n```") == 0);
  CHECK(dead_links({page, {"docs/manual/c.md", "[a](../manual/a.md)\n"}}).empty());
}

TEST_CASE("tidy: paths that are named exist") {
  const File page{"docs/manual/a.md", "## Its title\n"}, source{"sim/a.hpp", ""};
  const auto paths = [&](const std::string& path, const std::string& text) {
    return dead_paths({page, source, {path, text + "\n"}}).size();
  };
  CHECK(paths("cli/a.cpp", "f(\"see docs/manual/a.md.\");") == 0);
  CHECK(paths("cli/a.cpp", "f(\"see docs/a.md.\");") == 1);
  CHECK(paths("cli/a.cpp", "// docs/manual/a.md, \"Its title\", says so") == 0);
  CHECK(paths("cli/a.cpp", "// docs/manual/a.md, \"Another\", says so") == 1);
  CHECK(paths("cli/a.cpp", "// sim/a.hpp, sim/*.hpp, sim/{a,b}.hpp, other/b.hpp, https://a.org/docs/b.md") == 0);
  CHECK(paths("cli/a.cpp", "// sim/b.hpp") == 1);
  CHECK(paths("cli/a.cpp", "f(\"sim/b.hpp\");") == 0);
  CHECK(paths("docs/b.md", "    quoted sim/b.hpp") == 1);
  CHECK(paths("lockstep", "cat docs/b.md") == 1);
  CHECK(paths("CHANGELOG.md", "docs/b.md") == 0);
}

TEST_CASE("tidy: a type that a document names stands in the file that it names") {
  const File source{"sim/a.hpp", "class World {\n};\n"};
  const auto types = [&](const std::string& text) {
    return missing_types({source, {"docs/b.md", text + "\n"}}).size();
  };
  CHECK(types("A `sim::World` (`sim/a.hpp`), and its `World` (`sim/none.hpp`)") == 0);
  CHECK(types("A `Worl` (`sim/a.hpp`).") == 1);
  CHECK(types("A `Worl`\n(`sim/a.hpp`), `x - y` (`sim/a.hpp`), `f --x` (`sim/a.hpp`).") == 1);
}

TEST_CASE("tidy: the index of the documents has all of them") {
  const File page{"docs/manual/a.md", ""};
  CHECK(unlisted_documents({page}).size() == 1);
  CHECK(unlisted_documents({page, {"docs/README.md", "[a](manual/a.md)\n"}}).empty());
}

TEST_CASE("tidy: only the engine tells faults apart by their kinds") {
  const File table{"sim/worlds/fault_kinds.hpp", "enum class FaultKind : int {\n  pause,  ///< freezes\n  crash\n};\n"};
  const auto told = [&](const std::string& path, const std::string& line) {
    return fault_kinds({table, {path, line + "\n"}}).size();
  };
  CHECK(told("reports/a.cpp", "if (fault.kind == FaultSpec::Kind::crash) return;") == 1);
  CHECK(told("reports/a.cpp", "if (sim::FaultKind::pause != fault.kind) return;") == 1);
  CHECK(told("checker/a.cpp", "    case Kind::pause: return 1;") == 1);
  CHECK(told("checker/a.cpp", "    case sim::PlannedFault::Kind::pause: return 1;") == 1);
  CHECK(told("scenarios/a.cpp", "const bool is = a.kind==MaySpec::Kind::crash || freezes(a.kind);") == 1);
  CHECK(told("scenarios/a.cpp", "may.kind = MaySpec::Kind::crash;  // == Kind::crash") == 0);
  CHECK(told("scenarios/a.cpp", "if (effect.kind == Effect::Kind::crash) return;") == 0);
  CHECK(told("scenarios/a.cpp", "if (bar.kind == Kind::crashed) return;") == 0);
  CHECK(told("scenarios/a_test.cpp", "CHECK(fault.kind == FaultSpec::Kind::crash);") == 0);
  CHECK(told("sim/worlds/world_faults.cpp", "    case FaultKind::crash: return;") == 0);
}

TEST_CASE("tidy: comments and literals are not code") {
  CHECK(code_of("a // b\nc") == "a     \nc");
  CHECK(code_of("a /* b\nc */ d") == "a     \n     d");
  CHECK(code_of("f(\"a\\\"b\", 'x', '\\'')") == "f(\"    \", ' ', '  ')");
  CHECK(code_of("R\"x(a\"b)x\" c") == "R\"       \" c");
  CHECK(code_of("1'000'000 + a") == "1'000'000 + a");
}
