#include "scenarios/witness/witness_story.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/story/empty_witness.hpp"
#include "scenarios/story/step_name.hpp"
#include "sim/worlds/fault_words.hpp"

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

/// `of_client`: the step is a client's, not a server's.
Text step_text(const Trigger& trigger, bool of_client) {
  const std::string& step = trigger.step;
  if (!of_client && (step == "timeout" || step == "sleep" || step == "tick"))
    return {"when a time that it had set itself was up", "自己定的时间到了之后"};
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

Sentence sentence_of(const FaultSpec& fault, bool of_client, Duration at) {
  Sentence sentence{at, {}};
  const std::string time = sim::to_string(at);
  const sim::DurationRange* own_length = length_of(fault);
  const std::string length = own_length == nullptr ? "" : sim::to_string(own_length->lo);
  const bool has_step = fault.trigger.kind != Trigger::Kind::at;
  const Text when = has_step ? step_text(fault.trigger, of_client) : Text{};
  const bool comes_back = fault.restart_after.has_value();
  const bool is_reply = fault.direction == FaultSpec::Direction::reply;
  const std::string what = fmt::format("{}.{}#{}", fault.who, fault.trigger.step, fault.trigger.occurrence);
  const auto side = [&](std::size_t i, std::string_view conjunction) {
    return i < fault.between.size() ? listed(fault.between[i], conjunction) : std::string();
  };
  const sim::Words words = sim::words_of(fault.kind).happened;
  sentence.text.en = fmt::format(
      fmt::runtime(words.en), fmt::arg("who", fault.who), fmt::arg("length", length), fmt::arg("time", time),
      fmt::arg("when", fmt::format("at {}{}", time, has_step ? ", " + when.en : "")),
      fmt::arg("back", comes_back ? ", and is back after " + length : " and does not come back"),
      fmt::arg("message", (is_reply ? "The reply to " : "The request ") + what), fmt::arg("left", side(0, " and ")),
      fmt::arg("right", side(1, " and ")));
  sentence.text.zh = fmt::format(fmt::runtime(words.zh), fmt::arg("who", fault.who), fmt::arg("length", length),
                                 fmt::arg("time", time),
                                 fmt::arg("when", fmt::format("在 {}{}", time, has_step ? "（" + when.zh + "）" : " ")),
                                 fmt::arg("back", comes_back ? "，" + length + " 后恢复" : "，不再恢复"),
                                 fmt::arg("message", is_reply ? what + " 的答复" : "请求 " + what + " "),
                                 fmt::arg("left", side(0, " 和 ")), fmt::arg("right", side(1, " 和 ")));
  return sentence;
}

/// The first fault, as the title mentions it; if there are more, how many.
Text cause(const std::vector<FaultSpec>& faults, const std::vector<std::string>& skewed) {
  const std::size_t count = faults.size() + skewed.size();
  if (count == 0) return {"", ""};
  if (count > 1) return {fmt::format(" after {} faults", count), fmt::format("：{} 次故障之后", count)};
  // A clock that is off is no fault of a run.
  const sim::FaultKind kind = skewed.empty() ? faults.front().kind : sim::FaultKind::skew;
  const std::string& who = skewed.empty() ? faults.front().who : skewed.front();
  const sim::DurationRange* length = skewed.empty() ? length_of(faults.front()) : nullptr;
  const auto say = [&](std::string_view text) {
    return fmt::format(fmt::runtime(text), fmt::arg("who", who),
                       fmt::arg("length", length == nullptr ? "" : sim::to_string(length->lo)));
  };
  const sim::Words words = sim::words_of(kind).cause;
  return {say(words.en), say(words.zh)};
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
    const auto say = [&](std::string_view text) {
      return fmt::format(fmt::runtime(text), fmt::arg("who", name), fmt::arg("length", sim::to_string(now - before)));
    };
    const sim::Words words = sim::words_of(sim::FaultKind::skew).happened;
    sentences.push_back({-Duration::forever(), {say(words.en), say(words.zh)}});
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
            (!freezes(fault.kind) ||
             (interruption.until && interruption.until->offset() - interruption.from.offset() == fault.length.lo) ||
             outcome.history.ends_in_crash(interruption));
        if (is_it) at = interruption.from.offset();
      }
    }
    if (strikes_message(fault.kind)) {
      std::int64_t number = 0;
      for (const sim::TraceRecord& record : outcome.trace.records) {
        const bool is_reply = fault.direction == FaultSpec::Direction::reply;
        const sim::ProcessId client = is_reply ? record.process : record.from;
        const bool is_named = record.kind == sim::EventKind::message && record.is_reply == is_reply &&
                              record.name == message_named(fault.trigger.step) &&
                              outcome.lanes[client.index].name == fault.who;
        const bool is_it =
            is_named && (record.lost || (delays_message(fault.kind) && ++number == fault.trigger.occurrence));
        if (is_it) at = record.sent.offset();
      }
    }
    const bool of_client = std::any_of(witness.clients.begin(), witness.clients.end(),
                                       [&](const ClientSpec& client) { return client.name == fault.who; });
    sentences.push_back(sentence_of(fault, of_client, at));
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
