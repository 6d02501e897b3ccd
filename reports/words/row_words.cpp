#include "reports/words/row_words.hpp"

#include <optional>
#include <span>
#include <string_view>

#include "reports/words/sentences.hpp"

namespace lockstep::reports {
namespace {

/// Behind a command.
constexpr Sentence kRests[] = {
    {" is lost", " 丢失了"},
    {" leaves, arrives only at {}", " 发出，{0} 才到达"},
    {" → {}: removes {}'s key", " → {0}：删除了 {1} 的键"},
    {" → {}: overwrites {}'s key", " → {0}：覆盖了 {1} 的键"},
    {" → {}: the key had expired", " → {0}：键已过期"},
    {": removes {}'s key", "：删除了 {0} 的键"},
    {": overwrites {}'s key", "：覆盖了 {0} 的键"},
    {": the key had expired", "：键已过期"},
    {" → {}", " → {0}"},
};

constexpr Sentence kRows[] = {
    {"comes when all is quiet, and wants the lock", "在一切平静之后到来，想要得到锁"},
    {"its clock jumps by {}", "它的时钟跳变 {0}"},
    {"tells {} who is primary: {}", "告诉 {0} 谁是主节点：{1}"},
    {"tells {}: {}", "告诉 {0}：{1}"},
    {"lets {} wait no longer: {}", "不再让 {0} 等待：{1}"},
    {"waits no longer for an answer", "不再等待答复"},
    {"waits no longer for {}'s answer to {}", "不再等待 {0} 对 {1} 的答复"},
    {"the answer to {} is lost: {}", "对 {0} 的答复丢失了：{1}"},
    {"{} does not answer {}: connection reset", "{0} 没有答复 {1}：连接被重置"},
    {"sees the answer to {} only now: {}", "现在才看到对 {0} 的答复：{1~}"},
    {"sees the answer to {} only now: {}", "现在才看到对 {0} 的答复：{1}"},
    {"releases the lock", "释放锁"},
    {"releases {}", "释放 {0}"},
    {"leaves its finally block, and does not think of the lock again", "离开 finally 块，不再理会这把锁"},
    {"goes on without giving the lock back", "没有归还锁就继续了"},
    {"learns that it lost the lock", "得知自己失去了锁"},
    {"does not know whether it got the lock", "不知道自己是否得到了锁"},
    {"does not know whether it released the lock", "不知道自己是否释放了锁"},
    {"does not know what became of its {}", "不知道自己的 {0} 结果如何"},
    {"was not the owner any more", "已经不是持有者"},
    {"was not the owner", "不是持有者"},
    {"never gets the lock", "始终得不到锁"},
    {"gives up: no lock", "放弃：没有得到锁"},
    {"has the lock until {}, and so has {}", "得到锁，到 {0} 为止，而 {1} 也持有"},
    {"has the lock until {}, and so have {} and {}", "得到锁，到 {0} 为止，而 {1} 和 {2} 也持有"},
    {"has the lock until {}", "得到锁，到 {0} 为止"},
    {"has the lock, and so has {}", "得到锁，而 {0} 也持有"},
    {"has the lock, and so have {} and {}", "得到锁，而 {0} 和 {1} 也持有"},
    {"has the lock", "得到锁"},
    {"has {} until {}, and so has {}", "得到 {0}，到 {1} 为止，而 {2} 也持有"},
    {"has {} until {}, and so have {} and {}", "得到 {0}，到 {1} 为止，而 {2} 和 {3} 也持有"},
    {"has {} until {}", "得到 {0}，到 {1} 为止"},
    {"has {}, and so has {}", "得到 {0}，而 {1} 也持有"},
    {"has {}, and so have {} and {}", "得到 {0}，而 {1} 和 {2} 也持有"},
    {"has {}", "得到 {0}"},
    {"crashes, its keys survive", "崩溃，它的键仍在"},
    {"crashes, what is on its disk survives", "崩溃，磁盘上的内容仍在"},
    {"crashes and forgets its keys", "崩溃，忘记了它的键"},
    {"crashes", "崩溃"},
    {"comes back", "恢复"},
    {"is paused for ever", "永远停顿"},
    {"is paused until it crashes", "停顿，直到崩溃"},
    {"is paused for {}", "停顿 {0}"},
    {"runs again", "继续运行"},
    {"its lease is over by its own clock", "按它自己的时钟，租约已到期"},
    {"the network cuts off {} from {}", "网络把 {0} 与 {1} 隔开"},
    {"the network joins {} and {}", "网络重新连接 {0} 与 {1}"},
    {"tries {} more times until {}, always the same", "再试 {0} 次，直到 {1}，每次都一样"},
    {"tries {} more times until {}, always alike: only numbers in answers differ",
     "再试 {0} 次，直到 {1}，每次都类似，只有答复中的数字不同"},
    {"the same {} more times until {}", "同样的事再发生 {0} 次，直到 {1}"},
    {"{} learns of {}", "{0} 得知 {1}"},
};

std::optional<std::string> row_in_chinese(std::string_view text) { return said_in_chinese(text, kRows); }

std::optional<std::string> in_chinese_row(const Event& event) {
  const std::string_view command = std::string_view(event.text).substr(0, event.command_size);
  const std::string_view rest = std::string_view(event.text).substr(event.command_size);
  if (command.empty()) return said_in_chinese(rest, kRows, row_in_chinese);
  if (rest.empty()) return event.text;
  const auto chinese = said_in_chinese(rest, kRests);
  if (!chinese) return std::nullopt;
  return std::string(command) + *chinese;
}

}  // namespace

std::string row_in(Language language, const Event& event) {
  return language == Language::zh ? in_chinese_row(event).value_or(event.text) : event.text;
}

bool has_chinese(const Event& event) { return in_chinese_row(event).has_value(); }

}  // namespace lockstep::reports
