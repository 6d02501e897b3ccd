#pragma once

// Every algorithm's entry, one function per file.

#include "models/locks/catalogue.hpp"

namespace lockstep::models::locks {

/// The built-in catalogue, in the order in which the documents arrive at the algorithms: each repairs something of
/// those above it. Whoever adds a file adds its line here, and nowhere else.
#define LOCKSTEP_LOCK_ALGORITHMS(X) \
  X(setnx_del)                      \
  X(setnx_expire_two_step)          \
  X(setnx_ts_del_setnx)             \
  X(setnx_ts_inverted)              \
  X(getset_prose)                   \
  X(getset_java)                    \
  X(getset_java_object)             \
  X(getset_redispy)                 \
  X(getset_del_release)             \
  X(setnx_nanotime)                 \
  X(set_nx_px_plain_del)            \
  X(set_nx_px_get_del)              \
  X(set_nx_px_lua)                  \
  X(set_nx_px_delex)                \
  X(set_nx_px_delifeq)              \
  X(set_nx_px_watch_release)        \
  X(ria_lock_v1)                    \
  X(ria_lock_v2_fine)               \
  X(ria_lock_v3_timeout)            \
  X(fenced_write)                   \
  X(sql_for_update)                 \
  X(sql_unique_insert)              \
  X(sql_version_cas)                \
  X(sql_lease_row)                  \
  X(sql_advisory)                   \
  X(lock_inside_transaction)        \
  X(lock_outside_transaction)       \
  X(etcd_mutex_pre34)               \
  X(etcd_mutex)                     \
  X(zk_ephemeral_create)            \
  X(zk_sequential)                  \
  X(curator_mutex)                  \
  X(curator_rwlock)                 \
  X(curator_semaphore_v2)           \
  X(kazoo_lock)                     \
  X(consul_lock)                    \
  X(consul_semaphore)               \
  X(ria_sem_unfair)                 \
  X(ria_sem_fair)                   \
  X(ria_sem_fair_locked)            \
  X(master_replica_lock)            \
  X(redlock_seq)                    \
  X(redlock_par)                    \
  X(lua_reentrant_hash)             \
  X(redisson_hash_owner)            \
  X(redisson_hash_local_count)      \
  X(redisson_lock)                  \
  X(redisson_spin)                  \
  X(redisson_fenced)                \
  X(redisson_fair)                  \
  X(redisson_read)                  \
  X(redisson_write)                 \
  X(redisson_multilock)             \
  X(redisson_redlock)               \
  X(redisson_semaphore)             \
  X(redisson_permit_expirable_semaphore)

#define LOCKSTEP_DECLARE(algorithm) Entry algorithm();
LOCKSTEP_LOCK_ALGORITHMS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

}  // namespace lockstep::models::locks
