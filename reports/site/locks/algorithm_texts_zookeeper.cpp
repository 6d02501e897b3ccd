#include <array>

#include "reports/site/locks/algorithm_texts.hpp"

namespace lockstep::reports::site {

std::span<const AlgorithmText> texts_of_zookeeper_locks() {
  static const std::array<AlgorithmText, 6> all{{
      {"zk-ephemeral-create",
       "ZooKeeper：创建临时节点者拥有锁，其余都监视它",
       "Whoever creates the ephemeral node has the lock; all others watch it, and when it is deleted all of them try "
       "to "
       "create it again. It goes when it is deleted or when its client's session ends: then the client may still be at "
       "work, and its release deletes whatever stands there by then.",
       "创建临时节点的客户端拥有锁；其余都监视它，节点被删除时全部再次尝试创建。节点在被删除或会话结束时消失：此时客户"
       "端可能仍在工作，而它的释放会删除当时在那里的任何节点。",
       {{"lock", "the ephemeral node /lock, of the owner's session", "临时节点 /lock，属于持有者的会话"}},
       {"models/locks/zookeeper/zk_ephemeral_create.cpp"}},
      {"zk-sequential",
       "ZooKeeper：临时顺序节点组成的队列，各自监视前一个",
       "Each client creates an ephemeral sequential node; the lowest number has the lock, and each of the others "
       "watches "
       "the node just before its own until it is deleted, and then looks at the queue again. A client whose session "
       "ends "
       "loses its node without knowing it; the transaction that created the node is a number for the resource.",
       "每个客户端创建一个临时顺序节点；序号最小者拥有锁，其余各自监视紧挨在前面的节点，待其删除后再次查看队列。会话结"
       "束的客户端会在不知情时失去节点；创建节点的事务号可作为交给资源的编号。",
       {{"lock/lock-…", "below /locks, an ephemeral node for each client that has the lock or waits for it",
         "在 /locks 之下，每个持有或等待的客户端一个临时节点"}},
       {"models/locks/zookeeper/zk_sequential.cpp", "models/locks/zookeeper/queue.cpp"}},
      {"curator-mutex",
       "Curator 的 InterProcessMutex：受保护的创建、必达的删除、按线程可重入",
       "The queue, by a client library that finds its node again when it did not hear of its creation (its name has a "
       "part that only this client knows), goes on with a deletion in the background until it is done, and counts for "
       "each thread how often it has the lock: a thread that takes it again asks nobody.",
       "同样的队列。客户端库在没有收到创建回复时能凭只有自己知道的名字找回节点；删除会在后台持续到完成；并为每个线程计"
       "数：再次取得锁的线程不询问任何人。",
       {{"lock/_c_…-lock-…", "below /locks, an ephemeral node for each client that has the lock or waits for it",
         "在 /locks 之下，每个持有或等待的客户端一个临时节点"}},
       {"models/locks/zookeeper/curator_mutex.cpp", "models/locks/zookeeper/curator.cpp",
        "models/locks/zookeeper/queue.cpp"}},
      {"curator-rwlock",
       "Curator 的读写锁：同一个队列，读者只等待写者",
       "One queue of readers and writers: a writer waits for the node just before its own, a reader for the first "
       "writer "
       "before it. The thread that writes may read as well, and give back the writing first: up to Curator 5.4 its "
       "node "
       "as a reader then stands behind a writer that came in between, which is let in beside it.",
       "读者和写者排在同一个队列：写者等待紧挨在前面的节点，读者等待前面的第一个写者。正在写的线程也可以读，并先归还写"
       "锁；在 Curator 5.4 及以前，它作为读者的节点排在中间来的写者之后，那个写者会与它同时进入。",
       {{"lock/_c_…-__READ__…, __WRIT__…", "below /locks, an ephemeral node for each reader and each writer",
         "在 /locks 之下，每个读者和写者一个临时节点"}},
       {"models/locks/zookeeper/curator_rwlock.cpp", "models/locks/zookeeper/curator.cpp",
        "models/locks/zookeeper/queue.cpp"}},
      {"curator-semaphore-v2",
       "Curator 的信号量：在互斥锁保护下添加并清点名额节点",
       "An ephemeral node for each lease. Under a mutex a client adds its own, and then waits until there are no more "
       "of "
       "them than leases; whoever gives up deletes it before it gives back the mutex.",
       "每个名额对应一个临时节点。客户端在互斥锁保护下添加自己的节点，然后等到节点数不超过名额数；放弃者先删除节点再归"
       "还互斥锁。",
       {{"lock/leases/_c_…-lease-…", "below /locks, an ephemeral node for each lease",
         "在 /locks 之下，每个名额一个临时节点"},
        {"lock/locks/_c_…-lock-…", "the mutex: who adds a lease just now, and who wants to",
         "互斥锁：正在添加名额和等待添加的客户端"}},
       {"models/locks/zookeeper/curator_semaphore_v2.cpp", "models/locks/zookeeper/curator.cpp",
        "models/locks/zookeeper/queue.cpp"}},
      {"kazoo-lock",
       "kazoo 的 Lock：同样的队列，创建之前先查找自己的节点",
       "The queue, by a client library that starts from the beginning when its connection is lost: it looks for a node "
       "with its own prefix before it creates another, and waits until nobody is before it.",
       "同样的队列。客户端库在连接丢失后从头开始：先查找带有自己前缀的节点，没有才创建，然后等到前面没有别人。",
       {{"lock/…__lock__…", "below /locks, an ephemeral node for each client that has the lock or waits for it",
         "在 /locks 之下，每个持有或等待的客户端一个临时节点"}},
       {"models/locks/zookeeper/kazoo_lock.cpp", "models/locks/zookeeper/queue.cpp"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
