#include "reports/words/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/text/figures.hpp"
#include "reports/text/text.hpp"
#include "reports/words/conflicts.hpp"
#include "reports/words/sentences.hpp"

namespace lockstep::reports {
namespace {

constexpr Sentence kObjects[] = {
    {"a mutex that only its owner releases", "只有持有者能释放的互斥锁"},
    {"a mutex that its owner may take again", "持有者可重入的互斥锁"},
    {"a semaphore of {} place{}", "有 {0} 个名额的信号量"},
};

constexpr Sentence kSentences[] = {
    // What no run can break.
    {"all {} executions, each with all its delays, keep it", "全部 {0} 种执行，连同各自的所有延迟，都满足"},
    {"the one execution, with all its delays, keeps it", "唯一的一种执行，连同它的所有延迟，都满足"},
    {"not broken so far, but a bound was hit", "到目前为止没有被破坏，但达到了界限"},
    {"nothing was tried: nobody ever got the lock", "没有检验到：从来没有人得到锁"},
    {"no server granted the lock: no acquire that succeeded wrote anything",
     "没有服务器授予过锁：成功的加锁什么也没有写入"},
    {"no server granted the lock, so it was never given back to those who wait",
     "没有服务器授予过锁，也就没有归还给等待者"},
    {"no lease was renewed, and none was to be", "没有续租，也没有该续的租约"},
    {"nobody bought anything", "没有人买过东西"},
    {"nobody asked for a lock", "没有人请求锁"},
    {"not asked", "没有被问到"},
    {"a script stops with an error of its own, so nothing is known of what was meant: {}",
     "脚本因自身的错误而停止，因此对其本意一无所知：{0}"},
    {"no lock was ever granted", "从来没有授予过锁"},
    {"nobody took a lock again that it held", "没有人重入自己持有的锁"},
    {"no lease was renewed, and none that should have been ran out", "没有续租，也没有该续而到期的租约"},
    {"no release or renewal reported success", "没有释放或续租报告成功"},
    {"nobody waited for a lock that was free", "没有人等待空闲的锁"},
    {"nobody waited longer than {} for a lock that was free", "没有人为空闲的锁等待超过 {0}"},
    {"nobody waited", "没有人等待"},
    {"nobody stood in line", "没有人排队"},
    {"nobody tried for longer than {} while nobody held it ({} allowed)", "无人持有时，没有人尝试超过 {0}（允许 {1}）"},
    {"{} grant{}, {} removed, none by a stranger", "授予 {0} 次，删除 {2} 次，都不是外人所为"},
    {"{} grant{}, none removed by anybody", "授予 {0} 次，没有被任何人删除"},
    {"{} release{} or renewal{} reported success, all of them rightly", "{0} 次释放或续租报告成功，全都属实"},
    {"{} release{} and renewals reported success, all of them rightly", "{0} 次释放或续租报告成功，全都属实"},
    {"{} operation{} in an order that {} allows", "{0} 个操作，存在{2~}允许的顺序"},
    {"{} hold{}, never two at once; the closest were {} apart", "持有 {0} 次，从不同时；最近的两次相隔 {2}"},
    {"{} hold{}, never two at once", "持有 {0} 次，从不同时"},
    {"{} hold{}, never more than {} at once", "持有 {0} 次，从不超过 {2} 个同时"},
    {"{} attempt{}, none overtaken", "尝试 {0} 次，无人被插队"},
    {"{} renewal{}, all while the lock was held", "续租 {0} 次，都在持有锁期间"},
    {"{} re-entr{}, and as many releases freed the lock as acquires had taken it", "重入 {0} 次，释放与获取次数相符"},
    {"{} write{} applied, never back to an older grant; {} refused", "写入 {0} 次，从未回到更早的授予；拒绝 {2} 次"},
    {"{} write{} applied, never back to an older grant", "写入 {0} 次，从未回到更早的授予"},
    {"{} update{} after a read, none lost", "先读后写 {0} 次，没有丢失"},
    {"{} sale{}, each of another item and paid for", "成交 {0} 次，各不相同且都已付款"},
    {"{} wait{} for a lock that is held, none of them in a circle", "等待被持有的锁 {0} 次，没有形成环路"},
    {"no circle of waits lasts {}: leases or patience run out first", "没有环路持续 {0}：租约或耐心先耗尽"},
    {"nothing was read and then written", "没有先读后写"},
    {"{} got the lock only at {}, {} after everything had come to rest at {} ({} allowed)",
     "{0} 直到 {1} 才得到锁，距一切在 {3} 平静已过 {2}（允许 {4}）"},
    {"{} got the lock {} after everything had come to rest at {} ({} allowed)",
     "一切在 {2} 平静之后，{0} 过了 {1} 得到锁（允许 {3}）"},
    // What does not apply.
    {"no resource in this story", "这个故事里没有受保护的资源"},
    {"no market in this story", "这个故事里没有市场"},
    {"no semaphore in this story", "这个故事里没有信号量"},
    {"no client of this story takes several locks", "这个故事里没有客户端同时取多把锁"},
    {"nobody is promised a turn in this story", "这个故事里没有承诺先来后到"},
    {"a semaphore lets several in: see capacity", "信号量允许多个持有者：见 capacity"},
    {"a lock that some share is no mutex; mutual-exclusion judges it",
     "可共享的锁不是互斥锁；由 mutual-exclusion 判定"},
    {"the lock is kept at several servers: when it is free, no single one says",
     "锁保存在多个服务器上：何时空闲，没有哪一个说了算"},
    // What breaks.
    {"{} got the lock at {} while {}, who got it at {}, still believed to hold it (until {})",
     "{0} 在 {1} 得到锁，而 {2} 在 {3} 得到它之后仍认为自己持有（直到 {4}）"},
    {"{}'s {} removed at {} the lock that {} had been granted at {} with a lease until {}",
     "{0} 的 {1} 在 {2} 删除了 {3} 在 {4} 得到、租约到 {5} 的锁"},
    {"{}'s {} removed at {} the lock that {} had been granted at {}", "{0} 的 {1} 在 {2} 删除了 {3} 在 {4} 得到的锁"},
    {"{} was told at {} that its release succeeded, but the lock was not {}'s any more",
     "{0} 在 {1} 被告知释放成功，但锁已经不是 {2} 的了"},
    {"{} was told at {} that its release succeeded, but it had never got the lock",
     "{0} 在 {1} 被告知释放成功，但它从未得到过锁"},
    {"{} was told at {} that it had not got the lock, but what it wrote stays there",
     "{0} 在 {1} 被告知没有得到锁，但它写下的内容留在那里"},
    {"{}'s write with token {} was applied at {}, after {}'s with token {} at {}",
     "{0} 带令牌 {1} 的写入在 {2} 生效，晚于 {3} 带令牌 {4} 的写入（{5}）"},
    {"{}'s write was applied at {}, after that at {} of {}, who was granted the lock later",
     "{0} 的写入在 {1} 生效，晚于 {3} 在 {2} 的写入，而 {3} 更晚得到锁"},
    {"{}'s update at {} is lost: {} had read {} at {}, before it, and overwrote it at {}",
     "{0} 在 {1} 的更新丢失了：{2} 在此之前的 {4} 读了 {3}，并在 {5} 覆盖了它"},
    {"{} has tried since {}, and from {} on nobody held it for longer than {}",
     "{0} 从 {1} 起一直尝试，而从 {2} 起超过 {3} 无人持有"},
    {"{} still could not get the lock {} after all others had ended at {} ({} allowed)",
     "其他各方在 {2} 都结束之后，过了 {1}，{0} 仍得不到锁（允许 {3}）"},
    {"{} (since {}) and {} (since {}) all believed at {} to hold one of {} place{}",
     "{0}（自 {1} 起）和 {2}（自 {3} 起）在 {4} 都认为自己占有 {5} 个名额之一"},
    {"{}'s release found at {} what {}, who was refused, had written over its lock, and could not free it",
     "{0} 的释放在 {1} 发现，被拒的 {2} 改写了它的锁，因此无法放开"},
    {"{}'s lease, which was to be renewed, ran out at {}, and it still believed to hold the lock",
     "{0} 本应续租的租约在 {1} 到期，它仍认为自己持有锁"},
    {"at {} a renewal was sent for {}, which did not hold the lock any more",
     "{0} 时为 {1} 发出了续租，而它已不再持有锁"},
    {"at {} a renewal was sent for {}, which was done with the lock from {} on and never gave it back",
     "{0} 时为 {1} 发出了续租，而它从 {2} 起就不再使用锁，也没有归还"},
    {"{}'s inner release freed the lock at {}, while it still held it",
     "{0} 的内层释放在 {1} 就放掉了锁，而它还持有着"},
    {"{} could not take the lock again that it held: it gave up at {}", "{0} 无法重入自己持有的锁：在 {1} 放弃"},
    {"whose place {} gave back at {} the server does not say; the algorithm may: client.granted, client.freed",
     "{0} 在 {1} 归还的是谁的名额，服务器没有说；算法可以说明：client.granted、client.freed"},
    {"{} came at {}, when everybody was done or dead, tried again and again as its program does, and did not get the "
     "lock, not within {} ({} allowed)",
     "{0} 在 {1} 到来，其他人都已做完或死去；它按程序一再尝试，{2} 内没有得到锁（允许 {3}）"},
    {"{} came at {} and got the lock {} later ({} allowed)", "{0} 在 {1} 到来，{2} 之后得到锁（允许 {3}）"},
    {"{} bought {} and was left with {}", "{0} 买了 {1} 之后余额为 {2}"},
    {"{} came at {}, {} at {}; {} got it at {}, {} was turned away, though nothing had become free",
     "{0} 在 {1} 到，{2} 在 {3} 到；{4} 在 {5} 得到，{6} 被拒，尽管没有空出名额"},
    {"{} came at {}, {} at {}; {} got it at {}, {} only at {}",
     "{0} 在 {1} 到，{2} 在 {3} 到；{4} 在 {5} 得到，{6} 到 {7} 才得到"},
    {"{} waited {} for a lock that was free from {} on ({} allowed)", "{0} 为从 {2} 起就空闲的锁等了 {1}（允许 {3}）"},
    {"{} waits for {}, which {} holds; {} waits for {}, which {} holds",
     "{0} 等待 {2} 持有的 {1}；{3} 等待 {5} 持有的 {4}"},
    {"{}; the last to hold it and not give it back was {}, from {} on",
     "{0~}；最后一个持有而没有归还的是 {1}，从 {2} 起"},
};

/// What the checker says in words that fit any number, where there are two.
constexpr Sentence kPlain[] = {
    {"{} (since {}) and {} (since {}) all believed at {} to hold one of 1 place",
     "{0} (since {1}) and {2} (since {3}) both believed at {4} to hold the only place"},
};

/// A kind of object, or else a reason within a reason.
std::optional<std::string> within_reason(std::string_view part) {
  if (auto object = said_in_chinese(part, kObjects)) return object;
  return in_chinese(part);
}

}  // namespace

std::optional<std::string> in_chinese(std::string_view reason) {
  if (auto conflict = conflict_in(Language::zh, reason)) return conflict;
  // The sentence that goes on would match its beginning as well.
  constexpr std::size_t kLast = std::size(kSentences) - 1;
  if (reason.find("; the last to hold it") != std::string_view::npos)
    return said_in_chinese(reason, std::span(kSentences).subspan(kLast), within_reason);
  return said_in_chinese(reason, std::span(kSentences).first(kLast), within_reason);
}

std::string reason_in(Language language, const std::string& reason) {
  const std::string rounded = with_rounded_times(reason);
  if (language == Language::zh) return in_chinese(rounded).value_or(rounded);
  if (const auto conflict = conflict_in(language, rounded)) return *conflict;
  return said_in_chinese(rounded, kPlain).value_or(rounded);
}

std::string with_reasons(const NamesAndReasons& properties, Language language) {
  const bool zh = language == Language::zh;
  std::vector<std::pair<std::string_view, std::vector<std::string>>> reasons;
  for (const auto& [name, why] : properties) {
    const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == why; });
    if (same == reasons.end())
      reasons.push_back({why, {name}});
    else
      same->second.push_back(name);
  }
  std::vector<std::string> parts;
  for (const auto& [why, names] : reasons) {
    parts.push_back(joined(names));
    if (!why.empty())
      parts.back() += fmt::format(fmt::runtime(zh ? "（{}）" : " ({})"), reason_in(language, std::string(why)));
  }
  return joined(parts, zh ? "；" : "; ");
}

}  // namespace lockstep::reports
