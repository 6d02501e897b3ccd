#include "reports/play/bench.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/check/headline.hpp"
#include "reports/json/json.hpp"
#include "reports/picture/diagram.hpp"
#include "reports/play/edits.hpp"
#include "reports/play/faults_here.hpp"
#include "reports/play/form.hpp"
#include "reports/play/judged_page.hpp"
#include "reports/play/rendered.hpp"
#include "reports/play/saving.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/stop.hpp"

namespace lockstep::reports::play {
namespace {

using scenarios::Diagnostic;
using scenarios::Scenario;

Response answer_with(const Json& json) { return {.body = json.dump()}; }

Json in_both(const scenarios::Text& text) { return {{"en", text.en}, {"zh", text.zh.empty() ? text.en : text.zh}}; }

/// The loader's messages are English.
Json problems_of(const Diagnostic& problem) {
  Json list = Json::array();
  const auto add = [&](const Diagnostic& one) {
    list.push_back({{"line", one.at.line}, {"column", one.at.column}, {"message", one.message}});
  };
  add(problem);
  for (const Diagnostic& other : problem.others) add(other);
  return {{"problems", list}};
}

/// What a page says; nothing if it is no object of the members that are asked for.
class Said {
 public:
  explicit Said(std::string_view body) : json_(nlohmann::json::parse(body.begin(), body.end(), nullptr, false)) {}
  std::optional<std::string> text(const char* name) const {
    if (!json_.is_object() || !json_.contains(name) || !json_[name].is_string()) return std::nullopt;
    return json_[name].get<std::string>();
  }
  std::string text_or_empty(const char* name) const { return text(name).value_or(""); }
  std::optional<std::size_t> number(const char* name) const {
    if (!json_.is_object() || !json_.contains(name) || !json_[name].is_number_unsigned()) return std::nullopt;
    return json_[name].get<std::size_t>();
  }
  bool flag(const char* name) const { return json_.is_object() && json_.contains(name) && json_[name] == true; }
  /// Of a story that is not too long.
  std::optional<std::string> story() const {
    std::optional<std::string> story = text("text");
    return story && story->size() <= kStoryBytesMax ? story : std::nullopt;
  }

