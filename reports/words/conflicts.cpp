#include "reports/words/conflicts.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "reports/text/text.hpp"
#include "reports/words/sentences.hpp"

namespace lockstep::reports {
namespace {

/// "B's acquire (91ms to 102ms)".
struct Told {
  std::string_view who;
  std::string_view what;
  std::string_view from;
  std::string_view to;
};

/// Of "A's …, B's … and C's …". Empty: it is no such list.
std::vector<Told> operations_of(std::string_view list) {
  constexpr std::string_view kEnd = ")";
  std::vector<Told> all;
  while (!list.empty()) {
    if (!all.empty() && list.starts_with(" and ") && list.ends_with(" more")) break;  // too many to name
    for (const std::string_view between : {", ", " and "}) {
      if (!all.empty() && list.starts_with(between)) list.remove_prefix(between.size());
    }
    const std::size_t end = list.find(kEnd);
    if (end == std::string_view::npos) return {};
    const auto parts = parts_of(list.substr(0, end + 1), "{}'s {} ({} to {})");
    if (!parts) return {};
    all.push_back({(*parts)[0], (*parts)[1], (*parts)[2], (*parts)[3]});
    list.remove_prefix(end + 1);
  }
  return all;
}

std::string list_in_chinese(const std::vector<Told>& operations) {
  std::vector<std::string> each;
  for (const Told& o : operations) {
    const std::string_view what = o.what == "acquire"   ? "加锁"
                                  : o.what == "release" ? "释放"
                                  : o.what == "reenter" ? "重入"
                                                        : o.what;
    const std::string_view to = o.to == "unknown" ? "未知" : o.to;
    each.push_back(fmt::format("{} 的{}（{} 到 {}）", o.who, what, o.from, to));
  }
  return joined(each, "、");
}

}  // namespace

std::optional<std::string> conflict_meaning(Language language, std::span<const ConflictingOperation> operations,
                                            std::string_view places) {
  const bool zh = language == Language::zh;
  const auto is_release = [](const ConflictingOperation& o) { return o.what == "release"; };
  const bool is_released = std::any_of(operations.begin(), operations.end(), is_release);
  // Who does not know what became of its own operation was told nothing.
  const bool all_told = std::all_of(operations.begin(), operations.end(), [](const auto& o) { return o.is_told; });
  if (operations.empty() || !all_told) return std::nullopt;
  const std::string& first = operations.front().who;
  if (operations.size() == 1 && is_released)
    return zh ? fmt::format("{} 被告知释放成功，但它并没有持有锁", first)
              : fmt::format("{} was told that it succeeded, and did not hold the lock", first);
  if (is_released) return std::nullopt;
  if (!places.empty())
    return zh ? fmt::format("它们都被告知得到了名额，名额只有 {} 个，而没有一个被归还过", places)
              : fmt::format("all were told that they got a place, there are {}, and none had been given back", places);
  if (operations.size() != 2 || first == operations.back().who) return std::nullopt;
  return zh ? fmt::format("两者都被告知得到了锁，而 {} 没有释放过它", first)
            : fmt::format("both were told that they got the lock, and {} had not released it", first);
}

std::optional<std::string> conflict_in(Language language, std::string_view reason) {
  const bool zh = language == Language::zh;
  auto parts = parts_of(reason, "{} cannot all be what {} did");
  if (!parts) parts = parts_of(reason, "{} cannot be what {} did");
  if (!parts) return std::nullopt;
  const std::vector<Told> told = operations_of((*parts)[0]);
  if (told.empty()) return std::nullopt;
  std::vector<ConflictingOperation> operations;
  for (const Told& o : told) operations.push_back({std::string(o.who), std::string(o.what), o.to != "unknown"});
  const auto places = parts_of((*parts)[1], "a semaphore of {} places");
  const std::string meaning = conflict_meaning(language, operations, places ? (*places)[0] : std::string_view())
                                  .value_or(zh ? "一把锁不可能先后给出所有这些答复"
                                               : "one lock cannot have given all these answers, one after the other");
  return zh ? list_in_chinese(told) + "：" + meaning : std::string((*parts)[0]) + ": " + meaning;
}

}  // namespace lockstep::reports
