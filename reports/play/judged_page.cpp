#include "reports/play/judged_page.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "checker/linearizability/linearizability.hpp"
#include "reports/linearization/linearization.hpp"

namespace lockstep::reports::play {
namespace {

namespace formats = checker::history_formats;

constexpr std::size_t kSearchBytesMax = std::size_t{1} << 30U;

/// Null: it says none.
formats::SaidModel model_within(std::string_view text) {
  constexpr std::size_t kBeginning = std::size_t{64} << 10U;
  formats::SaidModel found;
  formats::read_history(formats::text_source(text.substr(0, kBeginning)), formats::Format::automatic,
                        [&](const formats::Event& event) {
                          const auto said = formats::model_said(event);
                          if (!said) return std::optional<formats::Complaint>();
                          found = *said;
                          return std::optional(formats::Complaint{});
                        });
  return found;
}

scenarios::Text of_trouble(const formats::Trouble& trouble) {
  return {fmt::format("line {}: {}", trouble.at.line, trouble.message),
          fmt::format("第 {} 行：{}", trouble.at.line, trouble.message)};
}

}  // namespace

std::variant<JudgedPage, scenarios::Text> judged_page(const HistoryToJudge& history,
                                                      const std::function<bool()>& is_out_of_time) {
  formats::SaidModel of = model_within(history.text);
  if (!history.model.empty()) {
    const checker::Model* asked = checker::find_model(history.model);
    if (asked == nullptr) return scenarios::Text{"there is no such model", "没有这个模型"};
    if (asked != of.model) of.permits.reset();
    of.model = asked;
  }
  if (of.model == nullptr)
    return scenarios::Text{"the history does not say of which model it is: choose one",
                           "历史没有说明它属于哪个模型：请选择一个"};

  JudgedHistory judged{.file = history.name};
  formats::Recorder recorder(*of.model, {});
  judged.reading = formats::read_history(
      formats::text_source(history.text), formats::Format::automatic,
      [&](const formats::Event& event) { return recorder.take(event); }, std::size_t{1} << 20U,
      formats::format_of_name(history.name));
  std::optional<formats::Trouble> trouble = judged.reading.trouble;
  if (!trouble) trouble = recorder.trouble();
  if (trouble) return of_trouble(*trouble);
  judged.recorded = recorder.finish();
  const auto& operations = judged.recorded.operations.operations;
  judged.tested_nothing =
      std::none_of(operations.begin(), operations.end(), [](const auto& o) { return o.is_certain(); });

  checker::LinearizabilityOptions options;
  options.max_memory = kSearchBytesMax;
  options.is_out_of_time = is_out_of_time;
  options.permits = of.permits.value_or(1);
  options.initial = judged.recorded.initial.value_or(checker::nil);
  judged.result = checker::check_linearizable(judged.recorded.operations, *of.model, options);
  return JudgedPage{judged.result.verdict,
                    linearize_html({&judged, 1}, *of.model, options, history.is_chinese ? Language::zh : Language::en)};
}

}  // namespace lockstep::reports::play
