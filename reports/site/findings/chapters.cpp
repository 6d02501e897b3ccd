#include "reports/site/findings/chapters.hpp"

#include <array>

namespace lockstep::reports::site {

std::span<const Chapter> chapters() {
  static const std::array<Chapter, 11> all{{
      {"A key is a lock",
       "一个键就是一把锁",
       "SETNX creates a key for one client only: that is mutual exclusion. But whoever dies with the key in hand "
       "leaves it behind for ever.",
       "SETNX 只让一个客户端建出键，这就是互斥。但持有者若带着键死去，键就永远留在那里。",
       {"f000-1-crashed-holder", "f000-1-crashed-holder-fixed", "f001-4-forgotten-release"}},
      {"An end for the lock, in a second command",
       "用第二条命令给锁一个期限",
       "EXPIRE after SETNX gives the lock an end, unless its owner dies, or is paused, between the two. SET with NX "
       "and PX does both in one step.",
       "在 SETNX 之后用 EXPIRE 设置期限，除非持有者在两条命令之间死去或停顿。带 NX 与 PX 的 SET 一步完成两件事。",
       {"f001-1-crash-between", "f001-1-crash-between-fixed", "f004-5b-pause-between-setnx-and-expire"}},
      {"Timestamps by hand",
       "自己管理时间戳",
       "Before SET had options the value itself said when the lock is over, and clients took over what was. All of "
       "them compete for it at once, with clocks that differ.",
       "在 SET 有这些选项之前，键的值本身写着锁何时到期，由客户端接管到期的锁。大家同时争抢，而各自的时钟并不一致。",
       {"f000-2-both-delete-expired", "f000-3-getset-decides", "f000-3b-loser-overwrites",
        "f000-3c-getset-creates-orphan", "f000-5-fast-clock-steals", "f000-5-skew-margin"}},
      {"Only the owner releases",
       "只有持有者才能释放",
       "A plain DEL deletes whatever is there, and by now it may be another's. To look first and delete then is two "
       "steps; a script or a transaction makes it one.",
       "单纯的 DEL 会删掉当前的任何锁，而它可能已属于别人。先看后删是两步；脚本或事务把它们变成一步。",
       {"f001-5-deletes-successors-lock", "f001-6-expires-between-get-and-del",
        "f001-6-expires-between-get-and-del-fixed", "f004-1-watch-without-multi"}},
      {"A lease ends, work does not",
       "租期会结束，工作不会",
       "The server counts the lease, the client works. Whenever the work takes longer, or the client is paused, both "
       "have the lock: the old owner in its belief, the new one at the server. The margin can be calculated.",
       "服务器计算租期，客户端在工作。只要工作更久，或者客户端停顿，就有两个持有者：旧的在自己的认识里，新的在服务器上"
       "。界限可以精确算出。",
       {"f003-1-work-outlives-lease", "f003-2-pause-outlives-lease", "f003-2-pause-margin",
        "f003-3-server-clock-jumps"}},
      {"Watchdogs",
       "看门狗",
       "A background task renews the lease while the owner lives. It helps against long work, and not against a pause: "
       "that stops the watchdog as well.",
       "后台任务在持有者活着时续期。它能对付过长的工作，却对付不了停顿：停顿时看门狗也停了。",
       {"f001-7-no-renewal", "f001-7-no-renewal-fixed", "f001-7w-explicit-lease", "f003-2-watchdog-pause",
        "f003-2-lost-renewal"}},
      {"Taking it again",
       "重入",
       "A reentrant lock counts, and must know whose it is: equal ids make two owners one, and a count that only the "
       "client keeps does not notice that the lock is gone.",
       "可重入锁要计数，还要知道锁属于谁：相同的标识把两个持有者变成一个；只在客户端计数则发现不了锁已经丢了。",
       {"f001-9-taken-twice", "f001-9b-same-thread-id", "f002-4-same-client-id", "f002-5-local-count",
        "f002-6-unlock-in-finally"}},
      {"Waiting, fairness and deadlock",
       "等待、公平与死锁",
       "Who waits must be woken, and exactly by whoever frees the lock. Queues remember the dead. Two locks taken in "
       "opposite orders make two clients wait for each other.",
       "等待者必须被唤醒，而且恰好由释放锁的人唤醒。队列会记住死者。以相反顺序取两把锁，两个客户端就互相等待。",
       {"f003-lost-wakeup", "f003-fair-dead-waiter", "f002-3-spinning", "read-lock-starves-writer", "opposite-orders",
        "same-order"}},
      {"Several servers",
       "多个服务器",
       "A replica may not have heard of the lock when it is promoted. Redlock asks a majority of independent servers, "
       "and must look at its clock before it believes.",
       "从节点被提升时可能还不知道这把锁。Redlock 向独立服务器的多数派请求，并且在相信之前必须看自己的时钟。",
       {"f001-10-failover-forgets-lock", "f001-10-sentinel-failover", "power-loss-forgets-lock", "redlock-draw",
        "f003-5-slow-servers", "f003-3-intersection", "f003-2-redlock-pause"}},
      {"Fencing: the resource decides",
       "防护令牌：由资源来判断",
       "No lease can keep two clients from believing at once. A number that grows with each grant lets the resource "
       "refuse whoever comes too late, if it is drawn in the step of the grant.",
       "任何租期都无法阻止两个客户端同时相信自己持有锁。每次授予时递增的编号让资源拒绝迟到者，前提是编号在授予的同一步"
       "中取得。",
       {"f004-4-each-believes-alone", "f004-4-each-believes-alone-fixed", "fencing-token-drawn-late"}},
      {"Semaphores",
       "信号量",
       "More than one may hold it, but not more than there are places. Who came first is a question of clocks, or of a "
       "counter.",
       "可以有多个持有者，但不得超过名额。谁先来，由时钟或计数器决定。",
       {"account-five-places", "f004-6-slow-clock-gets-in", "f004-7-counter-before-place", "f004-8-counter-wraps",
        "f003-semaphore-crash"}},
  }};
  return all;
}

std::span<const Family> families() {
  static const std::array<Family, 10> all{{
      {"timestamps",
       "SETNX and a timestamp",
       "SETNX 与时间戳",
       "A key that one client creates. It has no end, or one that clients read out of its value by their own clocks.",
       "由一个客户端建出的键。它没有期限，或者由客户端按自己的时钟从键值里读出期限。",
       {"setnx-del", "setnx-expire-two-step", "setnx-ts-del-setnx", "setnx-ts-inverted", "getset-prose", "getset-java",
        "getset-java-object", "getset-redispy", "getset-del-release", "setnx-nanotime"}},
      {"set-nx-px",
       "SET NX PX",
       "SET NX PX",
       "Key and end in one command. The server counts the lease; what differs is how an owner gives back, and whether "
       "it can be told from a late one.",
       "键与期限在一条命令里。租期由服务器计算；区别在于如何释放，以及能否识别迟到的持有者。",
       {"set-nx-px-plain-del", "set-nx-px-get-del", "set-nx-px-lua", "set-nx-px-delex", "set-nx-px-delifeq",
        "set-nx-px-watch-release", "fenced-write", "master-replica-lock"}},
      {"redis-in-action",
       "Redis in Action",
       "《Redis 实战》",
       "The locks and semaphores of the book, in the order in which it repairs them.",
       "书中的锁与信号量，按书中逐步修复的顺序。",
       {"ria-lock-v1", "ria-lock-v2-fine", "ria-lock-v3-timeout", "ria-sem-unfair", "ria-sem-fair",
        "ria-sem-fair-locked"}},
      {"reentrant",
       "Reentrant, by a hash",
       "可重入：用哈希",
       "A hash of owner and count: a thread may take again what it has. The articles' simplified versions of Redisson.",
       "保存持有者与计数的哈希：线程可以再次取得已持有的锁。是文章里简化的 Redisson。",
       {"lua-reentrant-hash", "redisson-hash-owner", "redisson-hash-local-count"}},
      {"sql",
       "SQL",
       "SQL",
       "Locks in a relational database: a row lock, a unique key, a version, a lease in a row, an advisory lock, and "
       "an advisory lock with a transaction.",
       "关系数据库中的锁：行锁、唯一键、版本号、行中的租期、咨询锁，以及咨询锁与事务的配合。",
       {"sql-for-update", "sql-unique-insert", "sql-version-cas", "sql-lease-row", "sql-advisory",
        "lock-inside-transaction", "lock-outside-transaction"}},
      {"etcd",
       "etcd",
       "etcd",
       "A queue of keys with the leases of sessions: who created the first one has the lock.",
       "带会话租约的键组成的队列：最先创建键者拥有锁。",
       {"etcd-mutex-pre34", "etcd-mutex"}},
      {"zookeeper",
       "ZooKeeper",
       "ZooKeeper",
       "Ephemeral nodes, which go with the session of their client: one that all watch, or a queue of numbers.",
       "随客户端会话消失的临时节点：大家都监视的一个节点，或者按序号排成的队列。",
       {"zk-ephemeral-create", "zk-sequential", "curator-mutex", "curator-rwlock", "curator-semaphore-v2",
        "kazoo-lock"}},
      {"consul",
       "Consul",
       "Consul",
       "Keys that sessions acquire, blocking queries that wait for them, and the lock-delay after a session has ended.",
       "由会话取得的键、等待它们的阻塞查询，以及会话结束之后的 lock-delay。",
       {"consul-lock", "consul-semaphore"}},
      {"redisson",
       "Redisson 3.16",
       "Redisson 3.16",
       "The client library's own scripts: watchdog, messages that wake waiters, queues, read-write locks, semaphores.",
       "客户端库自己的脚本：看门狗、唤醒等待者的消息、队列、读写锁、信号量。",
       {"redisson-lock", "redisson-spin", "redisson-fenced", "redisson-fair", "redisson-read", "redisson-write",
        "redisson-semaphore", "redisson-permit-expirable-semaphore"}},
      {"several-servers",
       "Several servers",
       "多个服务器",
       "A majority of independent servers, or all parts of a lock at once.",
       "独立服务器的多数派，或者同时取得一把锁的所有部分。",
       {"redlock-seq", "redlock-par", "redisson-multilock", "redisson-redlock"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
