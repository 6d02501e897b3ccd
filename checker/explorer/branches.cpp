#include "checker/explorer/branches.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <utility>

#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using Point = std::shared_ptr<BranchPoint>;

Point shared(const Point& from, std::size_t steps_back) {
  Point point = from;
  for (; steps_back > 0; --steps_back) point = point->before;
  return point;
}

void write_answers(std::ostream& out, const std::vector<Answer>& answers) {
  out << ' ' << answers.size();
  for (const Answer& answer : answers) out << ' ' << answer.options << ' ' << answer.index;
}

void write_sleep(std::ostream& out, const std::vector<Sleeping>& sleep) {
  out << ' ' << sleep.size();
  for (const Sleeping& s : sleep) {
    out << ' ' << s.id.value << ' ' << s.process.index << ' ';
    s.footprint.write(out);
    write_answers(out, s.answers);
    out << ' ' << s.is_impossible << ' ' << s.variants;
  }
}

void write_events(std::ostream& out, const std::vector<sim::EventId>& events) {
  out << ' ' << events.size();
  for (const sim::EventId event : events) out << ' ' << event.value;
}

void write_scheduled(std::ostream& out, const std::vector<Scheduled>& scheduled) {
  out << ' ' << scheduled.size();
  for (const Scheduled& s : scheduled) out << ' ' << s.id.value << ' ' << s.process.index;
}

/// Reads numbers that `write` wrote; a size that no search has is refused, so that a foreign file cannot ask for all
/// memory.
class Reader {
 public:
  explicit Reader(std::istream& in) : in_(in) {}

  template <class T>
  T number() {
    T value{};
    in_ >> value;
    return value;
  }
  std::size_t size() {
    const auto n = number<std::size_t>();
    constexpr std::size_t largest = 10'000'000;
    if (n > largest) in_.setstate(std::ios::failbit);
    return in_ ? n : 0;
  }
  sim::EventId id() { return sim::EventId{number<std::uint64_t>()}; }
  sim::ProcessId process() { return sim::ProcessId{number<std::uint16_t>()}; }
  std::vector<Answer> answers() {
    std::vector<Answer> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      const auto options = number<std::uint32_t>();
      list.push_back({options, number<std::uint32_t>()});
    }
    return list;
  }
  std::vector<sim::EventId> events() {
    std::vector<sim::EventId> list;
    for (std::size_t n = size(); n > 0 && in_; --n) list.push_back(id());
    return list;
  }
  std::vector<Scheduled> scheduled() {
    std::vector<Scheduled> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      const sim::EventId event = id();
      list.push_back({event, process()});
    }
    return list;
  }
  /// `points`: null, then those that were written.
  std::vector<std::shared_ptr<Branch>> branches(const std::vector<Point>& points) {
    std::vector<std::shared_ptr<Branch>> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      Branch& branch = *list.emplace_back(std::make_shared<Branch>());
      const std::size_t from = size();
      if (from >= points.size()) in_.setstate(std::ios::failbit);
      if (!in_) break;
      branch.from = points[from];
      branch.at_root = number<bool>();
      branch.chosen = id();
      branch.answers = answers();
      branch.sleep = sleep();
      branch.then = events();
      branch.events = number<std::uint64_t>();
      branch.share = number<std::uint64_t>();
    }
    return list;
  }
  std::vector<Sleeping> sleep() {
    std::vector<Sleeping> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      const sim::EventId event = id();
      const sim::ProcessId owner = process();
      Sleeping& sleeping = list.emplace_back();
      sleeping.id = event;
      sleeping.process = owner;
      sleeping.footprint = Footprint::read(in_);
      sleeping.answers = answers();
      sleeping.is_impossible = number<bool>();
      sleeping.variants = number<std::uint32_t>();
    }
    return list;
  }

 private:
  std::istream& in_;
};

}  // namespace

