// One rule: nobody but the engine tells faults apart by their kinds.

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

#include "tidy/rules.hpp"

namespace lockstep::tidy {
namespace {

constexpr std::string_view kTable = "sim/worlds/fault_kinds.hpp";

/// Where a kind may be told from another: its row, its words, and what it does when it strikes.
constexpr std::array<std::string_view, 3> kHomes{kTable, "sim/worlds/fault_words.hpp", "sim/worlds/world_faults.cpp"};

/// The enumerators of the table: "pause", "crash", …
std::vector<std::string> kinds_in(const File& table) {
  const std::string code = code_of(table.text);
  const std::size_t begin = code.find("enum class FaultKind");
  if (begin == std::string::npos) return {};
  const std::size_t open = code.find('{', begin);
  const std::string body = code.substr(open + 1, code.find('}', open) - open - 1);
  const std::regex name(R"(\w+)");
  std::vector<std::string> kinds;
  for (auto i = std::sregex_iterator(body.begin(), body.end(), name); i != std::sregex_iterator(); ++i)
    kinds.push_back(i->str());
  return kinds;
}

}  // namespace

Findings fault_kinds(const std::vector<File>& files) {
  const auto table = std::find_if(files.begin(), files.end(), [](const File& file) { return file.path == kTable; });
  if (table == files.end()) return {};
  std::string names;
  for (const std::string& kind : kinds_in(*table)) names += (names.empty() ? "" : "|") + kind;
  // Kinds of other things have a name before theirs: "Effect::Kind::lose".
  const std::string kind =
      R"(((\w+::)*(FaultKind|(FaultSpec|MaySpec|ExploredFault|PlannedFault|FaultBudget|Interruption)::Kind)|\bKind)::()" +
      names + R"()\b)";
  const std::regex told(R"((\bcase\s+|[=!]=\s*))" + kind + "|" + kind + R"(\s*[=!]=)");
  Findings findings;
  for (const File& file : files) {
    const bool is_home = std::find(kHomes.begin(), kHomes.end(), file.path) != kHomes.end();
    if (!file.is_cpp() || file.is_test() || is_home) continue;
    const std::string code = code_of(file.text);
    const std::vector<std::string_view> lines = lines_of(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find("Kind::") == std::string_view::npos) continue;
      if (!std::regex_search(lines[i].begin(), lines[i].end(), told)) continue;
      findings.push_back({file.path, i + 1,
                          "a kind of fault, by name: ask for a column of " + std::string(kTable) +
                              ", so that the next kind need not be named here"});
    }
  }
  return findings;
}

}  // namespace lockstep::tidy
