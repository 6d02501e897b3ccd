#include "scenarios/running/random_faults.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "scenarios/deployment/partition_sides.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/step_name.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::Random;

/// Uniform, but the ends of a range are where things break: each of them one time in four.
Duration one_of(DurationRange range, Random& random) {
  if (range.is_exact() || random.one_in(4)) return range.lo;
  if (random.one_in(3)) return range.hi;
  constexpr std::int64_t kRound = 1'000'000;  // whole milliseconds read better, where the range has room for them
  const std::int64_t ns = random.between(range.lo.count_ns(), range.hi.count_ns());
  const std::int64_t rounded = ns / kRound * kRound;
  return Duration::nanoseconds(rounded >= range.lo.count_ns() ? rounded : ns);
}

void fix(DurationRange& range, Random& random) { range = DurationRange::exactly(one_of(range, random)); }

/// A step of a client, and how often the client comes to it when nothing goes wrong.
struct Step {
  std::string client;
  std::string name;
  std::int64_t occurrence = 1;
  bool is_message = true;
  sim::Activity during = sim::Activity::anything;  ///< what the request belongs to, if to anything
};

/// What the client was at when this reply reached it.
sim::Activity activity_at(const Outcome& outcome, const sim::TraceRecord& reply) {
  for (const sim::Operation& operation : outcome.history.operations) {
    const bool is_his = outcome.history.host_of(operation.process) == reply.process;
    if (!is_his || operation.invoked_in >= reply.step || operation.completed_in < reply.step) continue;
    const sim::Activity activity = sim::activity_of(operation.function);
    if (activity != sim::Activity::anything) return activity;
  }
  return sim::Activity::anything;
}

std::vector<Step> steps_of(const Scenario& undisturbed, const models::locks::Catalogue& catalogue) {
  std::vector<Step> steps;
  const auto nothing = [](std::string_view) { return false; };
  const auto result =
      run(undisturbed, catalogue, {.trace = true, .places_in_programs = false, .texts = false, .asks = nothing});
  const auto* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return steps;
  std::map<std::pair<std::string, std::string>, std::int64_t> seen;
  for (const sim::TraceRecord& record : outcome->trace.records) {
    if (record.kind != sim::EventKind::message || !record.is_reply || record.name.empty()) continue;
    if (record.process.index >= undisturbed.clients.size()) continue;
    if (record.name == "MESSAGE") continue;  // nobody asked for it, and it is not struck alone
    const std::string& client = outcome->lanes[record.process.index].name;
    const std::string step = step_in_file(record.name);
    steps.push_back({client, step, ++seen[{client, step}], true, activity_at(*outcome, record)});
  }
  for (const ClientSpec& client : undisturbed.clients) {
    if (!client.commands.empty()) continue;
    steps.push_back({client.name, "acquire", 1, false});
    steps.push_back({client.name, "release", 1, false});
  }
  return steps;
}

class Drawing {
 public:
  Drawing(const Scenario& scenario, const models::locks::Catalogue& catalogue, Random& random)
      : drawn_(scenario), catalogue_(catalogue), random_(random) {
    fix_ranges();
    drawn_.may.clear();
    drawn_.pin.clear();
    drawn_.schedule.clear();
    undisturbed_ = drawn_;
    for (const ClientSpec& client : drawn_.clients) latest_ = std::max(latest_, client.acquire_at.hi + client.hold.hi);
    latest_ = latest_ + latest_;
    for (const MaySpec& may : scenario.may) strike(may);
    delay_some();
  }

  Scenario take() { return std::move(drawn_); }