 private:
  nlohmann::json json_;
};

Response not_understood() {
  return refused(400, "this is no question that the page asks, or its story is longer than 1 MB",
                 "这不是页面会提出的请求，或者故事超过 1 MB");
}

Json form_json(const std::vector<Field>& form) {
  Json list = Json::array();
  for (const Field& field : form)
    list.push_back({{"id", field.id},
                    {"label", in_both(field.label)},
                    {"value", field.value},
                    {"fallback", field.fallback},
                    {"kind", name_of(field.kind)},
                    {"choices", field.choices}});
  return list;
}

Json witnesses_json(const ExploredStory* explored) {
  Json list = Json::array();
  if (explored == nullptr) return list;
  for (const scenarios::ExploredProperty& property : explored->exploration.properties) {
    if (property.witness) list.push_back(property.name);
  }
  return list;
}

/// The first sentence of the check, beside the button that asked for it; null: this text was not checked.
Json answer_json(const ExploredStory* explored) {
  if (explored == nullptr) return {};
  const Headline answer = headline(*explored, Language::en);
  const VerdictWords& words = words_of(answer.verdict);
  return {{"look", look_of(answer)},
          {"en", fmt::format("{} {}", words.sign, answer.text)},
          {"zh", fmt::format("{} {}", words.sign, headline(*explored, Language::zh).text)}};
}

std::string_view phase_name(BackgroundCheck::Phase phase) {
  switch (phase) {
    case BackgroundCheck::Phase::idle: return "idle";
    case BackgroundCheck::Phase::running: return "running";
    case BackgroundCheck::Phase::done: return "done";
    case BackgroundCheck::Phase::failed: break;
  }
  return "failed";
}

}  // namespace

struct Bench::Question {
  std::string_view path;
  Response (Bench::*answer)(std::string_view body);
};

const Bench::Question Bench::kQuestions[] = {
    {"/run", &Bench::run},
    {"/faults", &Bench::faults},
    {"/edit", &Bench::edit},
    {"/step", &Bench::step},
    {"/check", &Bench::start_check},
    {"/check/state", &Bench::check_state},
    {"/check/cancel", &Bench::cancel_check},
    {"/witness", &Bench::witness},
    {"/save", &Bench::save},
    {"/history", &Bench::judge},
};

Bench::Bench(BenchSetup setup, const models::locks::Catalogue& catalogue, std::function<double()> stopwatch)
    : setup_(std::move(setup)),
      catalogue_(catalogue),
      stopwatch_(stopwatch),
      check_(catalogue, stopwatch, setup_.jobs) {}

Response Bench::answer(const Request& request) {
  if (auto no = refusal(request, setup_.door)) return *std::move(no);
  if (request.method == "GET" || request.method == "HEAD") {
    if (request.path == "/") return page();
    if (request.path == "/history") return history_page(request.query_number);
  } else {
    for (const Question& question : kQuestions) {
      if (question.path == request.path) return bounded([&] { return (this->*question.answer)(request.body); });
    }
  }
  return refused(404, "there is nothing here", "这里什么也没有");
}

/// A story may do more in one event than anybody waits for.
Response Bench::bounded(const std::function<Response()>& answer) const {
  const double begin = stopwatch_();
  const sim::Stop::Question is_late = [&] { return is_ended_ || stopwatch_() - begin > kSecondsMax; };
  const sim::Stop::Scope scope(is_late);
  try {
    return answer();
  } catch (const sim::Stopped&) {
    return answer_with(problems_of({.file = setup_.file.string(),
                                    .message = fmt::format("this takes longer than {} s, and was stopped; give its "
                                                           "clients fewer rounds or attempts",
                                                           kSecondsMax)}));
  }
}

Response Bench::page() const {
  return {.content_type = "text/html; charset=utf-8",
          .body = play_page(setup_.text, setup_.file, catalogue_, kEventsMax),
          .policy = "frame-ancestors 'none'"};
}

Response Bench::run(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  if (!text) return not_understood();
  const auto ran = run_of(*text, setup_.file, catalogue_, kEventsMax);
  if (const auto* problem = std::get_if<Diagnostic>(&ran)) return answer_with(problems_of(*problem));
  const Story& story = std::get<Story>(ran);
  const auto explored = check_.result_of(*text);
  const site::Page page = rendered(story, setup_.file, explored.get());
  std::vector<std::string> notes = story.outcome.notes;
  notes.insert(notes.end(), story.outcome.script_mistakes.begin(), story.outcome.script_mistakes.end());
  const bool is_own = story.scenario.lock.own.entry != nullptr;
  return answer_with({{"title", site::both(page.title)},
                      {"name", page.title.en},
                      {"body", page.body},
                      {"data", page.data},
                      {"form", form_json(form_of(story.scenario, catalogue_))},
                      {"algorithm", is_own ? "" : story.scenario.lock.algorithm},
                      {"faults", story.scenario.faults.size()},
                      {"notes", notes},
                      {"answer", answer_json(explored.get())},
                      {"witnesses", witnesses_json(explored.get())}});
}

Response Bench::faults(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  const auto row = said.number("row");
  if (!text || !row) return not_understood();
  const auto ran = run_of(*text, setup_.file, catalogue_, kEventsMax);
  if (const auto* problem = std::get_if<Diagnostic>(&ran)) return answer_with(problems_of(*problem));
  const Story& story = std::get<Story>(ran);
  Json list = Json::array();
  for (const FaultHere& here : faults_here(story, picture::diagram_of(story), *row, sim::Duration::milliseconds(100)))
    list.push_back({{"id", here.id}, {"label", in_both(here.label)}});
  return answer_with({{"faults", list}});
}

namespace {

/// "Pause A here": which fault that is, the run says.
EditResult with_fault(const StoryFile& file, const models::locks::Catalogue& catalogue, const Said& said) {
  const auto nothing = [&](std::string message) {
    return Diagnostic{.file = file.path.string(), .message = std::move(message)};
  };
  const auto length = sim::parse_duration(said.text_or_empty("length"));
  if (!length || *length <= sim::Duration()) return nothing("the length of a pause is a time such as \"150ms\"");
  auto ran = run_of(file.text, file.path, catalogue, Bench::kEventsMax);
  if (auto* problem = std::get_if<Diagnostic>(&ran)) return std::move(*problem);
  const Story& story = std::get<Story>(ran);
  const picture::Diagram diagram = picture::diagram_of(story);
  const std::size_t row = said.number("row").value_or(diagram.rows.size());
  const std::vector<FaultHere> all = faults_here(story, diagram, row, *length);
  const std::string id = said.text_or_empty("fault");
  const auto here = std::find_if(all.begin(), all.end(), [&](const FaultHere& one) { return one.id == id; });
  if (here == all.end()) return nothing("there is nothing of that kind at this step any more");
  const RunWith run = [&](const scenarios::FaultSpec& fault) -> std::optional<scenarios::Outcome> {
    Scenario changed = story.scenario;
    changed.faults.push_back(fault);
    if (!changed.network.timeout && loses_message(fault.kind))
      changed.network.timeout = sim::Duration::milliseconds(50);
    auto outcome = scenarios::run(changed, catalogue, {.trace = true, .max_events = Bench::kEventsMax});
    if (auto* happened = std::get_if<scenarios::Outcome>(&outcome)) return std::move(*happened);
    return std::nullopt;
  };
  return add_fault(file, catalogue, made_sure(diagram, row, *here, run));
}

}  // namespace

Response Bench::edit(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  if (!text) return not_understood();
  const StoryFile file{*text, setup_.file};
  EditResult result = Diagnostic{.file = setup_.file.string(), .message = "there is no such change"};
  if (const auto field = said.text("field")) {
    result = set_field(file, catalogue_, *field, said.text_or_empty("value"));
  } else if (const auto algorithm = said.text("algorithm")) {
    result = set_algorithm(file, catalogue_, *algorithm);
  } else if (said.text("fault")) {
    result = with_fault(file, catalogue_, said);
  } else if (const auto fault = said.number("without_fault")) {
    result = remove_fault(file, catalogue_, *fault);
  }
  if (const auto* problem = std::get_if<Diagnostic>(&result)) return answer_with(problems_of(*problem));
  const Edited& edited = std::get<Edited>(result);
  return answer_with({{"text", edited.text}, {"rewritten", edited.is_rewritten}});
}

/// One execution, event by event: where it is, and what can be next.
Response Bench::step(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  if (!text) return not_understood();
  const auto place = places_.find(*text, said.number("place").value_or(0));
  if (!place)
    return refused(409, "this place is not kept any more, or the story has been changed: begin again",
                   "这个位置已不再保存，或故事已被修改：请重新开始");
  auto found = stepping_page(*text, setup_.file, catalogue_, *place, kEventsMax);
  if (const auto* problem = std::get_if<Diagnostic>(&found)) return answer_with(problems_of(*problem));
  SteppingPage& here = std::get<SteppingPage>(found);
  Json options = Json::array();
  for (SteppingPage::Option& option : here.options) {
    options.push_back({{"place", places_.keep(*text, std::move(option.place))},
                       {"what", in_both(option.what)},
                       {"when", in_both(option.when)}});
  }
  return answer_with({{"title", site::both(here.page.title)},
                      {"name", here.page.title.en},
                      {"body", here.page.body},
                      {"data", here.page.data},
                      {"text", here.text},
                      {"events", here.events},
                      {"at", here.at},
                      {"holders", here.holders},
                      {"overlap", here.is_overlap},
                      {"rows", here.rows},
                      {"options", options},
                      {"all", here.is_all},
                      {"over", here.is_over},
                      {"leaves_out", here.leaves_out}});
}

Response Bench::start_check(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  if (!text) return not_understood();
  auto loaded = scenarios::parse(*text, setup_.file.string(), catalogue_);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return answer_with(problems_of(*problem));
  if (!check_.start(*text, std::get<Scenario>(std::move(loaded))))
    return refused(409, "a check is running: cancel it, or wait for its end", "已有检查正在进行：请取消它，或等它结束");
  return answer_with({{"started", true}});
}

Response Bench::check_state(std::string_view) {
  const BackgroundCheck::State state = check_.state();
  Json json = {{"phase", phase_name(state.phase)}, {"traces", state.traces}, {"seconds", state.seconds}};
  if (state.estimated_traces) json["estimated"] = *state.estimated_traces;
  if (!state.problem.empty()) json["problem"] = state.problem;
  return answer_with(json);
}

Response Bench::cancel_check(std::string_view) {
  check_.cancel();
  return answer_with({{"cancelled", true}});
}

Response Bench::witness(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  const auto property = said.text("property");
  if (!text || !property) return not_understood();
  const auto explored = check_.result_of(*text);
  if (explored == nullptr)
    return refused(409, "the story has been changed since it was checked", "检查之后故事已被修改");
  for (const scenarios::ExploredProperty& one : explored->exploration.properties) {
    if (one.name == *property && one.witness)
      return answer_with({{"text", scenarios::to_toml(*one.witness, setup_.file.parent_path())}});
  }
  return refused(404, "there is no run that breaks it", "没有破坏它的运行");
}

Response Bench::save(std::string_view body) {
  const Said said(body);
  const auto text = said.story();
  if (!text) return not_understood();
  const std::string name = said.text_or_empty("name");
  if (!is_name_of_story(name))
    return refused(400, "expected a name such as mine.toml: letters, digits, - and _",
                   "名称应形如 mine.toml：字母、数字、- 和 _");
  const auto loaded = scenarios::parse(*text, (setup_.folder / name).string(), catalogue_);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) return answer_with(problems_of(*problem));
  const std::lock_guard lock(mutex_);
  if (const auto trouble = save_story(setup_.folder, name, *text, said.flag("overwrite")))
    return answer_with({{"problem", in_both(trouble->why)}, {"exists", trouble->exists}});
  return answer_with({{"saved", (setup_.folder / name).string()}});
}

