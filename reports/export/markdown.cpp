#include "reports/export/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "reports/picture/diagram.hpp"
#include "reports/picture/drawing.hpp"
#include "reports/run/events.hpp"
#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"
#include "reports/words/row_words.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

/// A backslash makes of what could be markup within a line nothing but itself. Addresses still become links where a
/// site makes them so.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>&|~$#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// The same of what begins a line, where a few characters more are markup: "- ", "1. ", "===", four blanks.
std::string markdown_line(std::string_view text) {
  std::string line = markdown_text(text);
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t after_digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const bool is_number = after_digits > 0 && after_digits < line.size();
  const std::string_view marks = is_number ? ".)" : "-+=";
  const bool is_mark = after_digits < line.size() && marks.find(line[after_digits]) != std::string_view::npos;
  if (is_mark) line.insert(after_digits, 1, '\\');
  return line;
}

/// A path in the angle brackets of a link's target.
std::string link_target(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool is_markup = std::string_view("<>\\&%\"'()").find(c) != std::string_view::npos;
    const bool is_plain = static_cast<unsigned char>(c) > ' ' && c != '\x7f' && !is_markup;
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

class MarkdownPage {
 public:
  MarkdownPage(const Story& story, Language language) : story_(story), language_(language) {}

  std::string written(std::string_view picture_name) {
    add_heading();
    text_ += fmt::format("![{}](<{}>)\n\n", words("The run as a space-time diagram", "这次运行的时空图"),
                         link_target(picture_name));
    add_verdicts();
    add_steps();
    for (const std::string& note : story_.outcome.notes) add_paragraph(words("Note: ", "注意：") + markdown_text(note));
    add_paragraph(markdown_line(in(language_, story_.scenario.lesson)));
    text_ += fmt::format("`lockstep {}`\n", digest_text(story_.outcome.digest));
    return std::move(text_);
  }

 private:
  std::string words(const char* english, const char* chinese) const {
    return language_ == Language::zh ? chinese : english;
  }

  void add_paragraph(const std::string& paragraph) {
    if (!paragraph.empty()) text_ += paragraph + "\n\n";
  }

  void add_heading() {
    const scenarios::Scenario& scenario = story_.scenario;
    add_paragraph("# " + markdown_text(in(language_, scenario.title)));
    std::string facts = markdown_line(fmt::format("{} · {}", scenario.id, scenario.lock.algorithm));
    if (!scenario.reproduces.empty())
      facts += words(" · reproduces ", " · 重现 ") + markdown_text(joined(scenario.reproduces));
    add_paragraph(facts);
    add_paragraph(markdown_line(in(language_, scenario.story)));
  }

  std::string stands(const scenarios::Judgement& judgement) const {
    if (judgement.as_expected) return judgement.expected ? words("as expected", "符合预期") : "";
    if (!judgement.expected) return words("**not as claimed by the algorithm**", "**与算法的承诺不符**");
    return words("**not as expected:** ", "**不符合预期，预期：** ") +
           markdown_text(expected_text(*judgement.expected, language_));
  }

  void add_verdicts() {
    add_paragraph(words("## Verdicts", "## 结论"));
    text_ += words("| | property | verdict | | why |\n", "| | 性质 | 结论 | | 原因 |\n") +
             "| --- | --- | --- | --- | --- |\n";
    for (const scenarios::Judgement& judgement : story_.outcome.properties) {
      const checker::Finding& finding = judgement.finding;
      text_ +=
          fmt::format("| {} | {} | {} | {} | {} |\n", words_of(finding.verdict).sign, markdown_text(finding.property),
                      markdown_text(observed_text(story_.outcome, finding, language_)), stands(judgement),
                      markdown_text(reason_in(language_, finding.why)));
    }
    text_ += "\n";
  }

  void add_steps() {
    std::vector<Event> events = events_of(story_);
    fold_repetitions(events, story_);
    std::set<sim::Step> evidence;
    for (const scenarios::Judgement& judgement : story_.outcome.properties) {
      if (judgement.finding.verdict == Verdict::violated)
        evidence.insert(judgement.finding.evidence.begin(), judgement.finding.evidence.end());
    }
    add_paragraph(words("## Steps", "## 步骤"));
    text_ += words("| time | who | what |\n", "| 时间 | 谁 | 做什么 |\n") + "| ---: | --- | --- |\n";
    const std::size_t shown = std::min(events.size(), picture::DiagramOptions().rows_max);
    for (const Event& event : std::span(events).first(shown)) {
      const std::string who = event.who.is_valid() ? name_of(story_.outcome, event.who) : "";
      const std::string what = markdown_text(row_in(language_, event));
      text_ += fmt::format("| {} | {} | {} |\n", markdown_text(time_text(event.at)), markdown_text(who),
                           evidence.contains(event.step) ? "**" + what + "**" : what);
    }
    if (shown < events.size())
      text_ +=
          fmt::format("| ⋮ | | {} |\n", language_ == Language::zh ? fmt::format("还有 {} 步", events.size() - shown)
                                                                  : fmt::format("{} more", events.size() - shown));
    text_ += words("\nWhat proves a violation is bold.\n\n", "\n粗体的是证明违反的步骤。\n\n");
  }

  const Story& story_;
  Language language_;
  std::string text_;
};

}  // namespace

std::string markdown_page(const Story& story, Language language, std::string_view picture_name) {
  return MarkdownPage(story, language).written(picture_name);
}

std::string markdown_picture(const Story& story, Language language) {
  const picture::DrawingOptions options{
      .title_en = story.scenario.title.en, .title_zh = in(Language::zh, story.scenario.title), .has_scale = false};
  return picture::file_svg(picture::diagram_of(story), options, language);
}

std::string picture_beside(std::string_view page) {
  const std::string_view ending = page.ends_with(".md") ? ".md" : page.ends_with(".markdown") ? ".markdown" : "";
  const std::string_view stem = page.substr(0, page.size() - ending.size());
  // "folder/.md" is a name without an ending.
  const bool is_name = !stem.empty() && !stem.ends_with('/');
  return std::string(is_name ? stem : page) + ".svg";
}

}  // namespace lockstep::reports