 private:
  void fix_ranges() {
    const DurationRange latency = drawn_.network.latency;
    slack_ = sim::Duration::forever();
    const auto fix_latency = [&](std::optional<DurationRange>& own) {
      if (!own) own = latency;
      const Duration longest = own->hi;
      fix(*own, random_);
      slack_ = std::min(slack_, longest - own->hi);
    };
    for (ServerSpec& server : drawn_.servers) fix_latency(server.latency);
    if (drawn_.resource) fix_latency(drawn_.resource->latency);
    drawn_.network.latency = DurationRange::exactly(latency.lo);
    if (drawn_.network.replication) fix(*drawn_.network.replication, random_);
    for (ClientSpec& client : drawn_.clients) {
      fix(client.acquire_at, random_);
      fix(client.hold, random_);
      fix(client.between, random_);
      if (client.retry) fix(*client.retry, random_);
    }
  }

  /// A run of its own, so only for whoever asks: half of the draws strike at no step.
  const std::vector<Step>& steps() {
    if (!steps_) steps_ = steps_of(undisturbed_, catalogue_);
    return *steps_;
  }

  Step some_step(bool of_message, const std::vector<std::string>& who) {
    std::vector<const Step*> fitting;
    for (const Step& step : steps()) {
      const bool is_of_them = who.empty() || std::find(who.begin(), who.end(), step.client) != who.end();
      if (is_of_them && (step.is_message || !of_message)) fitting.push_back(&step);
    }
    return fitting.empty() ? Step() : *fitting[random_.below(fitting.size())];
  }

  bool is_server(const std::string& name) const {
    return std::any_of(drawn_.servers.begin(), drawn_.servers.end(), [&](const auto& s) { return s.name == name; });
  }

  std::string some_name(const MaySpec& may) {
    if (!may.who.empty()) return may.who[random_.below(may.who.size())];
    if (entry_of(may.kind).unless_named == sim::Whose::servers)
      return drawn_.servers[random_.below(drawn_.servers.size())].name;
    return drawn_.clients[random_.below(drawn_.clients.size())].name;
  }

  Trigger some_moment(const std::string& who) {
    Trigger trigger;
    const Step step = is_server(who) || random_.one_in(3) ? Step() : some_step(false, {who});
    if (step.name.empty()) {
      trigger.time = Duration::milliseconds(random_.between(0, latest_.count_ns() / 1'000'000));
      return trigger;
    }
    constexpr std::array kMoments{Trigger::Kind::before, Trigger::Kind::sent, Trigger::Kind::after};
    trigger.kind = kMoments[random_.below(kMoments.size())];
    if (!step.is_message && trigger.kind == Trigger::Kind::sent) trigger.kind = Trigger::Kind::after;
    trigger.step = step.name;
    trigger.occurrence = step.occurrence;
    return trigger;
  }

  /// The first moment of the work stands for all of it: a pause makes it last longer.
  Trigger moment_of(sim::Activity activity, const std::string& who) {
    if (activity == sim::Activity::work) return begin_of_work(who);
    std::vector<const Step*> fitting;
    for (const Step& step : steps()) {
      if (step.client == who && step.is_message && step.during == activity) fitting.push_back(&step);
    }
    if (fitting.empty()) return some_moment(who);
    const Step& step = *fitting[random_.below(fitting.size())];
    Trigger trigger;
    trigger.kind = random_.one_in(2) ? Trigger::Kind::before : Trigger::Kind::sent;
    trigger.step = step.name;
    trigger.occurrence = step.occurrence;
    return trigger;
  }

  Trigger begin_of_work(const std::string& who) {
    Trigger trigger;
    trigger.kind = Trigger::Kind::after;
    trigger.step = "acquire";
    for (const ClientSpec& client : drawn_.clients) {
      if (client.name == who) trigger.occurrence = random_.between(1, client.rounds);
    }
    return trigger;
  }

  void strike(const MaySpec& may) {
    for (std::int64_t i = 0; i < may.times; ++i) {
      if (is_from_the_start(may.kind)) {
        skew(may);
        continue;
      }
      if (strikes_message(may.kind)) {
        strike_message(may);
        continue;
      }
      if (cuts_off(may.kind)) {
        separate(may);
        continue;
      }
      FaultSpec fault;
      fault.kind = may.kind;
      fault.at = may.at;
      fault.who = some_name(may);
      fault.trigger = may.during == sim::Activity::anything ? some_moment(fault.who) : moment_of(may.during, fault.who);
      fault.keep = may.keep;
      fault.restart_after = may.restart_after;
      if (const DurationRange* range = length_of(may))
        *length_of(fault) = DurationRange::exactly(one_of(*range, random_));
      drawn_.faults.push_back(std::move(fault));
    }
  }

