#pragma once

// Every algorithm's entry, one function per file; `catalogue.cpp` puts them in order.

#include "models/locks/catalogue.hpp"

namespace lockstep::models::locks {

Entry setnx_del();
Entry setnx_expire_two_step();
Entry setnx_ts_del_setnx();
Entry setnx_ts_inverted();
Entry getset_prose();
Entry getset_java();
Entry getset_redispy();
Entry getset_del_release();
Entry setnx_nanotime();
Entry set_nx_px_plain_del();
Entry set_nx_px_get_del();
Entry set_nx_px_lua();
Entry set_nx_px_watch_release();
Entry ria_lock_v1();
Entry ria_lock_v2_fine();
Entry ria_lock_v3_timeout();
Entry fenced_write();
Entry ria_sem_unfair();
Entry ria_sem_fair();
Entry ria_sem_fair_locked();
Entry redlock_seq();
Entry redlock_par();

/// Parameters that every algorithm has: how often a client tries, and how long it waits in between.
ParameterSpec attempts_parameter(std::int64_t fallback);
ParameterSpec retry_parameter(sim::DurationRange fallback);

}  // namespace lockstep::models::locks
