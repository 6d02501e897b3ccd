#include "scenarios/witness/witness_story.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/story/empty_witness.hpp"
#include "scenarios/story/step_name.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;

/// A sentence, and when what it tells happens.
struct Sentence {
  Duration at;
  Text text;
  std::size_t number = 0;  ///< the order of those of one moment
};

std::string listed(const std::vector<std::string>& names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? std::string(last) : std::string(", ");
    text += names[i];
  }
  return text;
}

/// What a violation is, as the title says it.
Text headline(std::string_view property, const std::vector<std::string>& by) {
  const checker::BothLanguages listing{listed(by, " and "), listed(by, " 和 ")};
  if (const auto told = checker::property_named(property).headline) {
    checker::BothLanguages text = told(listing, by.size());
    return {std::move(text.en), std::move(text.zh)};
  }
  return {fmt::format("{} is violated by {}", property, listing.en),
          fmt::format("{} 被 {} 违反", property, listing.zh)};
}

Text step_text(const Trigger& trigger) {
  const std::string& step = trigger.step;
  const std::string nth = trigger.occurrence == 1 ? "" : fmt::format("#{}", trigger.occurrence);
  if (step == "start") return {"as soon as it has started", "刚启动之后"};
  if (step == "work") return {"when its work is done", "工作做完之后"};
  if (step == "tick") return {"when its watchdog wakes up", "看门狗醒来时"};
  if (step == "sleep") return {"when it has slept", "睡眠结束之后"};
  if (step == "timeout") return {"when it has given up waiting for a reply", "放弃等待答复之后"};
  if (step == "reset") return {"when its connection is lost", "连接断开之后"};
  if (step.find('.') != std::string::npos) {
    return {fmt::format("when it has carried out {}{} and not answered yet", step, nth),
            fmt::format("执行完 {}{}、尚未答复时", step, nth)};
  }
  return {fmt::format("when it has the reply to its {}{}", step, nth), fmt::format("收到 {}{} 的答复之后", step, nth)};
}

Sentence sentence_of(const FaultSpec& fault, Duration at) {
  Sentence sentence{at, {}};
  const std::string time = sim::to_string(at);
  const std::string length = sim::to_string(fault.length.lo);
  const bool has_step = fault.trigger.kind != Trigger::Kind::at;
  const Text when = has_step ? step_text(fault.trigger) : Text{};
  const std::string en = fmt::format("at {}{}", time, has_step ? ", " + when.en : "");
  const std::string zh = fmt::format("在 {}{}", time, has_step ? "（" + when.zh + "）" : " ");
  switch (fault.kind) {
    case FaultSpec::Kind::pause:
      sentence.text = {fmt::format("{} is paused for {} {}.", fault.who, length, en),
                       fmt::format("{} {}停顿 {}。", fault.who, zh, length)};
      break;
    case FaultSpec::Kind::crash: {
      const std::string back = fault.restart_after ? sim::to_string(fault.restart_after->lo) : "";
      sentence.text = {
          fmt::format("{} crashes {}{}.", fault.who, en,
                      back.empty() ? " and does not come back" : ", and is back after " + back),
          fmt::format("{} {}崩溃{}。", fault.who, zh, back.empty() ? "，不再恢复" : "，" + back + " 后恢复")};
      break;
    }
    case FaultSpec::Kind::jump: {
      const std::string by = sim::to_string(fault.by.lo);
      sentence.text = {fmt::format("The clock of {} jumps by {} at {}.", fault.who, by, time),
                       fmt::format("{} 的时钟在 {} 跳变 {}。", fault.who, time, by)};
      break;
    }
    case FaultSpec::Kind::lose: {
      const bool is_reply = fault.direction == FaultSpec::Direction::reply;
      const std::string what = fmt::format("{}.{}#{}", fault.who, fault.trigger.step, fault.trigger.occurrence);
      sentence.text = {fmt::format("{} {} is lost.", is_reply ? "The reply to" : "The request", what),
                       is_reply ? fmt::format("{} 的答复丢失。", what) : fmt::format("请求 {} 丢失。", what)};
      break;
    }
    case FaultSpec::Kind::delay: {
      const bool is_reply = fault.direction == FaultSpec::Direction::reply;
      const std::string what = fmt::format("{}.{}#{}", fault.who, fault.trigger.step, fault.trigger.occurrence);
      sentence.text = {
          fmt::format("{} {} takes {} longer.", is_reply ? "The reply to" : "The request", what, length),
          is_reply ? fmt::format("{} 的答复晚到 {}。", what, length) : fmt::format("请求 {} 晚到 {}。", what, length)};
      break;
    }
    case FaultSpec::Kind::skew: break;  // no [[fault]]: the story's clocks say it
    case FaultSpec::Kind::partition:
      sentence.text = {fmt::format("For {}, from {} on, no message passes between {} and {}.", length, time,
                                   listed(fault.between[0], " and "), listed(fault.between[1], " and ")),
                       fmt::format("从 {} 起的 {} 内，{} 与 {} 之间消息不通。", time, length,
                                   listed(fault.between[0], " 和 "), listed(fault.between[1], " 和 "))};
      break;
  }
  return sentence;
}