  void skew(const MaySpec& may) {
    const std::string who = some_name(may);
    const Duration by = one_of(may.length, random_);
    for (ClientSpec& client : drawn_.clients) {
      if (client.name == who) client.clock.offset += by;
    }
    for (ServerSpec& server : drawn_.servers) {
      if (server.name == who) server.clock.offset += by;
    }
  }

  void message_fault(FaultSpec::Kind kind, const Step& step, std::optional<FaultSpec::Direction> direction,
                     Duration length) {
    if (step.name.empty()) return;
    // Two faults cannot have the same message.
    FaultSpec fault;
    fault.kind = kind;
    fault.who = step.client;
    fault.trigger = {.kind = Trigger::Kind::sent, .time = {}, .step = step.name, .occurrence = step.occurrence};
    fault.direction =
        direction.value_or(random_.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply);
    fault.length = DurationRange::exactly(length);
    if (!struck_.insert({step.client, step.name, step.occurrence}).second) return;
    drawn_.faults.push_back(std::move(fault));
  }

  void strike_message(const MaySpec& may) {
    std::vector<const Step*> fitting;
    for (const Step& step : steps()) {
      const bool is_of_them =
          may.who.empty() || std::find(may.who.begin(), may.who.end(), step.client) != may.who.end();
      const bool is_meant = (may.message.empty() || step.name == may.message) &&
                            (may.during == sim::Activity::anything || step.during == may.during);
      if (is_of_them && is_meant && step.is_message) fitting.push_back(&step);
    }
    const bool is_loss = loses_message(may.kind);
    if (fitting.empty()) return;
    const Step step = *fitting[random_.below(fitting.size())];
    message_fault(may.kind, step, may.direction, is_loss ? Duration::zero() : one_of(may.length, random_));
  }

  void separate(const MaySpec& may) {
    const std::vector<PartitionSides> all = partition_sides(drawn_, may);
    FaultSpec fault;
    fault.at = may.at;
    fault.kind = may.kind;
    const PartitionSides& sides = all[random_.below(all.size())];
    fault.between = {sides.left, sides.right};
    fault.trigger.time = Duration::milliseconds(random_.between(0, latest_.count_ns() / 1'000'000));
    fault.length = DurationRange::exactly(one_of(may.length, random_));
    drawn_.faults.push_back(std::move(fault));
  }

  void delay_some() {
    if (slack_ == Duration::zero()) return;
    for (std::uint64_t i = random_.below(3); i > 0; --i)
      message_fault(FaultSpec::Kind::delay, some_step(true, {}), std::nullopt, slack_);
  }

  Scenario drawn_;
  const models::locks::Catalogue& catalogue_;
  Random& random_;
  Scenario undisturbed_;  ///< what is drawn, without its faults
  std::optional<std::vector<Step>> steps_;
  std::set<std::tuple<std::string, std::string, std::int64_t>> struck_;
  Duration latest_;
  Duration slack_;  ///< so much later can any message be and still be in time
};

}  // namespace

Scenario draw_checked(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::uint64_t seed) {
  Scenario story = scenario;
  story.faults.clear();
  story.pin.clear();
  story.schedule.clear();
  story.expect_run.clear();
  for (const Expectation& expectation : scenario.expect_check) {
    if (expectation.verdict == checker::Verdict::holds) story.expect_run.push_back(expectation);
  }
  Random random(seed);
  return draw(story, catalogue, random);
}

Scenario draw(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Random& random) {
  return Drawing(scenario, catalogue, random).take();
}

}  // namespace lockstep::scenarios
