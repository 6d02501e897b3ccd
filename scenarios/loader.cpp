#include "scenarios/loader.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>

#include "scenarios/schema.hpp"
#include "scenarios/suggestion.hpp"

namespace lockstep::scenarios {
namespace {

namespace fs = std::filesystem;

Diagnostic about_file(const fs::path& file, const std::string& message) { return {file.string(), {}, message}; }

/// For a file that does not exist: one beside it that does.
std::string neighbour(const fs::path& file) {
  std::set<std::string> names;  // a directory's own order is the file system's
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") names.insert(it->path().filename().string());
  }
  const std::vector<std::string_view> valid(names.begin(), names.end());
  const std::string hint = suggestion(file.filename().string(), valid);
  return hint.starts_with("did you mean") ? "; " + hint : "";
}

/// Nothing if it exists, and can be looked at.
std::optional<Diagnostic> missing(const fs::path& file, fs::file_status& status) {
  std::error_code error;
  status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return about_file(file, "no such file" + neighbour(file));
  if (error) return about_file(file, "cannot be read: " + error.message());
  return std::nullopt;
}

std::optional<Diagnostic> collect(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") files.push_back(it->path());
  }
  if (error) return about_file(folder, "cannot be searched for scenarios: " + error.message());
  if (files.empty()) return about_file(folder, "no scenarios in this directory; expected files named *.toml");
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  for (const fs::path& file : files) {
    // A link to nowhere passes: `load` says what is wrong with it.
    if (fs::is_directory(file, error)) return about_file(file, "a directory; expected a scenario file of that name");
  }
  return std::nullopt;
}

}  // namespace

std::variant<Scenario, Diagnostic> load(const fs::path& file, const models::locks::Catalogue& catalogue) {
  fs::file_status status;
  if (auto diagnostic = missing(file, status)) return *std::move(diagnostic);
  if (status.type() == fs::file_type::directory) return about_file(file, "a directory; expected a scenario file");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  // One byte more than allowed tells a file that is too large, however large it is, and also where sizes say nothing.
  std::string text(schema::kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    return about_file(file, "cannot be read: " + std::generic_category().message(errno != 0 ? errno : EIO));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse(text, file.string(), catalogue);
}

std::variant<Scenario, Diagnostic> parse(std::string_view text, std::string file_name,
                                         const models::locks::Catalogue& catalogue) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    schema::screen(text);
    Scenario scenario = schema::read_scenario(schema::parse_tree(text), catalogue);
    scenario.id = fs::path(file_name).stem().string();
    scenario.file = std::move(file_name);
    return scenario;
  } catch (const schema::Bad& bad) {
    const Position at = bad.inside ? schema::position_inside(text, bad.at, *bad.inside) : bad.at;
    return Diagnostic{std::move(file_name), at, one_line(bad.message)};
  }
}

std::variant<std::vector<fs::path>, Diagnostic> find_scenarios(std::span<const std::string> files_or_directories) {
  std::vector<fs::path> found;
  std::set<fs::path> seen;
  for (const std::string& name : files_or_directories) {
    fs::file_status status;
    if (auto diagnostic = missing(name, status)) return *std::move(diagnostic);
    std::vector<fs::path> files;
    if (status.type() != fs::file_type::directory) {
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
