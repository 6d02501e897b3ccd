#include "reports/site/story/code_part.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/text/embedded_text.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::site {
namespace {

using picture::escaped_markup;
using sim::EventKind;
using sim::TraceRecord;

/// A client that polls comes by a line again and again.
constexpr std::size_t kStepsOfLine = 12;

/// Which records a row is about.
class Origins {
 public:
  explicit Origins(const Story& story) : records_(story.outcome.trace.records) {
    for (const TraceRecord& r : records_) {
      of_step_[r.step].push_back(&r);
      if (r.kind == EventKind::message) left_in_[r.cause].push_back(&r);
    }
  }

  const std::vector<sim::CodePlace>& of(const Event& event) const {
    const TraceRecord* r = event.is_fault ? nullptr : message_of(event);
    if (r == nullptr && !event.arrow) r = awaited_by(event);
    static const std::vector<sim::CodePlace> none;
    return r == nullptr ? none : r->code;
  }

 private:
  using ByStep = std::map<sim::Step, std::vector<const TraceRecord*>>;

  static const TraceRecord* first_of(const ByStep& records, sim::Step step, const auto& is_it) {
    const auto found = records.find(step);
    if (found == records.end()) return nullptr;
    const auto it = std::find_if(found->second.begin(), found->second.end(), is_it);
    return it == found->second.end() ? nullptr : *it;
  }

  const TraceRecord* message_of(const Event& event) const {
    if (event.arrow) {
      const auto is_it = [&](const TraceRecord* r) {
        return r->kind == EventKind::message && r->from == event.arrow->from && r->process == event.arrow->to;
      };
      // One that leaves has its row where it was sent.
      return first_of(event.arrow->fate == Arrow::Fate::leaves ? left_in_ : of_step_, event.step, is_it);
    }
    // Nobody's answer came: the request is what left in the step that set the time limit.
    const TraceRecord* limit = first_of(of_step_, event.step, [&](const TraceRecord* r) {
      return r->kind == EventKind::timer && r->name == "timeout" && r->process == event.who;
    });
    if (limit == nullptr) return nullptr;
    return first_of(left_in_, limit->cause,
                    [&](const TraceRecord* r) { return !r->is_reply && r->from == limit->process; });
  }

  /// Something strikes a client that waits for an answer: it stands there. One that works, sleeps or is done stands
  /// nowhere.
  const TraceRecord* awaited_by(const Event& event) const {
    if (!event.is_fault || !event.who.is_valid()) return nullptr;
    const TraceRecord* last = nullptr;
    for (const TraceRecord& r : records_) {
      if (r.at.offset() > event.at.offset() && r.sent.offset() > event.at.offset()) continue;
      const bool is_sent = r.kind == EventKind::message && !r.is_reply && r.from == event.who && !r.code.empty() &&
                           r.sent.offset() <= event.at.offset() && r.cause <= event.step;
      if (is_sent && (last == nullptr || r.cause >= last->cause)) last = &r;
    }
    if (last == nullptr) return nullptr;
    const bool is_over = std::any_of(records_.begin(), records_.end(), [&](const TraceRecord& r) {
      if (r.lost || r.process != event.who || r.step <= last->cause || r.step > event.step) return false;
      return (r.kind == EventKind::message && r.is_reply) || r.kind == EventKind::timer || r.kind == EventKind::start;
    });
    return is_over ? nullptr : last;
  }

