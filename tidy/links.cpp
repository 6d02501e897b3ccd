// That what a text points at is there: links and paths.

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tidy/rules.hpp"

namespace lockstep::tidy {
namespace {

using std::string_view_literals::operator""sv;

bool is_document(const File& file) { return file.path.ends_with(".md"); }

/// What was is told in the words of its time.
bool is_history(const File& file) { return file.path == "CHANGELOG.md"; }

std::string in_quotes(std::string_view text) { return "`" + std::string(text) + "`"; }

/// Every file, and every folder that one of them is in.
std::set<std::string, std::less<>> places_of(const std::vector<File>& files) {
  std::set<std::string, std::less<>> places;
  for (const File& file : files) {
    places.insert(file.path);
    for (std::size_t at = file.path.find('/'); at != std::string::npos; at = file.path.find('/', at + 1)) {
      places.insert(file.path.substr(0, at));
    }
  }
  return places;
}

/// "docs/argument/../manual/a.md" is "docs/manual/a.md". Nothing: it leads out of the repository.
std::optional<std::string> plain(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string joined;
  for (const std::string_view part : parts) joined += (joined.empty() ? "" : "/") + std::string(part);
  return joined;
}

/// Calls `visit(index, line)` for each line that is neither in a fence nor indented by four: those are quotations.
template <typename Visit>
void for_each_prose_line(const File& document, Visit visit) {
  const std::vector<std::string_view> lines = lines_of(document.text);
  bool is_fenced = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) {
      is_fenced = !is_fenced;
    } else if (!is_fenced && !lines[i].starts_with("    ")) {
      visit(i, lines[i]);
    }
  }
}

/// How browsers of repositories name a heading: in small letters, with hyphens for blanks and without signs.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') {
      anchor += '-';
    } else if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
      anchor += static_cast<char>(std::tolower(byte));
    }
  }
  return anchor;
}

std::set<std::string, std::less<>> anchors_of(const File& document) {
  std::set<std::string, std::less<>> anchors;
  for_each_prose_line(document, [&](std::size_t, std::string_view line) {
    const std::size_t end = line.find_first_not_of('#');
    if (end == 0 || end == std::string_view::npos || line[end] != ' ') return;
    anchors.insert(anchor_of(line.substr(end + 1)));
  });
  return anchors;
}

std::map<std::string, std::set<std::string, std::less<>>, std::less<>> all_anchors_of(const std::vector<File>& files) {
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> anchors;
  for (const File& file : files) {
    if (is_document(file)) anchors.emplace(file.path, anchors_of(file));
  }
  return anchors;
}

/// What stands between back-quotes is no link.
std::string without_code(std::string_view line) {
  std::string text(line);
  bool is_code = false;
  for (char& c : text) {
    if (c == '`') is_code = !is_code;
    if (is_code) c = ' ';
  }
  return text;
}

bool is_of_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
}

/// Calls `visit(path, rest of the line)` for each path in the line that begins with one of `folders`.
template <typename Visit>
void for_each_path(std::string_view line, const std::vector<std::string>& folders, Visit visit) {
  for (const std::string& folder : folders) {
    for (std::size_t at = line.find(folder); at != std::string_view::npos; at = line.find(folder, at + 1)) {
      if (at > 0 && (is_of_path(line[at - 1]) || line[at - 1] == '{' || line[at - 1] == '$')) continue;
      std::size_t end = at;
      while (end < line.size() && is_of_path(line[end])) ++end;
      // Some of several: a*.cpp, {a,b}, NAME<T>.
      if (end < line.size() && "*{<$"sv.find(line[end]) != std::string_view::npos) continue;
      std::string_view path = line.substr(at, end - at);
      while (path.ends_with('.') || path.ends_with('-')) path.remove_suffix(1);
      if (line.substr(at + path.size()).starts_with("...")) continue;
      while (path.ends_with('/')) path.remove_suffix(1);
      visit(path, line.substr(at + path.size()));
    }
  }
}

/// The title in `, "Title"` at the beginning of `rest`. Nothing: there is none, or it goes on in the next line.
std::optional<std::string_view> title_in(std::string_view rest) {
  for (const std::string_view quote : {"\""sv, "\\\""sv}) {
    const std::string begin = ", " + std::string(quote);
    if (!rest.starts_with(begin)) continue;
    const std::size_t end = rest.find(quote, begin.size());
    if (end == std::string_view::npos) return std::nullopt;
    return rest.substr(begin.size(), end - begin.size());
  }
  return std::nullopt;
}

std::vector<std::string> top_folders_of(const std::vector<File>& files) {
  std::set<std::string> names;
  for (const File& file : files) {
    if (!file.folder().empty() && !file.folder().starts_with('.')) names.insert(std::string(file.folder()) + "/");
  }
  return {names.begin(), names.end()};
}

}  // namespace

