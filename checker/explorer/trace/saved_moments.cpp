#include "checker/explorer/trace/saved_moments.hpp"

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

bool SavedMoments::watch(sim::Region* region, bool goes_back) {
  region_ = region;
  goes_back_ = region != nullptr && goes_back;
  return goes_back_ && region->claim(this);
}

void SavedMoments::save(std::uint32_t position, const Moment& moment) {
  sim::invariant(count_ == 0 || saved_[count_ - 1].position < position, "moments are saved in the order of the trace");
  if (count_ == saved_.size()) saved_.emplace_back();
  Saved& saved = saved_[count_++];
  saved.position = position;
  region_->save(saved.world);
  saved.moment = moment.state();
}

const SavedMoments::Saved* SavedMoments::go_back(std::uint32_t length) {
  while (count_ > 0 && saved_[count_ - 1].position >= length) --count_;
  goes_back_ = goes_back_ && region_->is_whole();
  if (!goes_back_ || count_ == 0) return nullptr;
  const Saved& saved = saved_[count_ - 1];
  region_->restore(saved.world);
  return &saved;
}

}  // namespace lockstep::checker::explorer
