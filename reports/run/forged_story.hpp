#pragma once

// A small story made by hand, for tests of the reports: A gets the lock, is paused beyond its lease, and B, whose clock
// is 200ms ahead, gets it too. Nothing ran; the reports must not care.

#include <string>
#include <utility>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

class ForgedStory {
 public:
  static constexpr sim::ProcessId A{0}, B{1}, redis{2}, probe{3};

  ForgedStory() {
    scenarios::Scenario& scenario = story_.scenario;
    scenario.file = "stories/pause.toml";
    scenario.id = "pause";
    scenario.title = {"A pause outlives the lease", "停顿超过了租约"};
    scenario.story = {"A stops for 150ms. Its lease runs out, and B gets the lock.",
                      "A 停顿了 150 毫秒。租约到期,B 得到锁。"};
    scenario.lesson = {"A paused client cannot notice that it is late.", "停顿的客户端不可能发现自己迟到了。"};
    scenario.reproduces = {"F003-2"};
    scenario.lock.algorithm = "set-nx-px-lua";
    scenario.source = "forged";
    scenarios::Outcome& outcome = story_.outcome;
    using Role = scenarios::Lane::Role;
    outcome.lanes = {{"A", Role::client, {}},
                     {"B", Role::client, {.offset = sim::Duration::milliseconds(200)}},
                     {"redis", Role::server, {}},
                     {"probe", Role::probe, {}}};
    outcome.digest = 0xabc;
    outcome.events = 12;

    acquire(A, 0, "SET lock A-1 NX PX 100");
    interrupt(sim::Interruption::Kind::pause, A, 2, 152);
    outcome.history.effects.push_back(
        {.kind = sim::Effect::Kind::expire, .server = redis, .object = "lock", .at = ms(121), .step = 3});
    acquire(B, 120, "SET lock B-1 NX PX 100");
    work_ends(B, 140);
    release(B, 140, true);
    work_ends(A, 152);
    release(A, 152, false);

    checker::Finding broken{
        .property = "mutual-exclusion", .view = checker::View::belief, .verdict = checker::Verdict::violated};
    broken.by = {A, B};
    broken.at = ms(122);
    broken.evidence = {2, 4};
    broken.why = "B got the lock at 122ms while A, who got it at 2ms, still believed to hold it (until 152ms)";
    scenarios::Expectation expectation{.property = "mutual-exclusion", .verdict = checker::Verdict::violated};
    expectation.violated_by = {"A", "B"};
    outcome.properties.push_back({.finding = broken, .expected = expectation});
    checker::Finding kept{.property = "own-release", .view = checker::View::server, .verdict = checker::Verdict::holds};
    kept.why = "2 releases";
    outcome.properties.push_back({.finding = kept, .expected = std::nullopt});
  }

  const Story& story() const { return story_; }
  Story& story() { return story_; }

  /// The same run, but its file expected mutual exclusion.
  static Story unexpected() {
    ForgedStory forged;
    scenarios::Judgement& judgement = forged.story_.outcome.properties.front();
    judgement.expected = scenarios::Expectation{.property = "mutual-exclusion", .verdict = checker::Verdict::holds};
    judgement.as_expected = false;
    forged.story_.outcome.as_expected = false;
    return std::move(forged.story_);
  }

  static sim::Instant ms(std::int64_t n) { return sim::Instant::at(sim::Duration::milliseconds(n)); }

  /// A request that leaves at `sent`, and its answer; each takes 1ms.
  void exchange(sim::ProcessId client, std::int64_t sent, sim::Step cause, const std::string& text,
                const std::string& answer) {
    const std::string name = text.substr(0, text.find(' '));
    const sim::Step handled = ++step_;
    add({.step = handled,
         .cause = cause,
         .kind = sim::EventKind::message,
         .process = redis,
         .from = client,
         .sent = ms(sent),
         .at = ms(sent + 1),
         .name = name,
         .text = text});
    const sim::Step answered = ++step_;
    add({.step = answered,
         .cause = handled,
         .kind = sim::EventKind::message,
         .process = client,
         .from = redis,
         .sent = ms(sent + 1),
         .at = ms(sent + 2),
         .name = name,
         .text = answer,
         .is_reply = true});
  }

  sim::Operation& invoke(sim::ProcessId client, std::string_view function, std::int64_t at) {
    auto& operations = story_.outcome.history.operations;
    sim::Operation operation;
    operation.id = static_cast<sim::OperationId>(operations.size() + 1);
    operation.process = client;
    operation.function = function;
    operation.object = "lock";
    operation.invoked = ms(at);
    operation.invoked_in = step_;
    operations.push_back(operation);
    return operations.back();
  }

  void complete(sim::Operation& operation, sim::Phase phase, std::int64_t at) {
    operation.phase = phase;
    operation.completed = ms(at);
    operation.completed_in = step_;
  }

  void acquire(sim::ProcessId client, std::int64_t at, const std::string& command) {
    sim::Operation& operation = invoke(client, "acquire", at);
    exchange(client, at, step_, command, "OK");
    complete(operation, sim::Phase::ok, at + 2);
    effect(sim::Effect::Kind::write, client, at + 1, step_ - 1);
    held_[client.index] = operation.id;
  }

  void release(sim::ProcessId client, std::int64_t at, bool deletes) {
    sim::Operation& operation = invoke(client, "release", at);
    operation.of = held_[client.index];
    exchange(client, at, step_, "EVAL <script> 1 lock " + story_.outcome.lanes[client.index].name + "-1",
             deletes ? "(integer) 1" : "(integer) 0");
    complete(operation, deletes ? sim::Phase::ok : sim::Phase::fail, at + 2);
    if (deletes) effect(sim::Effect::Kind::remove, client, at + 1, step_ - 1);
  }

  void work_ends(sim::ProcessId client, std::int64_t at) {
    const sim::Step before = step_;
    add({.step = ++step_,
         .cause = before,
         .kind = sim::EventKind::timer,
         .process = client,
         .from = client,
         .sent = ms(at),
         .at = ms(at),
         .name = "work",
         .text = "work"});
  }

  void interrupt(sim::Interruption::Kind kind, sim::ProcessId process, std::int64_t from, std::int64_t until) {
    story_.outcome.history.interruptions.push_back({kind, process, ms(from), step_, ms(until)});
  }

 private:
  void effect(sim::Effect::Kind kind, sim::ProcessId by, std::int64_t at, sim::Step step) {
    story_.outcome.history.effects.push_back(
        {.kind = kind, .server = redis, .object = "lock", .by = by, .at = ms(at), .step = step});
  }

  void add(sim::TraceRecord record) {
    record.local = record.at + story_.outcome.lanes[record.process.index].clock.offset;
    story_.outcome.trace.records.push_back(std::move(record));
  }

  Story story_;
  sim::Step step_ = 0;
  sim::OperationId held_[4] = {};
};

}  // namespace lockstep::reports
