// That a file includes what it uses. Most sources are compiled together with others (docs/decisions/how-it-is-built.md), so the compiler does not
// notice what a neighbour has included.

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "tidy/rules.hpp"

namespace lockstep::tidy {
namespace {

using Names = std::set<std::string, std::less<>>;

// What is used most, and comes with other headers by chance only.
constexpr std::array<std::pair<std::string_view, std::string_view>, 55> kStandard{{
    {"all_of", "algorithm"},
    {"any_of", "algorithm"},
    {"clamp", "algorithm"},
    {"count_if", "algorithm"},
    {"find_if", "algorithm"},
    {"lower_bound", "algorithm"},
    {"max_element", "algorithm"},
    {"min_element", "algorithm"},
    {"none_of", "algorithm"},
    {"remove_if", "algorithm"},
    {"sort", "algorithm"},
    {"stable_sort", "algorithm"},
    {"upper_bound", "algorithm"},
    {"array", "array"},
    {"atomic", "atomic"},
    {"from_chars", "charconv"},
    {"to_chars", "charconv"},
    {"strong_ordering", "compare"},
    {"condition_variable", "condition_variable"},
    {"coroutine_handle", "coroutine"},
    {"int32_t", "cstdint"},
    {"int64_t", "cstdint"},
    {"uint32_t", "cstdint"},
    {"uint64_t", "cstdint"},
    {"uint8_t", "cstdint"},
    {"deque", "deque"},
    {"ifstream", "fstream"},
    {"ofstream", "fstream"},
    {"function", "functional"},
    {"setw", "iomanip"},
    {"cerr", "iostream"},
    {"cout", "iostream"},
    {"numeric_limits", "limits"},
    {"list", "list"},
    {"map", "map"},
    {"multimap", "map"},
    {"make_unique", "memory"},
    {"shared_ptr", "memory"},
    {"unique_ptr", "memory"},
    {"mutex", "mutex"},
    {"accumulate", "numeric"},
    {"iota", "numeric"},
    {"optional", "optional"},
    {"multiset", "set"},
    {"set", "set"},
    {"span", "span"},
    {"istringstream", "sstream"},
    {"ostringstream", "sstream"},
    {"string", "string"},
    {"string_view", "string_view"},
    {"thread", "thread"},
    {"unordered_map", "unordered_map"},
    {"unordered_set", "unordered_set"},
    {"variant", "variant"},
    {"vector", "vector"},
}};

struct Facts {
  std::vector<std::string> own;  ///< included files of the tree
  Names standard;                ///< included headers in angle brackets
  Names defined;                 ///< types at the beginning of a line, with their bodies
  Names declared;                ///< all that is said to be a type, here or elsewhere
  /// What is used, and the line of its first use. Of the standard library: "std::map".
  std::map<std::string, std::size_t, std::less<>> used;
};

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The names of a line with what stands before: "std::map", "Event".
void add_words(std::string_view line, std::size_t number, Facts& facts) {
  std::string_view before;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_in_name(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && is_in_name(line[at])) ++at;
    const std::string_view word = line.substr(begin, at - begin);
    const bool is_standard = line.substr(0, begin).ends_with("std::");
    if (is_standard) facts.used.try_emplace("std::" + std::string(word), number);
    if (!is_standard && std::isupper(static_cast<unsigned char>(word[0])) != 0)
      facts.used.try_emplace(std::string(word), number);
    constexpr std::array<std::string_view, 6> kinds{"class", "struct", "enum", "union", "using", "typename"};
    if (std::find(kinds.begin(), kinds.end(), before) != kinds.end()) facts.declared.emplace(word);
    before = word;
  }
}

/// `class [[nodiscard]] Wait` is `class Wait`.
std::string without_attributes(std::string_view line) {
  std::string rest(line);
  for (std::size_t begin = rest.find("[["); begin != rest.npos; begin = rest.find("[[")) {
    const std::size_t end = rest.find("]]", begin);
    if (end == rest.npos) break;
    rest.erase(begin, end + (rest.substr(end).starts_with("]] ") ? 3 : 2) - begin);
  }
  return rest;
}

Facts facts_of(const File& file) {
  Facts facts;
  const std::string code = code_of(file.text);
  const std::vector<std::string_view> lines = lines_of(code);
  const std::vector<std::string_view> texts = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = without_attributes(lines[i]);
    if (line.starts_with("#include ")) {
      const std::string_view header = texts[i].substr(9);
      const std::size_t end = header.find_first_of("\">", 1);
      if (end == header.npos) continue;
      const std::string name(header.substr(1, end - 1));
      if (header[0] == '"') facts.own.push_back(name);
      if (header[0] == '<') facts.standard.insert(name);
      continue;
    }
    add_words(line, i + 1, facts);
    for (const std::string_view kind : {"class ", "struct ", "enum class ", "union "}) {
      if (!line.starts_with(kind)) continue;
      const bool has_body = line.find('{') != line.npos || line.find(';') == line.npos;
      const std::size_t end = std::find_if_not(line.begin() + kind.size(), line.end(), is_in_name) - line.begin();
      if (has_body) facts.defined.insert(line.substr(kind.size(), end - kind.size()));
    }
  }
  return facts;
}

class Tree {
 public:
  explicit Tree(const std::vector<File>& files) {
    for (const File& file : files) {
      if (!file.is_cpp() || file.folder() == "examples") continue;
      const auto [it, is_new] = facts_.emplace(file.path, facts_of(file));
      if (!file.path.ends_with(".hpp")) continue;
      for (const std::string& name : it->second.defined) homes_[name].push_back(file.path);
    }
  }

  Findings findings() const {
    Findings findings;
    for (const auto& [path, facts] : facts_) {
      const Names reached = reached_from(path);
      for (const auto& [name, line] : facts.used) {
        const std::string missing = missing_header(facts, reached, name);
        if (!missing.empty()) findings.push_back({path, line, "uses `" + name + "`: include " + missing});
      }
    }
    return findings;
  }

 private:
  Names reached_from(const std::string& path) const {
    Names reached;
    std::vector<std::string> open{path};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      const auto facts = facts_.find(next);
      if (facts == facts_.end() || !reached.insert(next).second) continue;
      open.insert(open.end(), facts->second.own.begin(), facts->second.own.end());
    }
    return reached;
  }

  /// Empty: it is there, or is none that has to be.
  std::string missing_header(const Facts& facts, const Names& reached, std::string_view name) const {
    const auto any = [&](const auto& has) {
      return std::any_of(reached.begin(), reached.end(), [&](const std::string& path) { return has(facts_.at(path)); });
    };
    if (name.starts_with("std::")) {
      const auto known = std::find_if(kStandard.begin(), kStandard.end(),
                                      [&](const auto& known) { return known.first == name.substr(5); });
      if (known == kStandard.end()) return "";
      const bool is_there = any([&](const Facts& other) { return other.standard.contains(known->second); });
      return is_there ? "" : "<" + std::string(known->second) + ">";
    }
    const auto home = homes_.find(name);
    if (home == homes_.end() || facts.declared.contains(name)) return "";
    // Where several headers have a type of this name, or a class a member of it, one of them is enough.
    return any([&](const Facts& other) { return other.declared.contains(name); }) ? ""
                                                                                  : "\"" + home->second.front() + "\"";
  }

  std::map<std::string, Facts, std::less<>> facts_;
  std::map<std::string, std::vector<std::string>, std::less<>>
      homes_;  ///< by type: the headers that define one of this name
};

}  // namespace

Findings missing_includes(const std::vector<File>& files) { return Tree(files).findings(); }

}  // namespace lockstep::tidy