/// The first fault, as the title mentions it; if there are more, how many.
Text cause(const std::vector<FaultSpec>& faults, const std::vector<std::string>& skewed) {
  const std::size_t count = faults.size() + skewed.size();
  if (count == 0) return {"", ""};
  if (count > 1) return {fmt::format(" after {} faults", count), fmt::format("：{} 次故障之后", count)};
  if (!skewed.empty())
    return {", the clock of " + skewed.front() + " being off", "：" + skewed.front() + " 的时钟不准"};
  const FaultSpec& fault = faults.front();
  switch (fault.kind) {
    case FaultSpec::Kind::pause: {
      const std::string length = sim::to_string(fault.length.lo);
      return {fmt::format(" after {} is paused for {}", fault.who, length),
              fmt::format("：{} 停顿 {} 之后", fault.who, length)};
    }
    case FaultSpec::Kind::crash:
      return {fmt::format(" after {} crashes", fault.who), fmt::format("：{} 崩溃之后", fault.who)};
    case FaultSpec::Kind::jump:
      return {fmt::format(" after the clock of {} jumps", fault.who), fmt::format("：{} 的时钟跳变之后", fault.who)};
    case FaultSpec::Kind::lose: return {" after a message is lost", "：一条消息丢失之后"};
    case FaultSpec::Kind::delay: return {" after a message is delayed", "：一条消息延迟之后"};
    case FaultSpec::Kind::partition: return {" after a partition", "：网络分区之后"};
    default: return {"", ""};
  }
}

void add_operations(std::vector<Sentence>& sentences, const Outcome& outcome) {
  for (const sim::Operation& operation : outcome.history.operations) {
    const Lane& lane = outcome.lanes[operation.process.index];
    if (lane.role != Lane::Role::client) continue;
    const Duration begun = operation.invoked.offset();
    const Duration done = operation.completed.offset();
    const std::string& who = lane.name;
    if (operation.function == "acquire" && operation.phase == sim::Phase::ok) {
      sentences.push_back({done,
                           {fmt::format("{} gets the lock at {}.", who, sim::to_string(done)),
                            fmt::format("{} 在 {} 得到锁。", who, sim::to_string(done))}});
    } else if (operation.function == "acquire" && operation.phase == sim::Phase::info) {
      sentences.push_back(
          {done,
           {fmt::format("{} gives up at {} without knowing whether it has the lock.", who, sim::to_string(done)),
            fmt::format("{} 在 {} 放弃，不知道自己是否得到了锁。", who, sim::to_string(done))}});
    } else if (operation.function == "release") {
      sentences.push_back({begun,
                           {fmt::format("{} begins to give the lock back at {}.", who, sim::to_string(begun)),
                            fmt::format("{} 在 {} 开始释放锁。", who, sim::to_string(begun))}});
    }
  }
}

}  // namespace

