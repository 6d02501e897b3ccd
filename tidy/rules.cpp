#include "tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace lockstep::tidy {
namespace {

using std::string_view_literals::operator""sv;

// Bottom to top: a folder may include itself and what is named here.
const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> kMayInclude = {
    {"sim", {}},
    {"models", {"sim"}},
    {"checker", {"sim"}},
    {"scenarios", {"sim", "models", "checker"}},
    {"reports", {"sim", "models", "checker", "scenarios"}},
    {"library", {"sim", "models", "checker", "scenarios", "reports"}},
    {"door", {"sim", "models", "checker", "scenarios"}},
    {"ranks", {"sim", "models", "checker", "scenarios"}},
    {"programs", {"sim", "models", "checker", "scenarios", "door"}},
    {"confirm", {"sim", "models", "checker", "scenarios", "reports"}},
    {"cli", {"sim", "models", "checker", "scenarios", "reports", "door", "confirm", "programs"}},
    {"bench", {"sim", "models", "checker", "scenarios", "reports", "door", "confirm", "cli"}},
    {"examples", {"sim", "models", "checker", "scenarios", "reports", "door", "confirm", "cli"}},
    {"tidy", {}},
};

constexpr std::array kDeciding{"sim"sv, "models"sv, "checker"sv};

struct Ban {
  std::string_view word;
  std::string_view instead;
};

constexpr std::string_view kGenerator = "use the portable seeded generator of sim/schedules/random.hpp";
constexpr std::string_view kDecide = "let a decision choose: sim/schedules/decisions.hpp";
constexpr std::string_view kClock = "use virtual time: the clock of the process (sim/time/clock.hpp)";
constexpr std::string_view kThread = "worker threads must not be visible: use an index that the caller passes";

constexpr std::array kChance{
    Ban{"random_device", kGenerator}, Ban{"mt19937", kGenerator},
    Ban{"mt19937_64", kGenerator},    Ban{"default_random_engine", kGenerator},
    Ban{"minstd_rand", kGenerator},   Ban{"rand(", kGenerator},
    Ban{"srand(", kGenerator},        Ban{"drand48(", kGenerator},
    Ban{"shuffle", kDecide},          Ban{"random_shuffle", kDecide},
    Ban{"get_id(", kThread},          Ban{"gettid(", kThread},
    Ban{"pthread_self(", kThread},
};
constexpr std::array kRealTime{
    Ban{"system_clock", kClock},   Ban{"steady_clock", kClock},  Ban{"high_resolution_clock", kClock},
    Ban{"clock_gettime(", kClock}, Ban{"gettimeofday(", kClock}, Ban{"sleep_for", kClock},
    Ban{"sleep_until", kClock},
};

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

/// A comment on this line (an index from 0) or the one above takes the line out of a rule.
bool is_excused(const std::vector<std::string_view>& lines, std::size_t index, std::string_view reason) {
  const std::string comment = "// tidy: " + std::string(reason);
  if (lines[index].find(comment) != std::string_view::npos) return true;
  return index > 0 && lines[index - 1].find(comment) != std::string_view::npos;
}

bool is_product(const File& file) {
  return file.is_cpp() && file.folder() != "tidy" && file.folder() != "bench" && file.folder() != "examples";
}

/// What follows #include: <memory> or "sim/time/time.hpp"; empty if the line is something else.
std::string_view included_by(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(' ');
  if (hash == std::string_view::npos || !line.substr(hash).starts_with("#include")) return {};
  const std::size_t begin = line.find_first_of("<\"", hash);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = line.find_first_of(">\"", begin + 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin + 1);
}

std::string_view without_extension(std::string_view path) { return path.substr(0, path.rfind('.')); }

/// Calls `visit(index, line of code, lines as written)` for each line of a C++ file.
template <typename Visit>
void for_each_code_line(const File& file, Visit visit) {
  const std::string code = code_of(file.text);
  const std::vector<std::string_view> raw = lines_of(file.text);
  const std::vector<std::string_view> lines = lines_of(code);
  for (std::size_t i = 0; i < lines.size(); ++i) visit(i, lines[i], raw);
}

}  // namespace

std::string to_string(const Finding& finding) {
  return finding.path + (finding.line == 0 ? "" : ":" + std::to_string(finding.line)) + ": " + finding.message;
}

