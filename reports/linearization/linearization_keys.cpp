#include <algorithm>

#include "reports/linearization/linearization.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

/// Of keys that are judged again, to be drawn: what one of them costs is bounded by its length.
constexpr std::size_t kJudgedOperationsMax = 100'000;

/// All of a history but its operations: those of one key after the other are put in.
JudgedHistory without_operations(const JudgedHistory& judged) {
  const checker::OperationHistory& all = judged.recorded.operations;
  JudgedHistory key;
  key.file = judged.file;
  key.recorded.initial = judged.recorded.initial;
  key.recorded.operations.micro_operations = all.micro_operations;
  key.recorded.operations.elements = all.elements;
  key.recorded.operations.texts = all.texts;
  key.recorded.operations.values_are_texts = all.values_are_texts;
  key.recorded.operations.texts_are_quoted = all.texts_are_quoted;
  key.recorded.operations.key_names = all.key_names;
  key.recorded.operations.process_names = all.process_names;
  return key;
}

}  // namespace

bool has_keys(const JudgedHistory& judged, const checker::Model& model) {
  return model.splits_by_key() && judged.recorded.operations.key_names.size() > 1;
}

void for_each_key(const JudgedHistory& judged, const checker::Model& model,
                  const checker::LinearizabilityOptions& options, std::size_t judged_max,
                  const std::function<void(const JudgedKey&)>& visit) {
  const checker::OperationHistory& history = judged.recorded.operations;
  const checker::LinearizabilityResult& result = judged.result;
  std::vector<std::vector<std::uint32_t>> positions(history.key_names.size());
  for (std::uint32_t i = 0; i < history.operations.size(); ++i) positions[history.operations[i].key].push_back(i);

  std::vector<Verdict> verdicts(positions.size(), Verdict::holds);
  for (const std::uint32_t key : result.unknown_keys) verdicts[key] = Verdict::unknown;
  std::vector<std::uint32_t> order;
  for (const checker::ViolatedKey& violated : result.violated_keys) {
    verdicts[violated.key] = Verdict::violated;
    order.push_back(violated.key);
  }
  for (const Verdict verdict : {Verdict::unknown, Verdict::holds}) {
    for (std::uint32_t key = 0; key < positions.size(); ++key) {
      if (verdicts[key] == verdict && !positions[key].empty()) order.push_back(key);
    }
  }

  JudgedHistory of_key = without_operations(judged);
  checker::LinearizabilityOptions own = options;
  own.initial = judged.recorded.initial.value_or(checker::nil);
  std::size_t operations = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t key = order[i];
    JudgedKey shown{.name = history.key_names[key], .verdict = verdicts[key], .operations = positions[key].size()};
    if (shown.verdict == Verdict::violated && key == result.key) {
      shown.judged = &judged;
    } else if (i < judged_max && shown.verdict != Verdict::unknown &&
               (operations += shown.operations) <= kJudgedOperationsMax) {
      of_key.recorded.operations.operations.clear();
      of_key.recorded.lines.clear();
      for (const std::uint32_t position : positions[key]) {
        of_key.recorded.operations.operations.push_back(history.operations[position]);
        of_key.recorded.lines.push_back(judged.recorded.lines[position]);
      }
      of_key.result = checker::check_linearizable(of_key.recorded.operations, model, own);
      if (of_key.result.verdict == shown.verdict) shown.judged = &of_key;
    }
    visit(shown);
  }
}

}  // namespace lockstep::reports
