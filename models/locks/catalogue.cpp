#include "models/locks/catalogue.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::models::locks {

void Catalogue::add(Entry entry) {
  assert(find(entry.id) == nullptr);
  entries_.push_back(std::move(entry));
}

const Entry* Catalogue::find(std::string_view id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string_view> Catalogue::ids() const {
  std::vector<std::string_view> ids;
  for (const Entry& entry : entries_) ids.push_back(entry.id);
  return ids;
}

}  // namespace lockstep::models::locks
