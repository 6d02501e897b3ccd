// Which file may include which: between modules, and between the rooms of a folder.

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "tidy/rules.hpp"

namespace lockstep::tidy {
namespace {

using std::string_view_literals::operator""sv;

struct Room {
  std::string_view path;
  std::vector<std::string_view> may_include;
};

// Bottom to top: a room may include itself and what is named here, which stands above it in this table.
const std::vector<Room> kRooms = {
    {"checker/time", {}},
    {"checker/properties", {}},
    {"checker/properties/damage", {"checker/properties"}},
    {"checker/properties/server", {"checker/properties"}},
    {"checker/explorer", {"checker/time"}},
    {"checker/explorer/trace", {"checker/explorer", "checker/time"}},
    {"checker/explorer/reduction", {"checker/explorer", "checker/explorer/trace", "checker/time"}},
    {"checker/explorer/execution",
     {"checker/explorer", "checker/explorer/trace", "checker/explorer/reduction", "checker/time"}},
    {"checker/explorer/search",
     {"checker/explorer", "checker/explorer/trace", "checker/explorer/reduction", "checker/explorer/execution"}},
    {"checker/graphs", {"checker/explorer", "checker/properties"}},
    {"checker/linearizability/model", {"checker/properties"}},
    {"checker/linearizability/search", {"checker/linearizability/model", "checker/properties"}},
    {"checker/specifications", {"checker/linearizability/model"}},
    {"checker/linearizability/near_linear",
     {"checker/linearizability/model", "checker/specifications", "checker/properties"}},
    {"checker/linearizability",
     {"checker/linearizability/model", "checker/linearizability/near_linear", "checker/linearizability/search",
      "checker/specifications", "checker/properties"}},
    {"checker/histories/formats", {}},
    {"checker/histories", {"checker/histories/formats", "checker/linearizability", "checker/linearizability/model"}},
    {"checker/histories/fuzzing", {"checker/histories", "checker/histories/formats"}},
    {"checker/histories/testing",
     {"checker/histories", "checker/histories/formats", "checker/linearizability", "checker/linearizability/model"}},
    {"checker/properties/belief",
     {"checker/graphs", "checker/linearizability", "checker/linearizability/model",
      "checker/linearizability/near_linear", "checker/properties"}},
    {"checker/violations",
     {"checker/explorer", "checker/properties", "checker/properties/belief", "checker/properties/server",
      "checker/time"}},

    {"models", {}},  // Value; and what is generated: models/scripts.hpp
    {"models/resources", {}},
    {"models/consensus", {}},
    {"models/client", {"models"}},
    {"models/servers", {"models/client"}},
    {"models/locks", {"models", "models/client", "models/servers"}},
    {"models/redis/data", {"models"}},
    {"models/redis/wire", {"models", "models/redis/data"}},
    {"models/redis/script/lua", {"models", "models/redis/data", "models/redis/wire"}},
    {"models/redis/script/libraries", {"models", "models/redis/script/lua", "models/redis/data"}},
    {"models/redis/script/questions", {"models", "models/redis/script/lua"}},
    {"models/redis/script",
     {"models", "models/redis/script/lua", "models/redis/script/libraries", "models/redis/script/questions",
      "models/redis/data", "models/redis/wire"}},
    {"models/redis/database", {"models", "models/redis/data", "models/redis/script", "models/redis/wire"}},
    {"models/redis/commands", {"models", "models/redis/data", "models/redis/database", "models/redis/wire"}},
    {"models/redis/server",
     {"models", "models/redis/data", "models/redis/database", "models/redis/script", "models/redis/wire"}},
    {"models/redis/sentinel", {"models", "models/redis/data", "models/redis/database", "models/redis/server"}},
    {"models/redis/client", {"models", "models/client", "models/redis/sentinel", "models/redis/wire"}},
    {"models/redis/kind",
     {"models", "models/client", "models/servers", "models/redis/client", "models/redis/database",
      "models/redis/script", "models/redis/sentinel", "models/redis/server"}},
    {"models/sql/engine", {"models"}},
    {"models/sql/server", {"models", "models/sql/engine"}},
    {"models/sql/client", {"models", "models/client", "models/sql/engine", "models/sql/server"}},
    {"models/sql/kind",
     {"models", "models/client", "models/servers", "models/sql/client", "models/sql/engine", "models/sql/server"}},
    {"models/etcd/engine", {"models"}},
    {"models/etcd/server", {"models", "models/etcd/engine"}},
    {"models/etcd/client", {"models", "models/client", "models/etcd/engine", "models/etcd/server"}},
    {"models/etcd/cluster", {"models", "models/consensus", "models/etcd/engine", "models/etcd/server"}},
    {"models/etcd/kind",
     {"models", "models/client", "models/servers", "models/consensus", "models/etcd/client", "models/etcd/cluster",
      "models/etcd/engine", "models/etcd/server"}},
    {"models/zookeeper/engine", {"models"}},
    {"models/zookeeper/wire", {"models/zookeeper/engine"}},
    {"models/zookeeper/server", {"models", "models/zookeeper/engine"}},
    {"models/zookeeper/ensemble", {"models", "models/consensus", "models/zookeeper/engine", "models/zookeeper/server"}},
    {"models/zookeeper/client", {"models", "models/client", "models/zookeeper/engine", "models/zookeeper/server"}},
    {"models/zookeeper/kind",
     {"models", "models/client", "models/consensus", "models/servers", "models/zookeeper/client",
      "models/zookeeper/engine", "models/zookeeper/ensemble", "models/zookeeper/server"}},
    {"models/consul/engine", {"models"}},
    {"models/consul/server", {"models", "models/consul/engine"}},
    {"models/consul/client", {"models", "models/client", "models/consul/engine", "models/consul/server"}},
    {"models/consul/cluster", {"models", "models/consensus", "models/consul/engine", "models/consul/server"}},
    {"models/consul/kind",
     {"models", "models/client", "models/servers", "models/consensus", "models/consul/client", "models/consul/cluster",
      "models/consul/engine", "models/consul/server"}},
    {"models/locks/consul",
     {"models", "models/client", "models/locks", "models/servers", "models/consul/client", "models/consul/engine"}},
    {"models/locks/etcd",
     {"models", "models/client", "models/locks", "models/servers", "models/etcd/client", "models/etcd/engine"}},
    {"models/locks/zookeeper",
     {"models", "models/client", "models/locks", "models/servers", "models/zookeeper/client",
      "models/zookeeper/engine"}},
    {"models/locks/sql",
     {"models", "models/client", "models/locks", "models/servers", "models/sql/client", "models/sql/engine"}},
    {"models/locks/redis",
     {"models", "models/client", "models/locks", "models/redis/client", "models/redis/data", "models/redis/wire"}},
    {"models/scripted",
     {"models", "models/client", "models/locks", "models/locks/redis", "models/servers", "models/redis/client",
      "models/redis/script", "models/redis/script/lua", "models/redis/script/questions", "models/redis/wire"}},
    {"models/consul/script",
     {"models/client", "models/locks/consul", "models/scripted", "models/servers", "models/consul/client",
      "models/consul/engine"}},
    {"models/sql/script",
     {"models/client", "models/scripted", "models/servers", "models/sql/client", "models/sql/engine"}},
    {"models/etcd/script",
     {"models/client", "models/locks/etcd", "models/scripted", "models/servers", "models/etcd/client",
      "models/etcd/engine"}},
    {"models/zookeeper/script",
     {"models/client", "models/locks/zookeeper", "models/scripted", "models/servers", "models/zookeeper/client",
      "models/zookeeper/engine"}},
    {"models/workloads",
     {"models", "models/client", "models/locks", "models/redis/client", "models/redis/wire", "models/resources"}},

    {"scenarios/story", {}},
    {"scenarios/workers", {}},
    {"scenarios/format/toml", {"scenarios/story"}},
    {"scenarios/format/schema", {"scenarios/format/toml", "scenarios/story"}},
    {"scenarios/format", {"scenarios/format/schema", "scenarios/format/toml", "scenarios/story"}},
    {"scenarios/deployment", {"scenarios/story"}},
    {"scenarios/running", {"scenarios/deployment", "scenarios/story"}},
    {"scenarios/witness", {"scenarios/deployment", "scenarios/format", "scenarios/running", "scenarios/story"}},
    {"scenarios/exploring/judging", {}},
    {"scenarios/exploring",
     {"scenarios/deployment", "scenarios/exploring/judging", "scenarios/format", "scenarios/running", "scenarios/story",
      "scenarios/witness", "scenarios/workers"}},
    {"scenarios/stepping", {"scenarios/exploring", "scenarios/story", "scenarios/witness"}},
    {"scenarios/exploring/oracles",
     {"scenarios/deployment", "scenarios/exploring", "scenarios/exploring/judging", "scenarios/format",
      "scenarios/running", "scenarios/story", "scenarios/witness"}},
    {"scenarios/checking",
     {"scenarios/deployment", "scenarios/exploring", "scenarios/exploring/oracles", "scenarios/running",
      "scenarios/story"}},
    {"scenarios/comparing", {"scenarios/deployment", "scenarios/format", "scenarios/story", "scenarios/workers"}},
    {"scenarios/families",
     {"scenarios/checking", "scenarios/deployment", "scenarios/exploring", "scenarios/format", "scenarios/running",
      "scenarios/story", "scenarios/witness"}},
    {"scenarios/fuzzing",
     {"scenarios/deployment", "scenarios/exploring", "scenarios/format", "scenarios/running", "scenarios/story",
      "scenarios/witness", "scenarios/workers"}},
    {"scenarios/matrix",
     {"scenarios/checking", "scenarios/exploring", "scenarios/format", "scenarios/running", "scenarios/story",
      "scenarios/workers"}},
};

bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view room_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string module_of(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

/// Tests and their tools use whatever they compare; nothing else uses them.
bool is_for_tests(std::string_view path) {
  constexpr std::array kEnds{"_test.cpp"sv, "_testing.cpp"sv, "_testing.hpp"sv,
                             "_tool.cpp"sv, "_fuzz.cpp"sv,    "_bench.cpp"sv};
  const std::string_view room = room_of(path);
  return room.ends_with("/conformance") || (std::string(room) + "/").find("/testing/") != std::string::npos ||
         std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return path.ends_with(end); });
}

struct Include {
  std::string_view header;
  std::size_t line;
};

/// Own headers that a file includes.
std::vector<Include> includes_of(const File& file) {
  constexpr std::string_view kBegin = "#include \"";
  std::vector<Include> includes;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kBegin)) continue;
    const std::string_view rest = lines[i].substr(kBegin.size());
    includes.push_back({rest.substr(0, rest.find('"')), i + 1});
  }
  return includes;
}

