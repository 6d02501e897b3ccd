#include <array>

#include "reports/site/locks/algorithm_texts.hpp"

namespace lockstep::reports::site {

std::span<const AlgorithmText> texts_of_etcd_locks() {
  static const std::array<AlgorithmText, 2> all{{
      {"etcd-mutex-pre34",
       "etcd 互斥锁 2019 年以前的版本：等待结束后不检查自己的键是否还在",
       "The mutex before it was repaired: a client that has waited until nobody is before it takes the lock, and does "
       "not look whether its own key is still there. If its session has ended while it waited, its key went with it, "
       "and whoever comes next has the lock as well.",
       "修复之前的互斥锁：等到前面没有别人的客户端就取得锁，并不检查自己的键是否还在。若会话在等待期间结束，它的键也随"
       "之"
       "消失，后来者同样会得到锁。",
       {{"lock/…", "a key for each client that has the lock or waits for it, with the lease of its session",
         "每个持有或等待的客户端一个键，附着在其会话的租约上"}},
       {"models/locks/etcd/etcd_mutex.cpp"}},
      {"etcd-mutex",
       "etcd 的互斥锁：带会话租约的键组成队列，先创建者先得",
       "Each client creates a key of its own with the lease of its session; whose key was created first has the lock, "
       "and the others watch the key just before theirs until it is deleted. Then they look whether their own is still "
       "there. A client that does not keep its session alive loses its key without knowing it; the revision at which "
       "the key was created is a number for the resource.",
       "每个客户端用会话的租约创建自己的键；最先创建者拥有锁，其余各自监视紧挨在前面的键，直到它被删除，然后检查自己的"
       "键是否"
       "还在。没能续租的客户端会在不知情时失去自己的键；创建键时的修订号可作为交给资源的编号。",
       {{"lock/…", "a key for each client that has the lock or waits for it, with the lease of its session",
         "每个持有或等待的客户端一个键，附着在其会话的租约上"}},
       {"models/locks/etcd/etcd_mutex.cpp"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