Findings include_direction(const File& file) {
  Findings findings;
  if (!file.is_cpp()) return findings;
  const auto own = std::find_if(kMayInclude.begin(), kMayInclude.end(),
                                [&](const auto& entry) { return entry.first == file.folder(); });
  if (own == kMayInclude.end())
    return {{file.path, 0, "a folder that the table in tidy/rules.cpp does not know: say what it may include"}};
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view header = included_by(lines[i]);
    if (!header.starts_with('"')) continue;
    header = header.substr(1, header.size() - 2);
    const std::string_view folder = header.substr(0, header.find('/'));
    const bool known =
        std::any_of(kMayInclude.begin(), kMayInclude.end(), [&](const auto& entry) { return entry.first == folder; });
    if (file.folder() == "examples" && header.find('/') == std::string_view::npos) continue;  // a project of its own
    if (!known) {
      findings.push_back(
          {file.path, i + 1, quoted(header) + ": own headers are included by their path from the root, others in <>"});
    } else if (folder != own->first && std::count(own->second.begin(), own->second.end(), folder) == 0) {
      findings.push_back({file.path, i + 1,
                          std::string(own->first) + "/ must not use " + std::string(folder) +
                              "/: move what is needed down, or pass it in"});
    }
  }
  return findings;
}

Findings real_chance_and_time(const File& file) {
  Findings findings;
  if (!is_product(file)) return findings;
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto& raw) {
    const auto report = [&](std::string_view word, std::string_view instead) {
      findings.push_back({file.path, i + 1, quoted(word) + " is not repeatable: " + std::string(instead)});
    };
    if (included_by(line) == "<random>") report("<random>", kGenerator);
    if (line.find("_distribution") != std::string_view::npos) report("_distribution", kGenerator);
    for (const Ban& ban : kChance) {
      if (has_word(line, ban.word)) report(ban.word, ban.instead);
    }
    const auto is_about = [&](std::string_view reason) { return is_excused(raw, i, reason); };
    // Tests beside a real server look how long that takes.
    const bool is_beside_real_server = file.path.find("/conformance/") != std::string::npos;
    const bool meets_reality = file.folder() == "cli" || file.folder() == "confirm" || is_beside_real_server;
    if (meets_reality && (is_about("progress only") || is_about("real clients") || is_about("real processes"))) return;
    if (file.folder() == "library" && is_about("bounds only")) return;
    if (file.path.starts_with("programs/samples/") && is_about("a program of others")) return;
    for (const Ban& ban : kRealTime) {
      if (has_word(line, ban.word)) report(ban.word, ban.instead);
    }
  });
  return findings;
}

Findings unordered_containers(const File& file) {
  Findings findings;
  if (!is_product(file)) return findings;
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto& raw) {
    if (is_excused(raw, i, "lookup only")) return;
    const std::string_view header = included_by(line);
    if (header == "<unordered_map>" || header == "<unordered_set>") {
      findings.push_back({file.path, i + 1,
                          "hash order differs between standard libraries: use std::map, or, if nothing ever "
                          "iterates over it, add `// tidy: lookup only`"});
    }
    if (line.find("std::hash") != std::string_view::npos) {
      findings.push_back(
          {file.path, i + 1,
           "std::hash differs between standard libraries: use the digest of sim/worlds/trace.hpp, or, for "
           "a container that nothing iterates over, add `// tidy: lookup only`"});
    }
  });
  return findings;
}

Findings pointer_keys(const File& file) {
  Findings findings;
  if (!is_product(file)) return findings;
  const std::regex key(
      R"(\b(?:unordered_)?(?:map|set|multimap|multiset|hash|less|greater)<[^,<>]*\*\s*(?:const\s*)?[,>])");
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto&) {
    if (line.find('*') == std::string_view::npos) return;
    if (!std::regex_search(line.begin(), line.end(), key)) return;
    findings.push_back({file.path, i + 1, "addresses differ between runs: use an id or an index as the key"});
  });
  return findings;
}

Findings floating_point(const File& file) {
  Findings findings;
  if (!file.is_cpp() || file.is_test()) return findings;
  if (std::find(kDeciding.begin(), kDeciding.end(), file.folder()) == kDeciding.end()) return findings;
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto& raw) {
    if (!has_word(line, "float") && !has_word(line, "double")) return;
    if (is_excused(raw, i, "not deciding")) return;
    findings.push_back({file.path, i + 1,
                        "floating point rounds differently between builds: use integers (sim::Duration, parts per "
                        "billion), or, where nothing depends on it, add `// tidy: not deciding`"});
  });
  return findings;
}

