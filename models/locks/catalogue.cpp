#include "models/locks/catalogue.hpp"

#include <algorithm>
#include <cassert>

#include "models/servers/server_kind.hpp"

namespace lockstep::models::locks {

const ServerKind& server_kind_of(const Entry& entry) {
  return entry.server_kind != nullptr ? *entry.server_kind : standard_server_kind();
}

std::size_t usual_servers(const Entry& entry) {
  constexpr std::size_t kSmallestWithMajority = 3;
  return entry.many_nodes ? kSmallestWithMajority : server_kind_of(entry).usual_count();
}

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

std::vector<const ServerKind*> Catalogue::server_kinds() const {
  const std::span<const ServerKind* const> table = models::server_kinds();
  std::vector<const ServerKind*> kinds(table.begin(), table.end());
  for (const Entry& entry : entries_) {
    const ServerKind* kind = &server_kind_of(entry);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace lockstep::models::locks
