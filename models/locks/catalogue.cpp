#include "models/locks/catalogue.hpp"

#include <algorithm>
#include <cassert>

#include "models/locks/entries.hpp"

namespace lockstep::models::locks {

Catalogue Catalogue::built_in() {
  Catalogue catalogue;
  // In the order in which the documents arrive at them: each repairs something of those above it.
  for (Entry (*entry)() : {setnx_del,
                           setnx_expire_two_step,
                           setnx_ts_del_setnx,
                           setnx_ts_inverted,
                           getset_prose,
                           getset_java,
                           getset_redispy,
                           getset_del_release,
                           setnx_nanotime,
                           set_nx_px_plain_del,
                           set_nx_px_get_del,
                           set_nx_px_lua,
                           set_nx_px_watch_release,
                           ria_lock_v1,
                           ria_lock_v2_fine,
                           ria_lock_v3_timeout,
                           fenced_write,
                           ria_sem_unfair,
                           ria_sem_fair,
                           ria_sem_fair_locked,
                           redlock_seq,
                           redlock_par}) {
    catalogue.add(entry());
  }
  return catalogue;
}

void Catalogue::add(Entry entry) {
  assert(find(entry.id) == nullptr);
  entries_.push_back(std::move(entry));
}

const Entry* Catalogue::find(std::string_view id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

ParameterSpec attempts_parameter(std::int64_t fallback) {
  return {"attempts", fallback, "how often a client tries before it gives up", {}, 1};
}

ParameterSpec retry_parameter(sim::DurationRange fallback) {
  return {"retry", fallback, "pause between two attempts; a range is a random pause"};
}

}  // namespace lockstep::models::locks
