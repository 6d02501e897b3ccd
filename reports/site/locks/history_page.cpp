#include "reports/site/locks/history_page.hpp"

#include <array>
#include <vector>

#include "reports/site/frame/property_markup.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/site/locks/algorithm_texts.hpp"

namespace lockstep::reports::site {
namespace {

constexpr std::array<HistoryStep, 11> kHistory{{
    {"setnx-del", "f000-1-crashed-holder", "Its owner dies, and the key stays for ever.", "持有者死去，键永远留下。",
     "The key gets a time to live.", "给键一个生存时间。"},
    {"setnx-expire-two-step", "f001-1-crash-between",
     "Between the two commands the key has no end, and a client can die there.",
     "两条命令之间键没有期限，客户端可能正好在那里死去。",
     "The end stands in the value itself, which is written in one command.", "把期限写进键值本身，一条命令写入。"},
    {"setnx-ts-del-setnx", "f000-2-both-delete-expired",
     "Two clients read the same expired value; the second deletes the first one's new lock.",
     "两个客户端读到同一个过期的值；第二个删掉了第一个的新锁。",
     "GETSET replaces the value in one step, and tells whom it replaced.", "GETSET 一步替换键值，并告知替换掉的是谁。"},
    {"getset-java", "f000-5-fast-clock-steals-java",
     "Clients judge by their own clocks: to a fast one a live lock is over. And the loser of a race overwrites the "
     "winner's value.",
     "客户端按自己的时钟判断：时钟快的把有效的锁当成过期。竞争的失败者还会覆盖胜者的值。",
     "SET NX PX: key and lease in one command, and only the server's clock counts.",
     "SET NX PX：键与租期在一条命令里，只有服务器的时钟算数。"},
    {"set-nx-px-plain-del", "f001-5-deletes-successors-lock",
     "A late owner deletes the key, and it is its successor's.", "迟到的持有者删除了键，而键已属于后继者。",
     "The value says whose the lock is; the release looks before it deletes.",
     "键值说明锁属于谁；释放前先查看再删除。"},
    {"set-nx-px-get-del", "f001-6-expires-between-get-and-del", "Between the look and the DEL the lock changes hands.",
     "在查看与 DEL 之间锁已易主。", "A script compares and deletes in one step of the server.",
     "脚本在服务器的一步中完成比较与删除。"},
    {"set-nx-px-lua", "f003-1-work-outlives-lease",
     "The work takes longer than the lease, and its owner does not know.", "工作比租期更久，而持有者并不知道。",
     "A watchdog renews the lease while its owner lives.", "看门狗在持有者活着时续期。"},
    {"redisson-lock", "f003-2-watchdog-pause",
     "A pause stops the watchdog as well; the owner goes on as if nothing had happened.",
     "停顿时看门狗也停了；持有者醒来若无其事地继续。",
     "Nothing renews through a pause. Another question comes first: what if the server itself fails? It gets a "
     "replica.",
     "没有什么能在停顿中续期。先看另一个问题：服务器本身坏了怎么办？给它一个从节点。"},
    {"master-replica-lock", "f001-10-failover-forgets-lock",
     "The primary dies before its replica has heard of the lock, and the replica grants it again.",
     "主节点在从节点得知这把锁之前死去，从节点又把锁授予出去。",
     "A majority of independent servers must grant it: no one of them can forget it alone.",
     "必须由独立服务器的多数派授予：任何一台单独遗忘都无妨。"},
    {"redlock-seq", "f003-2-redlock-pause",
     "The owner is paused after it has looked at its clock: every lease ends unseen.",
     "持有者看过时钟之后停顿：任何租期都会在不知不觉中结束。",
     "Each grant carries a number, and the resource refuses an older one.", "每次授予带有编号，资源拒绝较旧的编号。"},
    {"fenced-write", "f004-4-each-believes-alone-fixed",
     "Two clients still believe at once that they hold it. What the resource holds stays right: the belief does no "
     "damage.",
     "两个客户端仍会同时相信自己持有锁。但资源中的数据保持正确：相信不再造成损害。", "", ""},
}};

Values values_of(const Findings& findings, const HistoryStep& step, std::size_t number, std::string_view path) {
  const AlgorithmText* text = find_algorithm_text(step.algorithm);
  const models::locks::Entry* entry = findings.catalogue->find(step.algorithm);
  Values values{{"number", number},
                {"algorithm", algorithm_link(findings, path, step.algorithm)},
                {"summary", entry != nullptr && text != nullptr ? both(entry->summary, text->summary_zh) : ""},
                {"why", both(step.why, step.why_zh)},
                {"story", ""},
                {"repair", both(step.repair, step.repair_zh)}};
  if (const ListedStory* story = find_story(findings, step.story)) {
    std::vector<Values> broken;
    for (const std::string_view name : broken_properties(*story))
      broken.push_back({{"property", property_markup(name)}});
    values.set("story", story_link(path, *story));
    values.set("is_sound", broken.empty());
    values.set("broken", broken);
  }
  return values;
}

/// Of each algorithm that another repairs: what its stories show.
std::vector<Values> repairs(const Findings& findings, std::string_view path) {
  std::vector<Values> rows;
  for (const models::locks::Entry& entry : findings.catalogue->entries()) {
    if (entry.repaired_by.empty()) continue;
    std::vector<Values> shown;
    for (const ListedStory* story : stories_of(findings, entry.id)) {
      if (!broken_properties(*story).empty()) shown.push_back({{"link", story_link(path, *story)}});
    }
    rows.push_back({{"algorithm", algorithm_link(findings, path, entry.id)},
                    {"has_shown", !shown.empty()},
                    {"shown", shown},
                    {"repaired_by", algorithm_link(findings, path, entry.repaired_by)}});
  }
  return rows;
}

}  // namespace

std::span<const HistoryStep> history_steps() { return kHistory; }

Page history_page(const Findings& findings) {
  Page page{.path = "history.html", .title = {"The history of a lock", "一把锁的历史"}};
  page.above = {{"index.html", {"Overview", "总览"}}};
  std::vector<Values> steps;
  for (const HistoryStep& step : history_steps())
    steps.push_back(values_of(findings, step, steps.size() + 1, page.path));
  page.body =
      filled("reports/site/locks/history.mustache", {{"steps", steps}, {"repairs", repairs(findings, page.path)}});
  return page;
}

}  // namespace lockstep::reports::site
