#pragma once

// What is said of each kind of fault, in English and Chinese: one row for each, and in {braces} what the sentence is
// about. Whoever says it fills in: {who}, {length}, and what is named beside the column.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/worlds/fault_kinds.hpp"

namespace lockstep::sim {

struct Words {
  std::string_view en;
  std::string_view zh;
};

/// Something that an exploration may reach with a fault, and that it says it has.
struct FaultMark {
  /// Of which victims: holders of the lock, all but these, servers, or anybody. `nobody`: there is no such mark.
  enum class Of : std::uint8_t { nobody, holder, no_holder, server, anybody };
  Of of = Of::nobody;
  Words words;
};

struct FaultWords {
  Words meaning;  ///< one line
  /// What [[may]] allows: {times} "at most one", {s}, {es} of a plural, {whom}, {during} " at work", {back} "for good",
  /// {messages} "requests", {sides} "A and B".
  Words allowed;
  /// A sentence of a witness's story: {time}, {when} "at 5ms, after …", {back} ", and is back after 3ms", {message}
  /// "The request A.SET#1", {left}, {right}.
  Words happened;
  Words cause;  ///< the end of its title, where it is the only fault
  /// From which length on it does harm: {who} "a client", {length} "more than 71ms". Empty: longer is not worse.
  /// `once_back`: where the length is below 0.
  Words once;
  Words once_back;
  Words parameter;
  std::string_view
      strikes;            ///< what the list of a run's events says of its victim; {data}: of a server's; empty: nothing
  Words meanwhile;        ///< what its victim is while it is stopped
  std::string_view over;  ///< what the list says when that is over
  /// What the transitions of a graph of states say: of one that it follows or is, and, of a kind that strikes at
  /// events, of one before it or within work.
  std::string_view graph;
  std::string_view graph_before;
  std::string_view graph_within;
  std::array<FaultMark, 2> marks;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
constexpr FaultWords words_of(FaultKind kind) {
  using Of = FaultMark::Of;
  switch (kind) {
    case FaultKind::pause:
      return {.meaning =
                  {"A process freezes, with its timers and all that it is about to send; what arrives meanwhile waits.",
                   "进程停顿，定时器和待发的消息也一并停住；期间到达的消息等待处理。"},
              .allowed = {"{times} pause{s} of {length}, of {whom}{during}", "{times}：{whom}{during}停顿 {length}"},
              .happened = {"{who} is paused for {length} {when}.", "{who} {when}停顿 {length}。"},
              .cause = {" after {who} is paused for {length}", "：{who} 停顿 {length} 之后"},
              .once = {"once {who} is paused for {length}", "{who}停顿{length}时"},
              .parameter = {"pause", "停顿"},
              .strikes = "is paused for {length}",
              .meanwhile = {"is paused", "停顿"},
              .over = "runs again",
              .graph = ", then {who} is paused",
              .graph_before = ", after a pause of {who}",
              .graph_within = ", with a pause",
              .marks = {{{Of::holder, {"a holder was paused", "持有者被暂停"}},
                         {Of::no_holder,
                          {"a client or server that held no lock was paused", "没有持锁的客户端或服务器被暂停"}}}}};
    case FaultKind::crash:
      return {.meaning = {"A process dies and loses what is not durable; it may come back later.",
                          "进程崩溃，未持久化的内容全部丢失；之后可能恢复。"},
              .allowed = {"{times} crash{es} of {whom}{during}, {back}", "{times}：{whom}{during}崩溃，{back}"},
              .happened = {"{who} crashes {when}{back}.", "{who} {when}崩溃{back}。"},
              .cause = {" after {who} crashes", "：{who} 崩溃之后"},
              .parameter = {"restart_after", "重启时间"},
              .strikes = "crashes{data}",
              .meanwhile = {"is dead", "已崩溃"},
              .over = "comes back",
              .graph = "{who} crashes",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::holder, {"a holder crashed", "持有者崩溃"}},
                         {Of::server, {"a server crashed", "服务器崩溃"}}}}};
    case FaultKind::lose:
      return {.meaning = {"One request or one reply never arrives: its sender does not know what became of it.",
                          "一个请求或一个答复始终没有到达：发送方不知道结果如何。"},
              .allowed = {"{times} {messages} lost on connections of {whom}", "{times}：{whom}的{messages}丢失"},
              .happened = {"{message} is lost.", "{message}丢失。"},
              .cause = {" after a message is lost", "：一条消息丢失之后"},
              .parameter = {},
              .strikes = "",
              .meanwhile = {},
              .over = "",
              .graph = ", and what {who} sends is lost",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::anybody, {"a request or a reply was lost", "请求或回复丢失"}}, {}}}};
    case FaultKind::jump:
      return {.meaning = {"A process's wall clock moves, forward or back; its monotonic clock does not.",
                          "进程的时钟向前或向后跳变；单调时钟不受影响。"},
              .allowed = {"{times} jump{s} of the clock of {whom}, by {length}", "{times}：{whom}的时钟跳变 {length}"},
              .happened = {"The clock of {who} jumps by {length} at {time}.", "{who} 的时钟在 {time} 跳变 {length}。"},
              .cause = {" after the clock of {who} jumps", "：{who} 的时钟跳变之后"},
              .once = {"once a clock jumps by {length}", "时钟跳动{length}时"},
              .once_back = {"once a clock is set back by {length}", "时钟后跳{length}时"},
              .parameter = {"jump", "时钟跳变"},
              .strikes = "its clock jumps by {length}",
              .meanwhile = {},
              .over = "",
              .graph = "{who}'s clock jumps",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::anybody, {"a clock jumped", "时钟跳变"}}, {}}}};
    case FaultKind::skew:
      return {.meaning = {"A process's wall clock is off from the beginning.", "进程的时钟从一开始就不准。"},
              .allowed = {"{times} clock{s} off from the start by {length}, of {whom}",
                          "{times}：{whom}的时钟从一开始就偏差 {length}"},
              .happened = {"The clock of {who} is off by {length} from the start.",
                           "{who} 的时钟从一开始就偏差 {length}。"},
              .cause = {", the clock of {who} being off", "：{who} 的时钟不准"},
              .once = {"once a clock is off by {length}", "时钟偏差{length}时"},
              .once_back = {"once a clock is behind by {length}", "时钟慢{length}时"},
              .parameter = {"skew", "时钟偏差"},
              .strikes = "",
              .meanwhile = {},
              .over = "",
              .graph = "",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::anybody, {"a clock was off from the start", "时钟从一开始就不准"}}, {}}}};
    case FaultKind::delay:
      return {.meaning = {"One request or one reply takes longer than the network by itself would make it.",
                          "一个请求或一个答复比网络本身的延迟来得更晚。"},
              .allowed = {"{times} {messages} delayed by {length}, on connections of {whom}",
                          "{times}：{whom}的{messages}延迟 {length}"},
              .happened = {"{message} takes {length} longer.", "{message}晚到 {length}。"},
              .cause = {" after a message is delayed", "：一条消息延迟之后"},
              .once = {"once a message is delayed by {length}", "消息延迟{length}时"},
              .parameter = {"delay", "消息延迟"},
              .strikes = "",
              .meanwhile = {},
              .over = "",
              .graph = ", and what {who} sends is delayed",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::anybody, {"a request or a reply was delayed", "请求或回复延迟到达"}}, {}}}};
    case FaultKind::partition:
      return {.meaning = {"For a while no message passes between two groups of processes.",
                          "在一段时间内，两组进程之间消息不通。"},
              .allowed = {"{times} partition{s} of {length}, between {sides}", "{times}：{sides}断开 {length}"},
              .happened = {"For {length}, from {time} on, no message passes between {left} and {right}.",
                           "从 {time} 起的 {length} 内，{left} 与 {right} 之间消息不通。"},
              .cause = {" after a partition", "：网络分区之后"},
              .once = {"once a partition lasts {length}", "网络分区持续{length}时"},
              .parameter = {"partition", "网络分区时长"},
              .strikes = "",
              .meanwhile = {},
              .over = "",
              .graph = "",
              .graph_before = "",
              .graph_within = "",
              .marks = {{{Of::anybody, {"a partition held a message up", "网络分区挡住了消息"}}, {}}}};
  }
  return {};  // no kind
}
#pragma GCC diagnostic pop

/// Every sentence that a kind needs is there, in both languages.
static_assert([] {
  const auto is_said = [](Words words) { return !words.en.empty() && !words.zh.empty(); };
  for (const FaultKind kind : kFaultKinds) {
    const FaultKindEntry& entry = entry_of(kind);
    const FaultWords words = words_of(kind);
    for (const Words& always : {words.meaning, words.allowed, words.happened, words.cause, words.marks[0].words}) {
      if (!is_said(always)) return false;
    }
    if (words.marks[0].of == FaultMark::Of::nobody) return false;
    if (is_said(words.parameter) != (entry.length != FaultLength::none)) return false;
    if (words.parameter.en != entry.parameter) return false;
    if (is_said(words.meanwhile) != (entry.stops != HowLong::never)) return false;
    if (words.over.empty() != (entry.stops == HowLong::never)) return false;
    if (is_own_event(kind) && (words.strikes.empty() || words.graph.empty())) return false;
    if (freezes(kind) && (words.strikes.empty() || words.graph_before.empty() || words.graph_within.empty()))
      return false;
  }
  return true;
}());

}  // namespace lockstep::sim