Findings mutable_globals(const File& file) {
  Findings findings;
  if (!is_product(file) || file.is_test()) return findings;
  // A variable's declaration: type, name, then nothing or an initialiser; and so without a parenthesis before it.
  const std::regex variable(R"(^[A-Za-z_][\w:<>,*&\[\] ]*[ *&>]\w+(?:\[\w*\])? ?(?:=.*|\{|;)$)");
  const std::regex not_a_variable(
      R"(^(?:using|typedef|struct|class|enum|union|template|namespace|inline namespace|friend|return|static_assert|concept|extern|goto|co_return)\b)");
  const std::vector<std::string_view> raw = lines_of(file.text);
  for (const Statement& statement : statements_of(code_of(file.text))) {
    // Where memory comes from is no state of a world, but the program has only one `new`; and whether a thread is to
    // end early decides nothing but that something is not finished.
    const auto is_about = [&](std::string_view reason) { return is_excused(raw, statement.line - 1, reason); };
    if (is_about("allocation only") || is_about("bounds only")) continue;
    if (file.path.starts_with("programs/samples/") && is_about("a program of others")) continue;
    std::string text = statement.text;
    const auto report = [&](std::string_view what) {
      findings.push_back({file.path, statement.line,
                          quoted(text) + ": " + std::string(what) + "; make it constexpr, or a member of the world"});
    };
    if (has_word(text, "thread_local")) {
      report("a variable per thread makes worker threads visible");
      continue;
    }
    const bool is_const = has_word(text, "const") || has_word(text, "constexpr") || has_word(text, "consteval");
    const bool is_static = text.starts_with("static ") || text.starts_with("inline static ");
    if (is_const) continue;
    if (statement.scope == Statement::Scope::function) {
      if (is_static) report("a static variable outlives its world");
    } else if (statement.scope == Statement::Scope::type) {
      if (is_static && std::regex_match(text, variable)) report("a static member is shared by all worlds");
    } else if (!std::regex_search(text, not_a_variable) && std::regex_match(text, variable)) {
      report("a global variable is shared by all worlds");
    }
  }
  return findings;
}

Findings unfinished_marks(const File& file) {
  // In two parts, or this file would be its own first finding.
  static const std::array<std::string, 3> marks{std::string("TO") + "DO", std::string("FIX") + "ME",
                                                std::string("XX") + "X"};
  Findings findings;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& mark : marks) {
      if (has_word(lines[i], mark)) findings.push_back({file.path, i + 1, mark + ": do it, or open an issue"});
    }
  }
  return findings;
}

Findings disabled_code(const File& file) {
  Findings findings;
  if (!file.is_cpp()) return findings;
  const std::regex hidden(
      R"re((?:TEST_CASE|SCENARIO|METHOD|prop) ?\(.*"[^"]*\[(?:\.|!hide|!mayfail|!shouldfail|!throws))re");
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("#if 0") || lines[i].starts_with("#if false")) {
      findings.push_back({file.path, i + 1, "code that is switched off: delete it, git remembers"});
    }
    // The tags may stand on the line after the name.
    std::string both(lines[i]);
    if (i + 1 < lines.size() && !both.ends_with('{')) both += lines[i + 1];
    if (both.find("[.") == std::string::npos && both.find("[!") == std::string::npos) continue;
    // An example may show what a failure looks like.
    if (file.folder() == "examples" && is_excused(lines, i, "fails on purpose")) continue;
    if (std::regex_search(both, hidden)) {
      findings.push_back({file.path, i + 1, "a test that does not run, or may fail: make it run, or delete it"});
    }
  }
  return findings;
}

Findings file_length(const File& file) {
  constexpr std::size_t kLinesMax = 600;
  if (!file.is_cpp() && !file.path.ends_with(".lua")) return {};
  const std::size_t lines = lines_of(file.text).size();
  if (lines <= kLinesMax) return {};
  return {{file.path, 0, std::to_string(lines) + " lines, more than 600: it holds more than one thing; split it"}};
}

