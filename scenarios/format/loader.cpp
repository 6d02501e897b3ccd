#include "scenarios/format/loader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <numeric>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "scenarios/format/schema/schema.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios {
namespace {

namespace fs = std::filesystem;

Diagnostic about_file(const fs::path& file, const std::string& message) { return {file.string(), {}, message}; }

/// Nothing if it exists, and can be looked at.
std::optional<Diagnostic> missing(const fs::path& file, fs::file_status& status) {
  std::error_code error;
  status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    const bool is_link = fs::symlink_status(file, error).type() == fs::file_type::symlink;
    if (is_link)
      return about_file(file, "a link to a file that does not exist: " + fs::read_symlink(file, error).string());
    return about_file(file, "no such file" + suggestion_beside(file, ".toml"));
  }
  if (error) return about_file(file, "cannot be read: " + error.message());
  return std::nullopt;
}

std::optional<Diagnostic> collect(const fs::path& folder, std::vector<fs::path>& files) {
  constexpr std::size_t kEntriesMax = 1'000'000;
  std::error_code error;
  std::vector<fs::path> folders{folder};
  std::size_t entries = 0;
  while (!folders.empty()) {
    const fs::path at = std::move(folders.back());
    folders.pop_back();
    for (fs::directory_iterator it(at, error), end; !error && it != end; it.increment(error)) {
      if (++entries > kEntriesMax)
        return about_file(folder, "more than a million files; name the directory that the scenarios are in");
      // Links to directories are not followed: they may lead round in a circle.
      if (it->path().extension() == ".toml") {
        files.push_back(it->path());
      } else if (it->symlink_status(error).type() == fs::file_type::directory) {
        folders.push_back(it->path());
      }
    }
    if (error) return about_file(at, "cannot be searched for scenarios: " + error.message());
  }
  if (files.empty()) return about_file(folder, "no scenarios in this directory; expected files named *.toml");
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  for (const fs::path& file : files) {
    // A link to nowhere passes: `load` says what is wrong with it.
    if (fs::is_directory(file, error)) return about_file(file, "a directory; expected a scenario file of that name");
  }
  return std::nullopt;
}

/// The first bytes of a file; an error number, or 0. A pipe is waited for while somebody has it open to write.
int read_at_most(const fs::path& file, std::size_t bytes, std::string& text) {
  const int in = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (in < 0) return errno;
  text.resize(bytes);
  std::size_t got = 0;
  int trouble = 0;
  while (got < bytes) {
    const ssize_t n = ::read(in, text.data() + got, bytes - got);
    if (n == 0) break;
    if (n > 0) {
      got += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      pollfd waiting{in, POLLIN, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      trouble = errno;
      break;
    }
  }
  ::close(in);
  text.resize(got);
  return trouble;
}

/// Everything that is wrong with a text, in its order.
Diagnostic all_of(std::string_view text, const schema::Bad& bad, const std::string& file_name) {
  constexpr std::size_t kShown = 20;
  std::vector<const schema::Bad*> all{&bad};
  for (const schema::Bad& other : bad.others) all.push_back(&other);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(all[a]->at.line, all[a]->at.column, a) < std::tuple(all[b]->at.line, all[b]->at.column, b);
  });
  // Where in a string a mistake is takes a look at the whole file: only of those that are shown.
  const auto shown = [&](std::size_t i) {
    const schema::Bad& one = *all[order[i]];
    const Position at = one.inside ? schema::position_inside(text, one.at, *one.inside) : one.at;
    return Diagnostic{file_name, at, one_line(one.message)};
  };
  Diagnostic first = shown(0);
  for (std::size_t i = 1; i < std::min(all.size(), kShown); ++i) first.others.push_back(shown(i));
  if (all.size() > kShown)
    first.others.push_back({file_name, {}, std::to_string(all.size() - kShown) + " more mistakes"});
  return first;
}

}  // namespace

