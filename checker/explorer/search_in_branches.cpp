// A search that is cut into branches: how one begins, and what is handed back of it.

#include <algorithm>
#include <utility>

#include "checker/explorer/explorer.hpp"

namespace lockstep::checker {

std::vector<BranchPoint*> way_to(const std::shared_ptr<BranchPoint>& point) {
  std::vector<BranchPoint*> way;
  for (BranchPoint* p = point.get(); p != nullptr; p = p->before.get()) way.push_back(p);
  std::reverse(way.begin(), way.end());
  return way;
}

/// Lays out the way to a branch: its nodes belong to the search that it is a part of.
void Explorer::follow(const Branch& branch) {
  own_from_ = 0;
  follows_.clear();
  fixed_answers_ = 0;
  const std::vector<BranchPoint*> way = way_to(branch.from);
  forget_from(common_with(way));
  if (branch.at_root) {
    root_answers_ = branch.answers;
    fixed_answers_ = branch.answers.size();
  }
  if (!branch.from) return;
  root_answers_ = way.front()->answers;
  depth_ = way.size();
  if (nodes_.size() < depth_) nodes_.resize(depth_);
  for (std::size_t i = 0; i < depth_; ++i) {
    Node& node = nodes_[i];
    const bool is_last = i + 1 == depth_;
    node.chosen = is_last ? branch.chosen : way[i + 1]->chosen;
    node.answers = is_last ? branch.answers : way[i + 1]->answers;
    node.backtrack.clear();
    if (is_last) node.backtrack.push_back({{branch.chosen, sim::ProcessId()}, branch.then});
    for (const Scheduled& event : way[i]->backtrack) node.backtrack.push_back({event, {}});
    node.sleep = is_last ? branch.sleep : std::vector<Sleeping>();
    node.done.clear();
    node.reversals.clear();
    node.has_tried = node.tried_before = node.may_live = node.lived_before = node.is_impossible = false;
    node.conflict.clear();
  }
  follow_wakeup(nodes_[depth_ - 1]);
  own_from_ = depth_;
  fixed_answers_ = branch.answers.size();
}

/// How many of the events that stand are also the first on the way to a branch.
std::size_t Explorer::common_with(const std::vector<BranchPoint*>& way) const {
  if (way.empty() || way.front()->answers != root_answers_) return 0;
  std::size_t common = 0;
  while (common < built_ && common + 1 < way.size() && nodes_[common].chosen == way[common + 1]->chosen &&
         nodes_[common].answers == way[common + 1]->answers) {
    ++common;
  }
  return common;
}

/// The states on the present trace from which branches may start, by position: the branch's own, and where it starts itself.
std::vector<std::shared_ptr<BranchPoint>> Explorer::points_of(const Branch& branch) const {
  std::vector<std::shared_ptr<BranchPoint>> points(depth_);
  if (own_from_ > 0) points[own_from_ - 1] = branch.from;
  for (std::size_t i = own_from_; i < depth_; ++i) {
    points[i] = std::make_shared<BranchPoint>();
    points[i]->answers = i == 0 ? root_answers_ : nodes_[i - 1].answers;
    if (i == 0) continue;
    points[i]->before = points[i - 1];
    points[i]->chosen = nodes_[i - 1].chosen;
  }
  return points;
}

/// All that would still be tried, cut into branches. Backs up through all of it as the search does, but executes only the first event of
/// each: what comes after it sleeps with what that event does, as if it had been explored before.
std::vector<std::shared_ptr<Branch>> Explorer::rest_of(const Branch& branch) {
  const ExplorerCounts counts = counts_;
  ExplorationObserver* const observer = std::exchange(options_.observer, nullptr);
  const std::vector<std::shared_ptr<BranchPoint>> points = points_of(branch);
  std::vector<std::shared_ptr<Branch>> rest;
  const auto add = [&](Branch part) {
    part.events = branch.events_of_parts();
    rest.push_back(std::make_shared<Branch>(std::move(part)));
  };
  std::size_t all_answers_at = 0;  // the depth of the event of which the last branch has all answers
  while (back_up()) {
    if (depth_ == 0 && !picks_again_) {
      add({.from = {}, .at_root = true, .chosen = {}, .answers = root_answers_, .sleep = {}, .then = {}});
      continue;
    }
    // The event that is picked again is known only when the world is there.
    const bool is_picked_again = picks_again_;
    const bool is_other_event = is_picked_again || nodes_[depth_ - 1].answers.empty();
    if (is_other_event || depth_ < all_answers_at) all_answers_at = 0;
    if (!run_way() || (is_picked_again && !go_on()) || all_answers_at == depth_) continue;
    if (is_other_event) all_answers_at = depth_;
    const Node& node = nodes_[depth_ - 1];
    add({.from = points[depth_ - 1],
         .at_root = false,
         .chosen = node.chosen,
         .answers = is_other_event ? std::vector<Answer>() : node.answers,
         .sleep = node.sleep,
         .then = {follows_.rbegin(), follows_.rend()}});
  }
  for (std::size_t i = own_from_; i < points.size(); ++i) {
    points[i]->backtrack.assign(nodes_[i].backtrack.begin(), nodes_[i].backtrack.end());
    points[i]->sleep = nodes_[i].sleep;
  }
  counts_ = counts;
  options_.observer = observer;
  std::reverse(rest.begin(), rest.end());
  return rest;
}

/// What was found out about events that belong to other branches.
void Explorer::tell_others(BranchOutcome& outcome) {
  for (std::uint32_t i = 0; i < own_from_; ++i) {
    for (Reversal& reversal : nodes_[i].reversals) outcome.reversals.emplace_back(i, std::move(reversal));
  }
  if (own_from_ == 0 || fixed_answers_ > 0) return;
  outcome.first = std::move(nodes_[own_from_ - 1].done);
  for (Sleeping& variant : outcome.first) variant.variants = static_cast<std::uint32_t>(outcome.first.size());
}

Branch Explorer::here() const {
  auto point = std::make_shared<BranchPoint>();
  point->answers = root_answers_;
  for (std::size_t i = 0; i + 1 < depth_; ++i) {
    auto next = std::make_shared<BranchPoint>();
    next->before = point;
    next->chosen = nodes_[i].chosen;
    next->answers = nodes_[i].answers;
    point = std::move(next);
  }
  Branch branch;
  branch.from = std::move(point);
  branch.chosen = nodes_[depth_ - 1].chosen;
  branch.answers = nodes_[depth_ - 1].answers;
  return branch;
}

}  // namespace lockstep::checker