void BranchStack::take_in(BranchOutcome outcome) {
  sim::invariant(!stack_.empty(), "what was found is of the last branch of a stack");
  const std::shared_ptr<Branch> branch = std::move(stack_.back());
  stack_.pop_back();

  const std::vector<BranchPoint*> way = way_to(branch->from);
  if (!outcome.first.empty()) {
    sim::invariant(!way.empty(), "only an event that was chosen is known to do something");
    std::vector<Sleeping>& sleep = way.back()->sleep;
    std::erase_if(sleep, [&](const Sleeping& sleeping) { return sleeping.id == branch->chosen; });
    std::move(outcome.first.begin(), outcome.first.end(), std::back_inserter(sleep));
  }
  for (auto& [position, reversal] : outcome.reversals) {
    sim::invariant(position < way.size() && !reversal.candidates.empty(),
                   "others are told of reversals on the way to the branch, each with an event that begins it");
    BranchPoint& point = *way[position];
    if (have_common(point.backtrack, reversal.candidates) || have_common(point.given_later, reversal.candidates))
      continue;
    if (is_one_asleep(point.sleep, reversal.candidates)) continue;
    const Scheduled& next = reversal.candidates.front();
    point.given_later.push_back(next);
    stack_.push_back(std::make_shared<Branch>(Branch{.from = shared(branch->from, way.size() - 1 - position),
                                                     .at_root = false,
                                                     .chosen = next.id,
                                                     .answers = {},
                                                     .sleep = point.sleep,
                                                     .then = std::move(reversal.then),
                                                     .events = branch->events_of_parts(),
                                                     .share = 0}));
    // What it does is not known before it is explored.
    point.sleep.push_back({next.id, next.process, Footprint::everything(), {}});
  }

  const std::uint64_t share = branch->share / (outcome.rest.size() + 1);
  share_done_ += share;
  sim::invariant(share_done_ <= kWholeSearch, "no more than the whole search is done");
  for (std::shared_ptr<Branch>& rest : outcome.rest) {
    rest->share = share;
    stack_.push_back(std::move(rest));
  }
  counts_ += outcome.counts;
  counts_.complete = is_done();
}

void BranchStack::write(std::ostream& out) const {
  // Points before those that follow from them.
  std::vector<const BranchPoint*> points;
  for (const std::shared_ptr<Branch>& branch : stack_) {
    for (BranchPoint* point : way_to(branch->from)) point->number = 0;
  }
  for (const std::shared_ptr<Branch>& branch : stack_) {
    for (BranchPoint* point : way_to(branch->from)) {
      if (point->number != 0) continue;
      points.push_back(point);
      point->number = points.size();
    }
  }
  out << counts_.traces << ' ' << counts_.blocked << ' ' << counts_.infeasible << ' ' << counts_.events << ' '
      << share_done_ << '\n'
      << points.size() << '\n';
  for (const BranchPoint* point : points) {
    out << (point->before ? point->before->number : 0) << ' ' << point->chosen.value;
    write_answers(out, point->answers);
    write_sleep(out, point->sleep);
    write_scheduled(out, point->backtrack);
    write_scheduled(out, point->given_later);
    out << '\n';
  }
  out << stack_.size() << '\n';
  for (const std::shared_ptr<Branch>& branch : stack_) {
    out << (branch->from ? branch->from->number : 0) << ' ' << branch->at_root << ' ' << branch->chosen.value;
    write_answers(out, branch->answers);
    write_sleep(out, branch->sleep);
    write_events(out, branch->then);
    out << ' ' << branch->events << ' ' << branch->share << '\n';
  }
}

bool BranchStack::read(std::istream& in) {
  Reader reader(in);
  ExplorerCounts counts;
  counts.traces = reader.number<std::uint64_t>();
  counts.blocked = reader.number<std::uint64_t>();
  counts.infeasible = reader.number<std::uint64_t>();
  counts.events = reader.number<std::uint64_t>();
  const auto share_done = reader.number<std::uint64_t>();
  std::vector<Point> points{nullptr};
  for (std::size_t n = reader.size(); n > 0 && in; --n) {
    const std::size_t before = reader.size();
    if (before >= points.size()) return false;
    auto point = std::make_shared<BranchPoint>();
    point->before = points[before];
    point->chosen = reader.id();
    point->answers = reader.answers();
    point->sleep = reader.sleep();
    point->backtrack = reader.scheduled();
    point->given_later = reader.scheduled();
    points.push_back(std::move(point));
  }
  std::vector<std::shared_ptr<Branch>> stack = reader.branches(points);
  if (!in) return false;
  stack_ = std::move(stack);
  counts_ = counts;
  counts_.complete = is_done();
  share_done_ = share_done;
  return true;
}

}  // namespace lockstep::checker
