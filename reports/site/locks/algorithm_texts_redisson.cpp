#include "reports/site/locks/algorithm_texts.hpp"

#include <array>

namespace lockstep::reports::site {
namespace {

const KeyLayout kHash{"lock", "hash: one field \"process:thread\" with the number of its holds, and a lease",
                      "哈希：一个字段“进程:线程”，值为持有次数，带有租期"};
const KeyLayout kOwnerCount{"lock", "hash: the fields owner and count, with a lease",
                            "哈希：字段 owner 与 count，带有租期"};
const KeyLayout kChannel{"redisson_lock__channel:{lock}", "channel, no key: a release tells who waits",
                         "频道，不是键：释放时通知等待者"};

}  // namespace

std::span<const AlgorithmText> texts_of_redisson_locks() {
  static const std::array<AlgorithmText, 13> all{{
      {"lua-reentrant-hash",
       "用两个脚本：线程号与计数的哈希；释放时什么也不告知",
       "One script takes the hash or counts one more hold of the same thread; another counts down and deletes it with "
       "the last. The field is the thread id alone, which is unique in one process only; and the release answers "
       "nothing, whether the lock was the caller's or not.",
       "一个脚本取得哈希，或者为同一线程加一次计数；另一个递减，最后一次时删除。字段只是线程号，仅在一个进程内唯一；而"
       "释放无论锁是否属于调用者都不作答复。",
       {{"lock", "hash: one field, the thread id, with the number of its holds, and a lease",
         "哈希：一个字段（线程号），值为持有次数，带有租期"}},
       {"models/locks/redis/lua_reentrant_hash.cpp", "models/locks/redis/reentrant_lock.lua",
        "models/locks/redis/reentrant_unlock.lua"}},
      {"redisson-hash-owner",
       "持有者与计数的哈希，后台续期：某篇文章简化的 Redisson",
       "A hash of owner and count, taken and given back by scripts, and a background task of the process that renews "
       "the lease every third of it. If the thread dies and the process lives, the renewal goes on.",
       "持有者与计数的哈希，由脚本取得与归还；进程的后台任务每过租期的三分之一续期一次。若线程死去而进程活着，续期会一"
       "直继续。",
       {kOwnerCount},
       {"models/locks/redis/redisson_hash_owner.cpp", "models/locks/redis/hash_owner_lock.lua",
        "models/locks/redis/hash_owner_unlock.lua", "models/locks/redis/hash_owner_renew.lua",
        "models/locks/redis/renewal.cpp"}},
      {"redisson-hash-local-count",
       "持有者与计数的哈希；重入只在进程内计数，不发命令",
       "The same hash, but a thread that has the lock takes it again without a command: only the process counts. If "
       "the lease has run out meanwhile, it enters a lock that is another's.",
       "同样的哈希，但已持有锁的线程重入时不发命令，只在进程内计数。若租期其间已结束，它就进入了别人的锁。",
       {kOwnerCount},
       {"models/locks/redis/redisson_hash_local_count.cpp", "models/locks/redis/hash_owner_lock.lua",
        "models/locks/redis/hash_owner_unlock.lua"}},
      {"redisson-lock",
       "Redisson 的锁：可重入哈希、看门狗、由消息唤醒等待者",
       "A script takes the hash for this process and thread, or says how long the other's lease still runs. Who waits "
       "subscribes to a channel and sleeps until a release publishes there, or until that lease is over. Without an "
       "explicit lease a watchdog renews it every third of its length.",
       "脚本为本进程本线程取得哈希，或者答复对方租期还剩多久。等待者订阅频道并睡眠，直到释放时发布消息，或者对方租期结"
       "束。没有显式租期时，看门狗每过三分之一租期续期一次。",
       {kHash, kChannel},
       {"models/locks/redis/redisson_lock.cpp", "models/locks/redis/rlock.cpp", "models/locks/redis/redisson_lock.lua",
        "models/locks/redis/redisson_unlock.lua", "models/locks/redis/redisson_renew.lua",
        "models/locks/redis/renewal.cpp"}},
      {"redisson-spin",
       "Redisson 的自旋锁：不等消息，以倍增的间隔反复询问",
       "The same hash and scripts, but nobody listens: who waits asks again after one millisecond, then two, then "
       "four, up to a longest delay. That saves a channel and costs commands.",
       "同样的哈希与脚本，但没有人监听：等待者过一毫秒再问，然后两毫秒、四毫秒，直到最长间隔。省去了频道，代价是更多命"
       "令。",
       {kHash},
       {"models/locks/redis/redisson_spin.cpp", "models/locks/redis/rlock.cpp", "models/locks/redis/redisson_lock.lua",
        "models/locks/redis/redisson_unlock.lua", "models/locks/redis/redisson_renew.lua"}},
      {"redisson-fenced",
       "Redisson 的锁，每次取得（包括重入）都取一个防护令牌",
       "Redisson's lock whose script also draws a number from a counter, for the resource to compare. A thread that "
       "takes it again draws a new one.",
       "Redisson 的锁，其脚本还从计数器取一个编号供资源比较。重入时会取新的编号。",
       {kHash,
        kChannel,
        {"redisson_lock_token:{lock}", "text: the last number, for ever", "文本：最后一个编号，永久保留"}},
       {"models/locks/redis/redisson_lock.cpp", "models/locks/redis/rlock.cpp",
        "models/locks/redis/redisson_fenced_lock.lua", "models/locks/redis/redisson_unlock.lua",
        "models/locks/redis/redisson_renew.lua"}},
      {"redisson-fair",
       "Redisson 的公平锁：服务器上的队列，按客户端的时钟",
       "Who waits stands in a queue on the server, with a deadline by its own clock; a release tells the first of it. "
       "Who does not come in time is dropped. Until then a dead client at the head keeps a free lock from the others.",
       "等待者在服务器的队列里排队，期限按自己的时钟计算；释放时通知队首。到期不来者被清除。在此之前，队首死去的客户端"
       "会使别人拿不到空闲的锁。",
       {kHash,
        {"redisson_lock_queue:{lock}", "list: who waits, in order", "列表：等待者，按顺序"},
        {"redisson_lock_timeout:{lock}", "sorted set: until when each waits, by clocks of clients",
         "有序集合：各等待者的期限，按客户端的时钟"},
        {"redisson_lock__channel:{lock}:…", "channel of one waiter, no key", "单个等待者的频道，不是键"}},
       {"models/locks/redis/redisson_fair.cpp", "models/locks/redis/redisson_fair_lock.lua",
        "models/locks/redis/redisson_fair_unlock.lua", "models/locks/redis/redisson_fair_give_up.lua",
        "models/locks/redis/redisson_renew.lua"}},
      {"redisson-read",
       "Redisson 的读写锁，以读方式取得：读者共享",
       "One hash for all: its field mode says whether readers or a writer have it. Readers count their holds, each "
       "with a lease of its own, and the hash lives as long as the longest. Readers in turns can keep a writer out for "
       "ever.",
       "所有人共用一个哈希：字段 mode "
       "说明由读者还是写者持有。读者各自计数，每次持有有自己的租期，哈希与最长的租期同寿。轮番到来的读者可以一直把写者"
       "挡在外面。",
       {{"lock", "hash: mode, and a count for each owner", "哈希：mode，以及每个持有者的计数"},
        {"{lock}:…:rwlock_timeout:…", "text: one for each read hold, with its lease", "文本：每次读持有一个，带有租期"},
        {"redisson_rwlock:{lock}", "channel, no key", "频道，不是键"}},
       {"models/locks/redis/redisson_rw.cpp", "models/locks/redis/redisson_read_lock.lua",
        "models/locks/redis/redisson_read_unlock.lua", "models/locks/redis/redisson_read_renew.lua"}},
      {"redisson-write",
       "Redisson 的读写锁，以写方式取得：独占",
       "The same hash, taken by one writer alone. A writer may also read, and becomes a reader when the writing is "
       "over.",
       "同一个哈希，由一个写者独占。写者也可以读，写完之后变为读者。",
       {{"lock", "hash: mode, and the writer's count", "哈希：mode，以及写者的计数"},
        {"redisson_rwlock:{lock}", "channel, no key", "频道，不是键"}},
       {"models/locks/redis/redisson_rw.cpp", "models/locks/redis/redisson_write_lock.lua",
        "models/locks/redis/redisson_write_unlock.lua", "models/locks/redis/redisson_renew.lua"}},
      {"redisson-multilock",
       "把 Redisson 的多把锁当作一把：全部取得，或者一把不取",
       "Several of Redisson's locks, taken one after the other; if one cannot be had, all are given back. Until all "
       "are there each has a lease of twice the wait; then the lease that was asked for is set.",
       "依次取得 Redisson "
       "的多把锁；有一把拿不到就全部归还。全部到手之前，每把的租期是等待时间的两倍；之后才设为所要求的租期。",
       {{"lock, or lock/1, lock/2, …", "hash: each part, at its server or at the only one",
         "哈希：每个部分，在各自的或唯一的服务器上"}},
       {"models/locks/redis/redisson_multilock.cpp", "models/locks/redis/multilock.cpp",
        "models/locks/redis/rlock.cpp"}},
      {"redisson-redlock",
       "Redisson 的红锁：独立服务器上多数的锁，不检查剩余租期",
       "The multi-lock that is content with a majority of its parts, at independent servers. It is called Redlock, but "
       "does not look at what is left of the lease when it has them.",
       "只要取得独立服务器上多数部分就满足的联锁。名为 Redlock，却在取得之后不检查租期还剩多少。",
       {{"lock, or lock/1, lock/2, …", "hash: each part, at its server or at the only one",
         "哈希：每个部分，在各自的或唯一的服务器上"}},
       {"models/locks/redis/redisson_redlock.cpp", "models/locks/redis/multilock.cpp", "models/locks/redis/rlock.cpp"}},
      {"redisson-semaphore",
       "Redisson 的信号量：空闲许可的计数器，没有持有者，也没有租期",
       "A counter of free permits. A script takes one if there is one; a release adds one, whoever had it, and tells a "
       "channel. The permit of a dead client is lost for ever.",
       "空闲许可的计数器。有许可时脚本取走一个；释放时加一个，不问是谁的，并通知频道。死去的客户端的许可永远丢失。",
       {{"lock", "text: how many permits are free", "文本：空闲许可数"},
        {"redisson_sc:{lock}", "channel, no key", "频道，不是键"}},
       {"models/locks/redis/redisson_semaphore.cpp", "models/locks/redis/redisson_semaphore_acquire.lua",
        "models/locks/redis/redisson_semaphore_release.lua"}},
      {"redisson-permit-expirable-semaphore",
       "Redisson 的信号量，许可有标识与租期，按客户端的时钟",
       "The counter, and a sorted set of the permits that are out, by when they are over. Whoever asks for one takes "
       "back those that are over by its own clock: one that is fast takes back permits in use.",
       "除计数器外，还有一个有序集合记录发出的许可及其到期时间。请求者按自己的时钟收回到期的许可：时钟快的会收回仍在使"
       "用的许可。",
       {{"lock", "text: how many permits are free", "文本：空闲许可数"},
        {"{lock}:timeout", "sorted set: permits that are out, by their ends, by clocks of clients",
         "有序集合：发出的许可，按客户端时钟的到期时间排序"},
        {"redisson_sc:{lock}", "channel, no key", "频道，不是键"}},
       {"models/locks/redis/redisson_semaphore.cpp", "models/locks/redis/redisson_permit_acquire.lua",
        "models/locks/redis/redisson_permit_release.lua"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
