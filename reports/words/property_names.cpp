#include "reports/words/property_names.hpp"

#include <algorithm>
#include <iterator>

#include "reports/words/sentences.hpp"

namespace lockstep::reports {
namespace {

constexpr Sentence kNames[] = {
    {"mutual-exclusion", "互斥"},
    {"linearizable", "线性一致"},
    {"progress", "有进展"},
    {"no-deadlock", "无死锁"},
    {"own-release", "只释放自己的锁"},
    {"reentrancy", "可重入"},
    {"recoverable", "可恢复"},
    {"truthful-reports", "报告属实"},
    {"faithful-renewal", "如实续期"},
    {"no-lost-wakeup", "不丢失唤醒"},
    {"capacity", "名额"},
    {"fair", "公平"},
    {"no-lost-update", "不丢失更新"},
    {"fencing", "令牌隔离"},
    {"no-oversell", "不超卖"},
};

}  // namespace

std::string_view chinese_property(std::string_view name) {
  const auto* const known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Sentence& each) { return each.english == name; });
  return known == std::end(kNames) ? std::string_view() : known->chinese;
}

std::string property_in(Language language, std::string_view name) {
  const std::string_view chinese = chinese_property(name);
  if (language != Language::zh || chinese.empty()) return std::string(name);
  return std::string(chinese) + " " + std::string(name);
}

}  // namespace lockstep::reports
