#include "scenarios/story/own_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "models/scripted/program.hpp"
#include "models/scripted/reading.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios {
namespace {

namespace fs = std::filesystem;

/// The text, or what is wrong.
std::optional<std::string> read_text(const fs::path& file, std::string& text) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return "no such file" + suggestion_beside(file, ".lua");
  if (error) return "cannot be read: " + error.message();
  if (status.type() == fs::file_type::directory) return "a directory; expected a Lua script";
  // Nothing that could keep the reader waiting.
  if (status.type() != fs::file_type::regular) return "not a regular file; expected a Lua script";
  const int in = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (in < 0) return "cannot be read: " + std::generic_category().message(errno);
  text.resize(models::scripted::kScriptBytesMax + 1);
  std::size_t got = 0;
  int trouble = 0;
  while (got < text.size()) {
    const ssize_t n = ::read(in, text.data() + got, text.size() - got);
    if (n == 0) break;
    if (n > 0) {
      got += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      trouble = errno;
      break;
    }
  }
  ::close(in);
  text.resize(got);
  if (trouble != 0) return "cannot be read: " + std::generic_category().message(trouble);
  return std::nullopt;
}

}  // namespace

std::variant<OwnLock, std::string> read_own_lock(const fs::path& file) {
  OwnLock lock;
  const std::string name = file.filename().string();
  const auto wrong = [&](const std::string& what) { return one_line(file.string()) + ": " + what; };
  if (const auto problem = read_text(file, lock.text)) return wrong(*problem);
  auto read = models::scripted::read_script(name, lock.text);
  if (const auto* mistake = std::get_if<models::scripted::Mistake>(&read)) return one_line(mistake->message);
  auto& entry = std::get<models::locks::Entry>(read);
  std::vector<std::string_view> known;
  for (const checker::Property& property : checker::properties()) known.push_back(property.name);
  for (const std::string_view claim : entry.claims) {
    if (std::find(known.begin(), known.end(), claim) == known.end())
      return fmt::format("{}: claims: there is no property {}: {}", name, in_quotes(std::string(claim)),
                         suggestion(std::string(claim), known));
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  lock.path = entry.script = (error ? file : absolute).lexically_normal().string();
  lock.entry = std::make_shared<const models::locks::Entry>(std::move(entry));
  return lock;
}

OwnLock own_lock_of(const models::locks::Entry& entry) {
  if (entry.script.empty()) return {};
  return {std::make_shared<const models::locks::Entry>(entry), entry.script, ""};
}

std::string script_from(const OwnLock& lock, const fs::path& folder) {
  if (folder.empty()) return lock.path;
  std::error_code error;
  const fs::path from = fs::absolute(folder, error).lexically_normal();
  const fs::path relative = error ? fs::path() : fs::path(lock.path).lexically_relative(from);
  return relative.empty() ? lock.path : relative.string();
}

const models::locks::Entry* find_entry(const LockSpec& lock, const models::locks::Catalogue& catalogue) {
  if (lock.own.entry != nullptr && lock.own.entry->id == lock.algorithm) return lock.own.entry.get();
  return is_lock_of_programs(lock) ? &lock_of_programs() : catalogue.find(lock.algorithm);
}

void set_lease_and_patience(const models::locks::Entry& entry, sim::Duration lease, sim::Duration patience,
                            LockSpec& lock) {
  if (const auto* spec = models::locks::find_lease(entry.parameters)) lock.parameters.emplace(spec->name, lease);
  for (const models::locks::ParameterSpec& spec : entry.parameters) {
    if (spec.role == models::locks::ParameterRole::server_patience) lock.parameters.emplace(spec.name, patience);
  }
}

std::string add_script(std::string& name, models::locks::Catalogue& catalogue) {
  if (!name.ends_with(".lua")) return "";
  auto read = read_own_lock(name);
  if (auto* problem = std::get_if<std::string>(&read)) return std::move(*problem);
  const OwnLock& lock = std::get<OwnLock>(read);
  const std::string id(lock.entry->id);
  if (catalogue.find(id) != nullptr) return fmt::format("two scripts are called {}; their names tell them apart", id);
  catalogue.add(*lock.entry);
  name = id;
  return "";
}

}  // namespace lockstep::scenarios