std::variant<Scenario, Diagnostic> load(const fs::path& file, const models::locks::Catalogue& catalogue,
                                        Programs programs) {
  fs::file_status status;
  if (auto diagnostic = missing(file, status)) return *std::move(diagnostic);
  if (status.type() == fs::file_type::directory) return about_file(file, "a directory; expected a scenario file");
  // One byte more than allowed tells a file that is too large, however large it is, and also where sizes say nothing.
  std::string text;
  if (const int trouble = read_at_most(file, schema::kFileBytesMax + 1, text); trouble != 0)
    return about_file(file, "cannot be read: " + std::generic_category().message(trouble));
  if (text.empty() && status.type() == fs::file_type::fifo)
    return about_file(file, "a pipe into which nobody writes; expected a scenario file");
  return parse(text, file.string(), catalogue, nullptr, programs);
}

std::variant<Scenario, Diagnostic> parse(std::string_view text, std::string file_name,
                                         const models::locks::Catalogue& catalogue, const OwnLock* known,
                                         Programs programs) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    schema::screen(text);
    Scenario scenario =
        schema::read_scenario(schema::parse_tree(text), catalogue, fs::path(file_name).parent_path(), known);
    scenario.id = fs::path(file_name).stem().string();
    scenario.file = std::move(file_name);
    if (programs == Programs::refused) {
      if (auto refusal = refusal_of_programs(scenario, "only `lockstep run`, `fuzz` and `report` can take"))
        return *refusal;
    }
    return scenario;
  } catch (const schema::Bad& bad) {
    return all_of(text, bad, file_name);
  }
}

std::optional<Diagnostic> refusal_of(const Scenario& edited, const models::locks::Catalogue& catalogue) {
  Scenario story = edited;
  story.schedule.clear();
  auto read = parse(to_toml(story), edited.file, catalogue, &edited.lock.own, Programs::taken);
  auto* refusal = std::get_if<Diagnostic>(&read);
  return refusal == nullptr ? std::nullopt : std::optional(std::move(*refusal));
}

namespace {

/// Where stories are looked for by what they are called.
constexpr std::string_view kStories = "scenarios";

/// "F000-2", or the name of a story without its folder and ending: the stories below `scenarios` that reproduce it, or
/// are called so. Which ones reproduce it their text says: to load all of them for one took longer than to run it.
std::vector<fs::path> stories_called(const std::string& name) {
  std::vector<fs::path> found;
  const bool is_path = name.empty() || name.find('/') != std::string::npos || name.find('.') != std::string::npos;
  std::error_code error;
  if (is_path || !fs::is_directory(kStories, error)) return found;
  std::vector<fs::path> all;
  if (collect(std::string(kStories), all)) return found;
  std::string id = "\"" + name + "\"";
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const fs::path& file : all) {
    std::string text;
    if (!fs::is_regular_file(file, error)) continue;
    if (file.stem() == name) found.push_back(file);
    if (file.stem() == name || read_at_most(file, schema::kFileBytesMax, text) != 0) continue;
    const std::size_t line = text.find("\nreproduces");
    if (line == std::string::npos) continue;
    const std::string_view ids = std::string_view(text).substr(line, text.find(']', line) - line);
    if (ids.find(id) != std::string_view::npos) found.push_back(file);
  }
  return found;
}

}  // namespace

std::variant<std::vector<fs::path>, Diagnostic> find_scenarios(std::span<const std::string> files_or_directories) {
  std::vector<fs::path> found;
  std::set<fs::path> seen;
  for (const std::string& name : files_or_directories) {
    fs::file_status status;
    std::vector<fs::path> files;
    if (auto nowhere = missing(name, status)) {
      files = stories_called(name);
      if (files.empty()) return *std::move(nowhere);
    } else if (status.type() != fs::file_type::directory) {
      files.emplace_back(name);
    } else if (auto diagnostic = collect(name, files)) {
      return *std::move(diagnostic);
    }
    for (const fs::path& file : files) {
      std::error_code error;
      const fs::path real = fs::canonical(file, error);
      if (seen.insert(error ? file : real).second) found.push_back(file);
    }
  }
  return found;
}

}  // namespace lockstep::scenarios