Findings dead_links(const std::vector<File>& files) {
  const auto places = places_of(files);
  const auto anchors = all_anchors_of(files);
  Findings findings;
  for (const File& document : files) {
    if (!is_document(document)) continue;
    const std::string folder = document.path.substr(0, document.path.rfind('/') + 1);
    for_each_prose_line(document, [&](std::size_t i, std::string_view raw) {
      const std::string line = without_code(raw);
      for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
        const std::string_view link = std::string_view(line).substr(at + 2, line.find(')', at) - at - 2);
        if (link.find("://") != std::string_view::npos) continue;
        const std::size_t hash = link.find('#');
        const std::string_view target = link.substr(0, hash);
        const auto path = target.empty() ? document.path : plain(folder + std::string(target));
        const auto dead = [&] { findings.push_back({document.path, i + 1, in_quotes(link) + " leads nowhere"}); };
        if (!path || !places.contains(*path)) {
          dead();
        } else if (hash != std::string_view::npos) {
          const auto headings = anchors.find(*path);
          if (headings == anchors.end() || !headings->second.contains(link.substr(hash + 1))) dead();
        }
      }
    });
  }
  return findings;
}

Findings dead_paths(const std::vector<File>& files) {
  const auto places = places_of(files);
  const auto anchors = all_anchors_of(files);
  const std::vector<std::string> all_folders = top_folders_of(files);
  const std::vector<std::string> docs{"docs/"};
  constexpr std::array kEnds{".cpp"sv, ".hpp"sv, ".md"sv, ".toml"sv, ".lua"sv, ".svg"sv, ".json"sv};
  Findings findings;
  for (const File& file : files) {
    // These rules and their examples name what does not exist.
    if (is_history(file) || file.folder() == "tidy") continue;
    const std::vector<std::string_view> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto report = [&](std::string_view path) {
        findings.push_back({file.path, i + 1, in_quotes(path) + " does not exist"});
      };
      for_each_path(lines[i], docs, [&](std::string_view path, std::string_view rest) {
        const std::optional<std::string_view> title = title_in(rest);
        const auto headings = anchors.find(path);
        if (!places.contains(path)) {
          report(path);
        } else if (title && headings != anchors.end() && !headings->second.contains(anchor_of(*title))) {
          findings.push_back({file.path, i + 1, in_quotes(path) + " has no section " + in_quotes(*title)});
        }
      });
      // Of the rest, what is for people: documents, and comments.
      const std::size_t comment = file.is_cpp() ? lines[i].find("//") : std::string_view::npos;
      if (!is_document(file) && comment == std::string_view::npos) continue;
      for_each_path(
          lines[i].substr(is_document(file) ? 0 : comment), all_folders, [&](std::string_view path, std::string_view) {
            if (path.starts_with("docs/") || places.contains(path)) return;
            if (std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return path.ends_with(end); })) {
              report(path);
            }
          });
    }
  }
  return findings;
}

Findings missing_types(const std::vector<File>& files) {
  constexpr std::string_view kBetween = "` (`";
  const auto is_of_name = [](char c) { return is_of_path(c) ? c != '/' && c != '.' && c != '-' : c == ':'; };
  Findings findings;
  for (const File& document : files) {
    if (!is_document(document) || is_history(document)) continue;
    // A line may end between the two.
    std::string text = document.text;
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (std::size_t at = text.find(kBetween); at != std::string::npos; at = text.find(kBetween, at + 1)) {
      const std::size_t begin = at == 0 ? std::string::npos : text.rfind('`', at - 1);
      const std::size_t end = text.find('`', at + kBetween.size());
      if (begin == std::string::npos || end == std::string::npos) continue;
      std::string_view name = std::string_view(text).substr(begin + 1, at - begin - 1);
      const std::string_view path = std::string_view(text).substr(at + kBetween.size(), end - at - kBetween.size());
      if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_name)) continue;
      const auto file = std::find_if(files.begin(), files.end(), [&](const File& each) { return each.path == path; });
      if (file == files.end() || !file->is_cpp()) continue;
      if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
      if (has_word(file->text, name)) continue;
      const auto line = static_cast<std::size_t>(
          std::count(document.text.begin(), document.text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
      findings.push_back({document.path, line + 1, in_quotes(name) + " does not stand in " + in_quotes(path)});
    }
  }
  return findings;
}

Findings unlisted_documents(const std::vector<File>& files) {
  constexpr std::string_view kIndex = "docs/README.md";
  const auto index = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.path == kIndex; });
  Findings findings;
  for (const File& file : files) {
    if (!is_document(file) || !file.path.starts_with("docs/") || file.path == kIndex) continue;
    const std::string link = "](" + file.path.substr(std::string_view("docs/").size()) + ")";
    if (index != files.end() && index->text.find(link) != std::string::npos) continue;
    findings.push_back({file.path, 0, "not in " + in_quotes(kIndex) + ": nobody will find it; add a row"});
  }
  return findings;
}

}  // namespace lockstep::tidy
