#include "reports/play/edits.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reports/play/form.hpp"
#include "reports/play/story_text.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/format/toml/toml_text.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::reports::play {
namespace {

using models::locks::Catalogue;
using scenarios::Diagnostic;
using scenarios::FaultSpec;
using scenarios::Scenario;
using Loaded = std::variant<Scenario, Diagnostic>;

/// Changes a text that says this story.
using TextChange = std::function<void(StoryText&, const Scenario&)>;

Diagnostic mistake(const StoryFile& file, std::string message) {
  return {.file = file.path.string(), .message = std::move(message)};
}

bool tell_the_same(const Scenario& a, const Scenario& b) { return without_positions(a) == without_positions(b); }

std::string written(const Scenario& scenario, const StoryFile& file) {
  return to_toml(scenario, file.path.parent_path());
}

Loaded read(std::string_view text, const StoryFile& file, const Catalogue& catalogue) {
  return scenarios::parse(text, file.path.string(), catalogue);
}

/// The text with the change, if it then says `meant`; else `meant` as the writer has it.
Edited put_into(const StoryFile& file, const Catalogue& catalogue, const Scenario& story, const Scenario& meant,
                const TextChange& change) {
  StoryText text(file.text);
  change(text, story);
  const Loaded changed = read(text.text(), file, catalogue);
  const auto* result = std::get_if<Scenario>(&changed);
  if (result != nullptr && tell_the_same(*result, meant)) return {text.text(), false};
  return {written(meant, file), true};
}

/// What the writer has written of it must be readable: a change by hand of some struct may not be.
EditResult edited(const StoryFile& file, const Catalogue& catalogue, const Scenario& story, const Scenario& meant,
                  const TextChange& change) {
  Loaded again = read(written(meant, file), file, catalogue);
  if (auto* problem = std::get_if<Diagnostic>(&again)) {
    problem->at = {};
    problem->others.clear();
    return std::move(*problem);
  }
  return put_into(file, catalogue, story, std::get<Scenario>(again), change);
}

/// "client.0.hold": which table, which of them, which key.
struct FieldPlace {
  std::string_view table;
  std::size_t index = 0;
  std::string_view key;
};

FieldPlace place_of(std::string_view id) {
  const std::size_t first = id.find('.');
  const std::size_t last = id.rfind('.');
  FieldPlace place{.table = id.substr(0, first), .key = id.substr(last + 1)};
  if (last > first) std::from_chars(id.data() + first + 1, id.data() + last, place.index);
  return place;
}

void set_in(StoryText& text, const Scenario& story, const FieldPlace& place, std::string_view value) {
  std::optional<HeadingLine> table;
  if (place.table == "client") table = text.above(story.clients[place.index].at.line);
  if (place.table == "fault") table = text.above(story.faults[place.index].at.line);
  if (place.table == "may") table = text.above(story.may[place.index].at.line);
  if (place.table == "lock" || place.table == "network") table = text.find(fmt::format("[{}]", place.table));
  if (table) return text.set(*table, place.key, value);
  if (place.table == "network" && !value.empty()) text.append(fmt::format("[network]\n{} = {}\n", place.key, value));
}

/// "5ms", "1ms..5ms"; nothing typed is no time at all.
std::optional<sim::DurationRange> range_of(std::string_view typed) {
  std::string text(typed);
  std::erase(text, ' ');
  if (text.empty()) return sim::DurationRange();
  const std::size_t dots = text.find("..");
  const auto lo = sim::parse_duration(text.substr(0, dots));
  const auto hi = dots == std::string::npos ? lo : sim::parse_duration(text.substr(dots + 2));
  if (!lo || !hi || *lo > *hi) return std::nullopt;
  return sim::DurationRange{*lo, *hi};
}

/// Neighbours that are alike share a table where the writer has laid them out, and are meant one by one.
EditResult set_of_client(const StoryFile& file, const Catalogue& catalogue, const Scenario& story,
                         const FieldPlace& place, std::string_view typed, const TextChange& change) {
  const auto range = range_of(typed);
  if (!range) return mistake(file, "expected a time such as 5ms, or two of them such as 1ms..5ms");
  Scenario meant = story;
  for (scenarios::ClientSpec& client : meant.clients) {
    if (!share_table(client, story.clients[place.index])) continue;
    (place.key == "hold" ? client.hold : client.acquire_at) = *range;
  }
  return edited(file, catalogue, story, meant, change);
}

/// The last [[fault]] as the writer has it.
std::string last_fault(const std::string& canonical) {
  constexpr std::string_view kHeading = "[[fault]]\n";
  const std::size_t begin = canonical.rfind(kHeading);
  if (begin == std::string::npos) return "";
  const std::size_t end = canonical.find("\n\n", begin);
  return canonical.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

}  // namespace

EditResult set_field(const StoryFile& file, const Catalogue& catalogue, std::string_view id, std::string_view typed) {
  const Loaded loaded = read(file.text, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return *problem;
  const Scenario& story = std::get<Scenario>(loaded);
  const std::vector<Field> form = form_of(story, catalogue);
  const auto field = std::find_if(form.begin(), form.end(), [&](const Field& one) { return one.id == id; });
  if (field == form.end()) return mistake(file, "there is no such field any more");
  const std::string value = toml_of(*field, typed);
  const TextChange change = [&](StoryText& text, const Scenario& positions) {
    set_in(text, positions, place_of(id), value);
  };

  if (id.starts_with("client.")) return set_of_client(file, catalogue, story, place_of(id), typed, change);
  // What is meant: the same change where each key has a line of its own.
  const std::string canonical = written(story, file);
  const Loaded laid_out = read(canonical, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&laid_out)) return *problem;
  StoryText text(canonical);
  change(text, std::get<Scenario>(laid_out));
  Loaded meant = read(text.text(), file, catalogue);
  if (auto* problem = std::get_if<Diagnostic>(&meant)) {
    problem->at = {};  // its lines are not those of the text that somebody looks at
    problem->others.clear();
    return std::move(*problem);
  }
  return put_into(file, catalogue, story, std::get<Scenario>(meant), change);
}

EditResult set_algorithm(const StoryFile& file, const Catalogue& catalogue, std::string_view id) {
  const Loaded loaded = read(file.text, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return *problem;
  const Scenario& story = std::get<Scenario>(loaded);
  const models::locks::Entry* entry = catalogue.find(id);
  if (entry == nullptr) return mistake(file, "there is no such algorithm");
  const Scenario meant = replace_algorithm(story, *entry);
  return edited(file, catalogue, story, meant, [&](StoryText& text, const Scenario&) {
    const std::optional<HeadingLine> lock = text.find("[lock]");
    if (!lock) return;
    text.set(*lock, "script", "");
    text.set(*lock, "algorithm", scenarios::toml_text::basic_string(entry->id));
    for (const auto& [name, value] : story.lock.parameters) {
      if (!meant.lock.parameters.contains(name)) text.set(*lock, name, "");
    }
    if (meant.servers.size() != story.servers.size())
      text.append(fmt::format("[servers]\ncount = {}\n", meant.servers.size()));
  });
}

EditResult add_fault(const StoryFile& file, const Catalogue& catalogue, const FaultSpec& fault) {
  const Loaded loaded = read(file.text, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return *problem;
  const Scenario& story = std::get<Scenario>(loaded);
  Scenario meant = story;
  meant.faults.push_back(fault);
  const bool needs_timeout = loses_message(fault.kind) && !story.network.timeout;
  if (needs_timeout) meant.network.timeout = sim::Duration::milliseconds(50);
  const std::string block = last_fault(written(meant, file));
  return edited(file, catalogue, story, meant, [&](StoryText& text, const Scenario& positions) {
    if (needs_timeout) set_in(text, positions, {.table = "network", .key = "timeout"}, "\"50ms\"");
    text.append(block);
  });
}

EditResult remove_fault(const StoryFile& file, const Catalogue& catalogue, std::size_t index) {
  const Loaded loaded = read(file.text, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return *problem;
  const Scenario& story = std::get<Scenario>(loaded);
  if (index >= story.faults.size()) return mistake(file, "there is no such fault any more");
  Scenario meant = story;
  meant.faults.erase(meant.faults.begin() + static_cast<std::ptrdiff_t>(index));
  return edited(file, catalogue, story, meant, [&](StoryText& text, const Scenario& positions) {
    if (const auto table = text.above(positions.faults[index].at.line)) text.remove_table(*table);
  });
}

}  // namespace lockstep::reports::play