Findings line_length(const File& file) {
  constexpr std::size_t kColumnsMax = 120;
  constexpr std::array for_tests{"_test.cpp"sv, "_testing.cpp"sv, "_testing.hpp"sv, "_tool.cpp"sv, "_fuzz.cpp"sv};
  if (!is_product(file) || file.path.find("/testing/") != std::string::npos) return {};
  if (file.path.find("/conformance/") != std::string::npos) return {};
  const auto ends = [&](std::string_view with) { return file.path.ends_with(with); };
  if (std::any_of(for_tests.begin(), for_tests.end(), ends)) return {};
  Findings findings;
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto& raw) {
    if (raw[i].size() <= kColumnsMax) return;
    const auto columns = static_cast<std::size_t>(std::count_if(
        raw[i].begin(), raw[i].end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    // A raw string says what it says: its lines are blank here, and its last one ends with more than a blank.
    const bool is_comment = raw[i].find("//") != std::string_view::npos;
    const std::size_t end = line.find_last_not_of(' ');
    const bool is_literal = !is_comment && (end == std::string_view::npos || end < kColumnsMax);
    if (columns > kColumnsMax && !is_literal)
      findings.push_back({file.path, i + 1, std::to_string(columns) + " columns, more than 120: break the line"});
  });
  return findings;
}

Findings whitespace(const File& file) {
  Findings findings;
  const bool is_corpus = file.path.find("/corpus/") != std::string::npos;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.ends_with('\r')) {
      findings.push_back({file.path, i + 1, "CRLF: git and editors would change it; end lines with LF"});
      break;
    }
    if (is_corpus) continue;
    if (line.find('\t') != std::string_view::npos) findings.push_back({file.path, i + 1, "a tab: use spaces"});
    if (line.ends_with(' ')) findings.push_back({file.path, i + 1, "blanks at the end of the line"});
  }
  if (!is_corpus && !file.text.empty() && !file.text.ends_with('\n')) {
    findings.push_back({file.path, lines.size(), "no newline at the end of the file"});
  }
  return findings;
}

Findings header_guard(const File& file) {
  if (!file.path.ends_with(".hpp")) return {};
  for (const std::string_view line : lines_of(file.text)) {
    if (line == "#pragma once") return {};
  }
  return {{file.path, 0, "a header without #pragma once"}};
}

Findings folder_names(const File& file) {
  constexpr std::array nameless{"utils"sv, "util"sv, "common"sv, "misc"sv, "helpers"sv, "helper"sv, "shared"sv};
  std::string_view rest = file.path;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    const std::string_view folder = rest.substr(0, slash);
    if (std::find(nameless.begin(), nameless.end(), folder) != nameless.end()) {
      return {{file.path, 0, quoted(folder) + " says nothing: name the folder after what is in it"}};
    }
    rest.remove_prefix(slash + 1);
  }
  return {};
}

Findings unordered_iteration(const std::vector<File>& files) {
  const std::regex declaration(R"(unordered_(?:multi)?(?:map|set)<.*>\s+(\w+)\s*(?:;|=|\{))");
  std::set<std::pair<std::string, std::string>> containers;  // path without extension, name
  for (const File& file : files) {
    if (!is_product(file)) continue;
    for_each_code_line(file, [&](std::size_t, std::string_view line, const auto&) {
      if (line.find("unordered_") == std::string_view::npos) return;
      std::match_results<std::string_view::const_iterator> match;
      if (std::regex_search(line.begin(), line.end(), match, declaration)) {
        containers.emplace(without_extension(file.path), match[1].str());
      }
    });
  }
  Findings findings;
  for (const File& file : files) {
    if (!is_product(file)) continue;
    for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto&) {
      for (const auto& [stem, name] : containers) {
        if (stem != without_extension(file.path) || !has_word(line, name)) continue;
        const bool loop = has_word(line, "for(") && line.rfind(':') < line.rfind(name);
        const bool iterator = line.find(name + ".begin()") != std::string_view::npos ||
                              line.find(name + ".cbegin()") != std::string_view::npos;
        if (!loop && !iterator) continue;
        findings.push_back({file.path, i + 1,
                            "iterates over the unordered container " + quoted(name) +
                                ": the order differs between standard libraries; use std::map or sort first"});
      }
    });
  }
  return findings;
}

Findings dead_headers(const std::vector<File>& files) {
  std::set<std::string, std::less<>> included;
  for (const File& file : files) {
    if (!file.is_cpp()) continue;
    for (const std::string_view line : lines_of(file.text)) {
      const std::string_view header = included_by(line);
      if (!header.starts_with('"')) continue;
      std::string path(header.substr(1, header.size() - 2));
      // As in examples/, whose programs are projects of their own.
      if (path.find('/') == std::string::npos) path.insert(0, file.path.substr(0, file.path.rfind('/') + 1));
      included.insert(std::move(path));
    }
  }
  Findings findings;
  for (const File& file : files) {
    if (file.path.ends_with(".hpp") && !included.contains(file.path)) {
      findings.push_back({file.path, 0, "no file includes this header: use it or delete it"});
    }
  }
  return findings;
}