  const std::vector<TraceRecord>& records_;
  ByStep of_step_, left_in_;
};

/// A text that a place is in; nothing: it is none of an algorithm's.
std::optional<CodeFile> file_of(const sim::CodePlace& place, const scenarios::LockSpec& lock) {
  if (lock.own.entry != nullptr && place.file == lock.algorithm) return CodeFile{place.file, lock.own.text};
  constexpr std::string_view kLocks = "models/locks/";
  const std::size_t at = place.file.rfind(kLocks);
  if (at == std::string::npos) return std::nullopt;
  const std::string name = place.file.substr(at);
  const auto text = find_embedded_text(name);
  return text ? std::optional(CodeFile{name, *text}) : std::nullopt;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// How many lines are shown: to the end of the last function that the run came by.
std::size_t shown_lines(const std::vector<std::string_view>& lines, std::size_t last) {
  for (std::size_t i = last; i < lines.size(); ++i) {
    if (lines[i].starts_with("}") || lines[i].starts_with("  }") || lines[i] == "end") return i + 1;
  }
  return lines.size();
}

bool is_comment(std::string_view line) { return line.starts_with("//") || line.starts_with("--"); }

/// Where a file begins to matter: at the class or function around its first marked line, with what is said of it.
std::size_t first_shown(const std::vector<std::string_view>& lines, std::size_t first_marked) {
  const auto begins = [](std::string_view line) {
    constexpr std::string_view kNone[] = {"", " ", "}", "#", "namespace", "using", "//", "--"};
    return std::none_of(std::begin(kNone), std::end(kNone),
                        [&](std::string_view none) { return none.empty() ? line.empty() : line.starts_with(none); });
  };
  std::size_t at = first_marked;
  while (at > 0 && !begins(lines[at])) --at;
  while (at > 0 && is_comment(lines[at - 1])) --at;
  return at;
}

std::string anchor_of_line(const CodeLine& line) { return fmt::format("c{}-{}", line.file, line.line); }

std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string file_part(const CodeOfRun& code, std::size_t file, const std::string* rest) {
  std::map<std::uint32_t, std::vector<std::size_t>> steps;
  for (std::size_t row = 0; row < code.lines.size(); ++row) {
    for (const CodeLine& line : code.lines[row]) {
      if (line.file == file) steps[line.line].push_back(row + 1);
    }
  }
  const std::vector<std::string_view> lines = split_lines(code.files[file].text);
  const std::size_t count = shown_lines(lines, std::min<std::size_t>(steps.rbegin()->first, lines.size()));
  // What the file says of itself stays; includes and the like do not, and have numbers all the same.
  std::size_t header = 0;
  while (header < lines.size() && is_comment(lines[header])) ++header;
  const std::size_t begin =
      std::max(first_shown(lines, std::min<std::size_t>(steps.begin()->first, count) - 1), header);
  std::string html;
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= header && i < begin) {
      html += "<i></i>";
      if (i + 1 == begin) html += "⋮\n";
      continue;
    }
    const auto marked = steps.find(static_cast<std::uint32_t>(i + 1));
    if (marked == steps.end()) {
      html += fmt::format("<span>{}</span>\n", escaped_markup(lines[i]));
      continue;
    }
    html += fmt::format("<span id=\"{}\" class=\"at\">{}<span class=\"by\">",
                        anchor_of_line({file, static_cast<std::uint32_t>(i + 1)}), escaped_markup(lines[i]));
    for (std::size_t s = 0; s < std::min(marked->second.size(), kStepsOfLine); ++s)
      html += fmt::format(" <a href=\"#s{0}\">{0}</a>", marked->second[s]);
    if (marked->second.size() > kStepsOfLine) html += " …";
    html += "</span></span>\n";
  }
  const std::string name = escaped_markup(code.files[file].name);
  html = fmt::format(
      "<h3><code>{0}</code></h3>\n<pre class=\"source\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><code>{1}"
      "</code></pre>\n",
      name, html);
  if (count == lines.size()) return html;
  const Text more{counted(lines.size() - count, "more line", "more lines"),
                  fmt::format("还有 {} 行", lines.size() - count)};
  return html +
         fmt::format("<p class=\"faint small\">… {}</p>\n",
                     rest == nullptr ? both(more) : fmt::format("<a href=\"{}#source\">{}</a>", *rest, both(more)));
}

}  // namespace

CodeOfRun code_of(const Story& story, const picture::Diagram& diagram) {
  const Origins origins(story);
  CodeOfRun code;
  code.lines.resize(diagram.rows.size());
  for (std::size_t row = 0; row < diagram.rows.size(); ++row) {
    for (const sim::CodePlace& place : origins.of(diagram.rows[row].event)) {
      const auto file = file_of(place, story.scenario.lock);
      if (!file) continue;
      auto known = std::find_if(code.files.begin(), code.files.end(),
                                [&](const CodeFile& other) { return other.name == file->name; });
      if (known == code.files.end()) known = code.files.insert(code.files.end(), *file);
      const CodeLine line{static_cast<std::size_t>(known - code.files.begin()), place.line};
      std::vector<CodeLine>& lines = code.lines[row];
      if (lines.empty() || lines.front() != line) lines.insert(lines.begin(), line);
    }
  }
  return code;
}

std::string code_part(const CodeOfRun& code, const std::string* rest) {
  if (code.files.empty()) return "";
  std::string html = fmt::format(
      "<p>{}</p>\n",
      both("Behind a line are the steps at which a client waits there for an answer: the run noted them. Where one "
           "function calls another, the lines of both are marked.",
           "行末是客户端在该行等待答复的步骤，由运行本身记录。一个函数调用另一个时，两处都有标记。"));
  for (std::size_t file = 0; file < code.files.size(); ++file) html += file_part(code, file, rest);
  return html;
}

std::string links_to_code(const CodeOfRun& code, std::size_t row) {
  std::string html;
  for (const CodeLine& line : code.lines[row]) {
    html += fmt::format("{}<a href=\"#{}\">{}:{}</a>", html.empty() ? "" : "<br/>", anchor_of_line(line),
                        escaped_markup(short_name(code.files[line.file].name)), line.line);
  }
  return html;
}

}  // namespace lockstep::reports::site
