#include "checker/branches.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <utility>

namespace lockstep::checker {
namespace {

using Point = std::shared_ptr<BranchPoint>;

/// The points from the beginning to this one.
std::vector<BranchPoint*> way_to(const Point& point) {
  std::vector<BranchPoint*> way;
  for (BranchPoint* p = point.get(); p != nullptr; p = p->before.get()) way.push_back(p);
  std::reverse(way.begin(), way.end());
  return way;
}

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
    out << ' ' << s.variants;
  }
}

void write_scheduled(std::ostream& out, const std::vector<Scheduled>& scheduled) {
  out << ' ' << scheduled.size();
  for (const Scheduled& s : scheduled) out << ' ' << s.id.value << ' ' << s.process.index;
}

void write_counts(std::ostream& out, const ExplorerCounts& counts) {
  out << counts.traces << ' ' << counts.blocked << ' ' << counts.infeasible << ' ' << counts.events;
}

/// Reads numbers that `write` wrote; a size that no search has is refused, so that a foreign file cannot ask for all memory.
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
  std::vector<Scheduled> scheduled() {
    std::vector<Scheduled> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      const sim::EventId event = id();
      list.push_back({event, process()});
    }
    return list;
  }
  ExplorerCounts counts() {
    ExplorerCounts counts;
    counts.traces = number<std::uint64_t>();
    counts.blocked = number<std::uint64_t>();
    counts.infeasible = number<std::uint64_t>();
    counts.events = number<std::uint64_t>();
    return counts;
  }
  /// `points`: null, then those that were written.
  std::vector<Branch> branches(const std::vector<Point>& points) {
    std::vector<Branch> list;
    for (std::size_t n = size(); n > 0 && in_; --n) {
      Branch& branch = list.emplace_back();
      const std::size_t from = size();
      if (from >= points.size()) in_.setstate(std::ios::failbit);
      if (!in_) break;
      branch.from = points[from];
      branch.at_root = number<bool>();
      branch.chosen = id();
      branch.answers = answers();
      branch.sleep = sleep();
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
      sleeping.variants = number<std::uint32_t>();
    }
    return list;
  }

 private:
  std::istream& in_;
};

}  // namespace

std::vector<Branch> BranchStack::take_round() {
  const std::size_t n = round_.empty() ? std::min(kRound, stack_.size()) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    round_.push_back(std::move(stack_.back()));
    stack_.pop_back();
  }
  return {round_.begin() + static_cast<std::ptrdiff_t>(outcomes_.size()), round_.end()};
}

void BranchStack::hand_back(std::vector<BranchOutcome> outcomes) {
  std::move(outcomes.begin(), outcomes.end(), std::back_inserter(outcomes_));
  if (outcomes_.size() < round_.size()) return;
  for (std::size_t i = 0; i < round_.size(); ++i) take_in(round_[i], std::move(outcomes_[i]));
  round_.clear();
  outcomes_.clear();
}

void BranchStack::take_in(const Branch& branch, BranchOutcome outcome) {
  const bool was_complete = counts_.complete;
  counts_ += outcome.counts;
  counts_.complete = was_complete;

  const std::vector<BranchPoint*> way = way_to(branch.from);
  for (const BranchOutcome::Reversal& reversal : outcome.reversals) {
    BranchPoint& point = *way[reversal.position];
    const auto is_known = [&](const Scheduled& candidate) {
      return std::any_of(point.backtrack.begin(), point.backtrack.end(),
                         [&](const Scheduled& other) { return other.id == candidate.id; });
    };
    if (std::any_of(reversal.candidates.begin(), reversal.candidates.end(), is_known)) continue;
    const Scheduled& next = reversal.candidates.front();
    point.backtrack.push_back(next);
    if (is_asleep(point.sleep, next.id)) continue;
    stack_.push_back({.from = shared(branch.from, way.size() - 1 - reversal.position),
                      .at_root = false,
                      .chosen = next.id,
                      .answers = {},
                      .sleep = point.sleep,
                      .share = 0});
    point.sleep.push_back({next.id, next.process, Footprint::everything(), {}});
  }

  const std::uint64_t share = branch.share / (outcome.rest.size() + 1);
  share_done_ += share;
  for (Branch& rest : outcome.rest) {
    rest.share = share;
    stack_.push_back(std::move(rest));
  }
}

