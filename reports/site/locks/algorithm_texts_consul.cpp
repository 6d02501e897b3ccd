#include <array>

#include "reports/site/locks/algorithm_texts.hpp"

namespace lockstep::reports::site {

std::span<const AlgorithmText> texts_of_consul_locks() {
  static const std::array<AlgorithmText, 2> all{{
      {"consul-lock",
       "Consul 的锁：由会话取得的键，等待者和持有者都监视它",
       "A client creates a session and lets it acquire the key; whoever finds the key acquired asks by blocking "
       "queries "
       "until it is not, and the holder watches it in the same way. A session that is not renewed ends after twice its "
       "TTL; then nobody gets the lock for the lock-delay, so that a slow holder has time to notice. A release that "
       "the "
       "holder asks for has no lock-delay. Each datacentre has keys and sessions of its own.",
       "客户端建立会话，用它取得键；发现键已被取得者用阻塞查询等到它空闲，持有者也以同样方式监视它。没有续期的会话在两"
       "倍 "
       "TTL 之后结束；随后在 lock-delay 之内谁也得不到锁，好让慢的持有者有时间察觉。持有者主动释放则没有 lock-delay。"
       "每个数据中心各有自己的键和会话。",
       {{"lock", "the session that has acquired it, and how often that was done (LockIndex)",
         "取得它的会话，以及被取得的次数（LockIndex）"}},
       {"models/locks/consul/consul_lock.cpp"}},
      {"consul-semaphore",
       "Consul 的信号量：每个竞争者的会话一个键，另有一个键记录谁占有名额",
       "Each contender's session acquires a key of its own; one more key lists the sessions that have a place, and is "
       "changed by check-and-set. Whoever comes leaves out the sessions whose own key is gone, so a place comes back "
       "when its session ends: at once, since a lock-delay is of a key and not of a place.",
       "每个竞争者的会话取得自己的键；另有一个键列出占有名额的会话，用 check-and-set 修改。后来者剔除自己的键已消失的"
       "会话，因此会话一结束名额就回来：没有延迟，因为 lock-delay 属于键而不属于名额。",
       {{"lock/.lock", "the limit and the sessions that have a place, as JSON", "名额上限和占有名额的会话（JSON）"},
        {"lock/…", "a key for each contender, acquired by its session and deleted with it",
         "每个竞争者一个键，由其会话取得，随会话一起删除"}},
       {"models/locks/consul/consul_semaphore.cpp"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