/// Who includes whom, module by module, and where.
class Modules {
 public:
  explicit Modules(const std::vector<File>& files) {
    for (const File& file : files) {
      if (file.is_cpp()) numbers_.emplace(module_of(file.path), 0);
    }
    for (auto& [name, number] : numbers_) {
      number = names_.size();
      names_.push_back(name);
    }
    arrows_.resize(names_.size());
    for (const File& file : files) {
      if (!file.is_cpp()) continue;
      const std::size_t from = numbers_.at(module_of(file.path));
      for (const Include& include : includes_of(file)) {
        const auto to = numbers_.find(module_of(include.header));
        if (to != numbers_.end() && to->second != from) arrows_[from].try_emplace(to->second, file.path, include.line);
      }
    }
  }

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::size_t module) const { return names_[module]; }
  const std::pair<std::string, std::size_t>& place(std::size_t from, std::size_t to) const {
    return arrows_[from].at(to);
  }

  /// The shortest way from a module back to itself, both ends included; empty: there is none.
  std::vector<std::size_t> circle(std::size_t start) const {
    std::vector<std::size_t> before(size(), size());
    std::vector<std::size_t> reached{start};
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const auto& [to, place] : arrows_[reached[next]]) {
        if (to == start) {
          std::vector<std::size_t> way{start};
          for (std::size_t at = reached[next]; at != start; at = before[at]) way.push_back(at);
          way.push_back(start);
          std::reverse(way.begin(), way.end());
          return way;
        }
        if (before[to] != size()) continue;
        before[to] = reached[next];
        reached.push_back(to);
      }
    }
    return {};
  }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::string> names_;
  std::vector<std::map<std::size_t, std::pair<std::string, std::size_t>>> arrows_;  ///< the first place is enough
};