ExplorerCounts BranchStack::counts() const {
  ExplorerCounts counts = counts_;
  for (const BranchOutcome& outcome : outcomes_) counts += outcome.counts;
  counts.complete = is_done();
  return counts;
}

void BranchStack::write(std::ostream& out) const {
  // Points before those that follow from them.
  std::vector<const BranchPoint*> points;
  const auto collect = [&](const std::vector<Branch>& branches) {
    for (const Branch& branch : branches) {
      for (BranchPoint* point : way_to(branch.from)) {
        if (point->number != 0) continue;
        points.push_back(point);
        point->number = points.size();
      }
    }
  };
  const auto write_branches = [&](const std::vector<Branch>& branches) {
    out << branches.size() << '\n';
    for (const Branch& branch : branches) {
      out << (branch.from ? branch.from->number : 0) << ' ' << branch.at_root << ' ' << branch.chosen.value;
      write_answers(out, branch.answers);
      write_sleep(out, branch.sleep);
      out << ' ' << branch.share << '\n';
    }
  };
  const auto forget = [](const std::vector<Branch>& branches) {
    for (const Branch& branch : branches) {
      for (BranchPoint* point : way_to(branch.from)) point->number = 0;
    }
  };
  forget(stack_);
  forget(round_);
  for (const BranchOutcome& outcome : outcomes_) forget(outcome.rest);
  collect(stack_);
  collect(round_);
  for (const BranchOutcome& outcome : outcomes_) collect(outcome.rest);
  write_counts(out, counts_);
  out << ' ' << share_done_ << '\n' << points.size() << '\n';
  for (const BranchPoint* point : points) {
    out << (point->before ? point->before->number : 0) << ' ' << point->chosen.value;
    write_answers(out, point->answers);
    write_sleep(out, point->sleep);
    write_scheduled(out, point->backtrack);
    out << '\n';
  }
  write_branches(stack_);
  write_branches(round_);
  out << outcomes_.size() << '\n';
  for (const BranchOutcome& outcome : outcomes_) {
    write_counts(out, outcome.counts);
    out << ' ' << outcome.counts.complete << ' ' << outcome.reversals.size();
    for (const BranchOutcome::Reversal& reversal : outcome.reversals) {
      out << ' ' << reversal.position;
      write_scheduled(out, reversal.candidates);
    }
    out << '\n';
    write_branches(outcome.rest);
  }
}

bool BranchStack::read(std::istream& in) {
  Reader reader(in);
  const ExplorerCounts counts = reader.counts();
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
    points.push_back(std::move(point));
  }
  std::vector<Branch> stack = reader.branches(points);
  std::vector<Branch> round = reader.branches(points);
  std::vector<BranchOutcome> outcomes;
  for (std::size_t n = reader.size(); n > 0 && in; --n) {
    BranchOutcome& outcome = outcomes.emplace_back();
    outcome.counts = reader.counts();
    outcome.counts.complete = reader.number<bool>();
    for (std::size_t r = reader.size(); r > 0 && in; --r) {
      const auto position = reader.number<std::uint32_t>();
      outcome.reversals.push_back({position, reader.scheduled()});
    }
    outcome.rest = reader.branches(points);
  }
  if (!in) return false;
  stack_ = std::move(stack);
  round_ = std::move(round);
  outcomes_ = std::move(outcomes);
  counts_ = counts;
  share_done_ = share_done;
  return true;
}

}  // namespace lockstep::checker