Response Bench::judge(std::string_view body) {
  const Said said(body);
  const auto text = said.text("text");
  if (!text) return refused(400, "expected the text of a history", "应为历史的文本");
  const double begin = stopwatch_();
  auto judged = judged_page({.text = *text,
                             .name = said.text_or_empty("name"),
                             .model = said.text_or_empty("model"),
                             .is_chinese = said.flag("zh")},
                            [&] { return is_ended_ || stopwatch_() - begin > kHistorySecondsMax; });
  if (const auto* problem = std::get_if<scenarios::Text>(&judged)) return answer_with({{"problem", in_both(*problem)}});
  JudgedPage& page = std::get<JudgedPage>(judged);
  const std::lock_guard lock(mutex_);
  histories_.push_back(std::move(page.html));
  if (histories_.size() > kHistoriesKept) {
    histories_.erase(histories_.begin());
    ++histories_gone_;
  }
  return answer_with({{"verdict", checker::to_string(page.verdict)}, {"n", histories_gone_ + histories_.size()}});
}

/// A page without scripts, and in a sandbox besides: what it shows was written by others.
Response Bench::history_page(const std::string& number) const {
  std::size_t n = 0;
  std::from_chars(number.data(), number.data() + number.size(), n);
  const std::lock_guard lock(mutex_);
  if (n <= histories_gone_ || n > histories_gone_ + histories_.size())
    return refused(404, "this history is not kept any more", "这个历史已不再保存");
  return {.content_type = "text/html; charset=utf-8",
          .body = histories_[n - histories_gone_ - 1],
          .policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"};
}

}  // namespace lockstep::reports::play