Findings dead_scripts(const std::vector<File>& files) {
  Findings findings;
  for (const File& script : files) {
    if (!script.path.ends_with(".lua") || script.folder() != "models") continue;
    std::string name(without_extension(script.name()));
    std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    name += "_lua";
    const bool used = std::any_of(files.begin(), files.end(),
                                  [&](const File& file) { return file.is_cpp() && has_word(file.text, name); });
    if (!used) findings.push_back({script.path, 0, "no C++ file uses " + quoted(name) + ": use it or delete it"});
  }
  return findings;
}

namespace {

/// The lines of a quoted block and where it ends: from the line after the marker to the next that is neither indented nor empty.
std::string quoted_block(std::span<const std::string_view> lines) {
  std::string block;
  for (const std::string_view line : lines) {
    if (!line.empty() && !line.starts_with("    ")) break;
    block += std::string(line.substr(std::min<std::size_t>(line.size(), 4))) + "\n";
  }
  const std::size_t first = block.find_first_not_of('\n');
  const std::size_t last = block.find_last_not_of('\n');
  return first == std::string::npos ? "" : block.substr(first, last - first + 1) + "\n";
}

}  // namespace

Findings quotations(const std::vector<File>& files) {
  constexpr std::string_view kMarker = "<!-- from ";
  Findings findings;
  for (const File& document : files) {
    if (!document.path.ends_with(".md")) continue;
    const std::vector<std::string_view> lines = lines_of(document.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with(kMarker)) continue;
      std::string_view path = lines[i].substr(kMarker.size());
      path = path.substr(0, path.find(' '));
      const auto source = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.path == path; });
      const std::string block = quoted_block(std::span(lines).subspan(i + 1));
      if (source == files.end()) {
        findings.push_back({document.path, i + 1, "quotes " + quoted(path) + ", which does not exist"});
      } else if (block.empty() || source->text.find(block) == std::string::npos) {
        findings.push_back({document.path, i + 1, "does not stand in " + quoted(path) + " like this: quote it again"});
      }
    }
  }
  return findings;
}

namespace {

/// Where the parenthesis closes that is open at `from`.
std::size_t closing(std::string_view line, std::size_t from) {
  for (int open = 1; from < line.size(); ++from) {
    open += line[from] == '(' ? 1 : line[from] == ')' ? -1 : 0;
    if (open == 0) break;
  }
  return from;
}

}  // namespace

Findings loops_over_temporaries(const File& file) {
  Findings findings;
  for_each_code_line(file, [&](std::size_t i, std::string_view line, const auto&) {
    const std::size_t loop = line.find("for (");
    const std::size_t colon = loop == std::string_view::npos ? loop : line.find(" : ", loop);
    if (colon == std::string_view::npos) return;
    const std::string_view range = line.substr(0, closing(line, colon));
    const std::size_t made = range.find("parse(", colon);
    if (made == std::string_view::npos) return;
    const std::size_t end = closing(range, made + std::string_view("parse(").size());
    if (end + 1 < range.size() && (range[end + 1] == '[' || range[end + 1] == '.'))
      findings.push_back({file.path, i + 1, "what is read here is gone before the loop begins: give it a name first"});
  });
  return findings;
}

Findings all_findings(const std::vector<File>& files) {
  constexpr std::array of_one{include_direction, real_chance_and_time,  unordered_containers, pointer_keys,
                              floating_point,    mutable_globals,       unfinished_marks,     disabled_code,
                              file_length,       line_length,           whitespace,           header_guard,
                              folder_names,      loops_over_temporaries};
  constexpr std::array of_all{unordered_iteration, missing_includes,   module_cycles, room_arrows, folder_sizes,
                              dead_headers,        dead_scripts,       quotations,    dead_links,  dead_paths,
                              missing_types,       unlisted_documents, fault_kinds};
  Findings findings;
  const auto take = [&](const Findings& more) { findings.insert(findings.end(), more.begin(), more.end()); };
  for (const File& file : files) {
    for (const auto rule : of_one) take(rule(file));
  }
  for (const auto rule : of_all) take(rule(files));
  return findings;
}

}  // namespace lockstep::tidy
