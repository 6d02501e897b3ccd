#include "checker/explorer/branch.hpp"

namespace lockstep::checker {

bool is_one_asleep(std::span<const Sleeping> sleep, std::span<const Scheduled> candidates) {
  return !sleep.empty() && std::any_of(candidates.begin(), candidates.end(),
                                       [&](const Scheduled& event) { return is_asleep(sleep, event.id); });
}

std::vector<BranchPoint*> way_to(const std::shared_ptr<BranchPoint>& point) {
  std::vector<BranchPoint*> way;
  for (BranchPoint* p = point.get(); p != nullptr; p = p->before.get()) way.push_back(p);
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace lockstep::checker