void tell(Scenario& witness, const Scenario& original, const Outcome& outcome, std::string_view property) {
  const auto judgement = std::find_if(outcome.properties.begin(), outcome.properties.end(),
                                      [&](const Judgement& j) { return j.finding.property == property; });
  std::vector<std::string> by;
  for (const sim::ProcessId process : judgement->finding.by) by.push_back(outcome.lanes[process.index].name);

  std::vector<Sentence> sentences;
  std::vector<std::string> skewed;
  const auto add_skew = [&](const std::string& name, Duration before, Duration now) {
    if (before == now) return;
    skewed.push_back(name);
    const std::string by_much = sim::to_string(now - before);
    sentences.push_back({-Duration::forever(),
                         {fmt::format("The clock of {} is off by {} from the start.", name, by_much),
                          fmt::format("{} 的时钟从一开始就偏差 {}。", name, by_much)}});
  };
  for (std::size_t i = 0; i < witness.clients.size(); ++i) {
    add_skew(witness.clients[i].name, original.clients[i].clock.offset, witness.clients[i].clock.offset);
  }
  for (std::size_t i = 0; i < witness.servers.size(); ++i) {
    add_skew(witness.servers[i].name, original.servers[i].clock.offset, witness.servers[i].clock.offset);
  }
  add_operations(sentences, outcome);
  // The trace has a record of each fault, with its time.
  for (const FaultSpec& fault : witness.faults) {
    Duration at = fault.trigger.time;
    if (fault.trigger.kind != Trigger::Kind::at) {
      for (const sim::Interruption& interruption : outcome.history.interruptions) {
        const bool is_it =
            outcome.lanes[interruption.process.index].name == fault.who &&
            (fault.kind != FaultSpec::Kind::pause ||
             (interruption.until && interruption.until->offset() - interruption.from.offset() == fault.length.lo));
        if (is_it) at = interruption.from.offset();
      }
    }
    if (fault.kind == FaultSpec::Kind::lose || fault.kind == FaultSpec::Kind::delay) {
      std::int64_t number = 0;
      for (const sim::TraceRecord& record : outcome.trace.records) {
        const bool is_reply = fault.direction == FaultSpec::Direction::reply;
        const sim::ProcessId client = is_reply ? record.process : record.from;
        const bool is_named = record.kind == sim::EventKind::message && record.is_reply == is_reply &&
                              record.name == message_named(fault.trigger.step) &&
                              outcome.lanes[client.index].name == fault.who;
        const bool is_it =
            is_named && (record.lost || (fault.kind == FaultSpec::Kind::delay && ++number == fault.trigger.occurrence));
        if (is_it) at = record.sent.offset();
      }
    }
    sentences.push_back(sentence_of(fault, at));
  }
  for (std::size_t i = 0; i < sentences.size(); ++i) sentences[i].number = i;
  std::sort(sentences.begin(), sentences.end(),
            [](const Sentence& a, const Sentence& b) { return std::pair(a.at, a.number) < std::pair(b.at, b.number); });

  Text story;
  for (const Sentence& sentence : sentences) {
    story.en += (story.en.empty() ? "" : " ") + sentence.text.en;
    story.zh += sentence.text.zh;
  }
  const Text head = headline(property, by);
  const Text why = cause(witness.faults, skewed);
  witness.title = {head.en + why.en, head.zh + why.zh};
  const std::string finding = judgement->finding.why;
  story.en += fmt::format("{}So {} is violated: {}.", story.en.empty() ? "" : " ", property, finding);
  story.zh += fmt::format("于是 {} 被违反：{}。", property, head.zh);
  witness.story = std::move(story);
  witness.lesson = lesson_of_witness(original.id, property);
}

}  // namespace lockstep::scenarios