const Room* find_room(std::string_view path) {
  const auto found = std::find_if(kRooms.begin(), kRooms.end(), [&](const Room& room) { return room.path == path; });
  return found == kRooms.end() ? nullptr : &*found;
}

std::string in_backquotes(std::string_view text) { return "`" + std::string(text) + "`"; }

}  // namespace

Findings module_cycles(const std::vector<File>& files) {
  const Modules modules(files);
  Findings findings;
  std::vector<bool> told(modules.size(), false);
  for (std::size_t module = 0; module < modules.size(); ++module) {
    if (told[module]) continue;
    const std::vector<std::size_t> circle = modules.circle(module);
    if (circle.empty()) continue;
    std::string names;
    for (const std::size_t each : circle) {
      told[each] = true;
      names += (names.empty() ? "" : " -> ") + modules.name(each);
    }
    const auto& [path, line] = modules.place(circle[0], circle[1]);
    findings.push_back({path, line,
                        "modules include each other in a circle: " + names +
                            "; split what holds two things, or move what is needed down"});
  }
  return findings;
}

Findings room_arrows(const std::vector<File>& files) {
  constexpr std::array kFolders{"checker"sv, "models"sv, "scenarios"sv};
  Findings findings;
  std::set<std::string_view> below;
  for (const Room& room : kRooms) {
    for (const std::string_view other : room.may_include) {
      if (below.count(other) == 0)
        findings.push_back(
            {"tidy/arrows.cpp", 0, in_backquotes(other) + " does not stand above " + in_backquotes(room.path)});
    }
    below.insert(room.path);
  }
  for (const File& file : files) {
    if (!file.is_cpp() || is_for_tests(file.path)) continue;
    if (std::find(kFolders.begin(), kFolders.end(), file.folder()) == kFolders.end()) continue;
    const Room* own = find_room(room_of(file.path));
    if (own == nullptr) {
      findings.push_back(
          {file.path, 0, "a room that the table in tidy/arrows.cpp does not know: say what it may include"});
      continue;
    }
    for (const Include& include : includes_of(file)) {
      const std::string_view room = room_of(include.header);
      if (!is_within(include.header, file.folder()) || room == own->path) continue;
      if (std::find(own->may_include.begin(), own->may_include.end(), room) != own->may_include.end()) continue;
      findings.push_back({file.path, include.line,
                          std::string(own->path) + "/ must not use " + std::string(room) +
                              "/: move what is needed down, or pass it in"});
    }
  }
  return findings;
}

Findings folder_sizes(const std::vector<File>& files) {
  constexpr std::size_t kFilesMax = 25;
  // A file for each algorithm, each story.
  constexpr std::array kLarge{"models/locks/redis"sv};
  std::map<std::string_view, std::size_t> sizes;
  for (const File& file : files) ++sizes[room_of(file.path)];
  Findings findings;
  for (const auto& [folder, size] : sizes) {
    if (size <= kFilesMax || std::find(kLarge.begin(), kLarge.end(), folder) != kLarge.end()) continue;
    if (is_within(folder, "scenarios/stories") || (std::string(folder) + "/").find("/corpus/") != std::string::npos)
      continue;
    findings.push_back({std::string(folder), 0,
                        std::to_string(size) + " files, more than 25: it holds more than one thing; make rooms of it"});
  }
  return findings;
}

}  // namespace lockstep::tidy
