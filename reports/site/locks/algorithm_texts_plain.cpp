#include "reports/site/locks/algorithm_texts.hpp"

#include <array>

namespace lockstep::reports::site {
namespace {

const KeyLayout kTimestampKey{"lock",
                              "text: the instant until which the lock is valid, in milliseconds of its owner's clock",
                              "文本：锁有效到的时刻，按持有者时钟的毫秒数"};
const KeyLayout kTokenKey{"lock", "text: a random value of the owner's own, with a time to live",
                          "文本：持有者自己的随机值，带有生存时间"};

}  // namespace

std::span<const AlgorithmText> texts_of_plain_locks() {
  static const std::array<AlgorithmText, 26> all{{
      {"setnx-del",
       "没有期限的 SETNX，直接 DEL",
       "SETNX creates the key for whoever comes first; DEL gives the lock back. Nothing on the server says when a lock "
       "is over, so it is over only when its owner deletes the key.",
       "SETNX 为先到者建出键，DEL 归还锁。服务器上没有任何期限，因此只有持有者删除键，锁才结束。",
       {{"lock", "text: a value of the owner's own, without an end", "文本：持有者自己的值，没有期限"}},
       {"models/locks/redis/setnx_del.cpp"}},
      {"setnx-expire-two-step",
       "先 SETNX，再用第二条命令 EXPIRE，直接 DEL",
       "SETNX takes the lock, and a second command gives it an end. Between the two the lock has none. The release "
       "deletes whatever is there.",
       "SETNX 取得锁，第二条命令给它期限；两者之间锁没有期限。释放时删除当前的任何键。",
       {{"lock", "text: a value of the owner's own; a time to live once EXPIRE has come",
         "文本：持有者自己的值；EXPIRE 到达后才有生存时间"}},
       {"models/locks/redis/setnx_expire_two_step.cpp"}},
      {"setnx-ts-del-setnx",
       "SETNX，值为到期时刻；竞争者删除过期的键后重新竞争",
       "The value says until when the lock is valid, by its owner's clock. Whoever finds it in the past deletes the "
       "key and competes again with SETNX. To read, to delete and to create are three steps, and others are between "
       "them.",
       "键的值按持有者的时钟写明锁有效到何时。发现它已过去的客户端删除该键，再用 SETNX "
       "竞争。读取、删除、建键是三步，别人会插在中间。",
       {kTimestampKey},
       {"models/locks/redis/setnx_ts_del_setnx.cpp"}},
      {"setnx-ts-inverted",
       "同 setnx-ts-del-setnx，但过期判断如文中所写是反的",
       "The same lock with the comparison that the document's prose has: it takes a lock for expired while its instant "
       "is still to come. So live locks are deleted, and dead ones never.",
       "同一把锁，采用文中文字所写的比较：时刻尚未到来就当作过期。于是有效的锁被删除，失效的锁永远留着。",
       {kTimestampKey},
       {"models/locks/redis/setnx_ts_inverted.cpp", "models/locks/redis/setnx_ts_del_setnx.cpp"}},
      {"getset-prose",
       "时间戳锁；过期的锁用 GETSET 接管，返回的仍是过期值则成功",
       "Whoever finds an expired timestamp replaces it by GETSET, in one step, and owns the lock if what came back was "
       "expired as well. The loser has replaced the winner's value all the same. The release compares in one command "
       "and deletes in another.",
       "发现时间戳过期的客户端用 GETSET "
       "一步替换它；若换回的值也已过期，就拥有锁。失败者同样覆盖了胜者的值。释放时比较与删除是两条命令。",
       {kTimestampKey},
       {"models/locks/redis/getset_prose.cpp", "models/locks/redis/timestamp_release.cpp"}},
      {"getset-java",
       "时间戳锁；过期的锁用 GETSET 接管，返回的是先前读到的值则成功",
       "As the prose, but owner is who gets back the very text that it had read before. Two who compete for one "
       "expired lock cannot both see it. The loser's value stays there, and the winner does not know its own lock any "
       "more.",
       "与文字描述类似，但只有换回的正是自己先前读到的文本才算持有者。争抢同一把过期锁的两个客户端不可能都看到它。失败"
       "者的值留在那里，胜者认不出自己的锁。",
       {kTimestampKey},
       {"models/locks/redis/getset_java.cpp", "models/locks/redis/timestamp_release.cpp"}},
      {"getset-java-object",
       "getset-java 作为进程内所有线程共用的一个对象，等待者睡眠时仍占着监视器",
       "The document's Java class as it is: one object for all threads, whose fields say what was stored last and "
       "whether it is locked, and whose methods exclude each other. A waiter sleeps within the monitor; a thread that "
       "fails has overwritten the field by which the owner knows its lock.",
       "照搬文档的 Java "
       "类：所有线程共用一个对象，字段记录最后写入的值以及是否加锁，方法互斥。等待者在监视器内睡眠；失败的线程覆盖了持"
       "有者用来识别锁的字段。",
       {kTimestampKey},
       {"models/locks/redis/getset_java_object.cpp", "models/locks/redis/getset_java.cpp"}},
      {"getset-redispy",
       "同 getset-prose 的时间戳锁；释放时删除不早于自己的时间戳",
       "The lock of redis-py before 2014. It is taken over as in the prose. The release deletes the key if its "
       "timestamp is not before one's own, and a successor's never is.",
       "2014 年以前 redis-py "
       "的锁。接管方式同文字描述。释放时，只要键中的时间戳不早于自己的就删除，而后继者的时间戳从来不会更早。",
       {kTimestampKey},
       {"models/locks/redis/getset_redispy.cpp"}},
      {"getset-del-release",
       "getset-java，释放时直接 DEL",
       "It is taken as getset-java. The release does not look: it deletes the key, whosever it is by now.",
       "取得方式同 getset-java。释放时不检查：不管现在属于谁，直接删除键。",
       {kTimestampKey},
       {"models/locks/redis/getset_del_release.cpp", "models/locks/redis/getset_java.cpp"}},
      {"setnx-nanotime",
       "SET NX PX，值为 System.nanoTime()；用 GET、比较、DEL 释放",
       "Key and lease in one command; the value is the uptime of the owner's virtual machine in nanoseconds. Two hosts "
       "may have the same, and the release compares in one command and deletes in another.",
       "键与租期在一条命令里；值是持有者虚拟机的运行纳秒数。两台主机的值可能相同，释放时比较与删除是两条命令。",
       {{"lock", "text: the owner's System.nanoTime(), with a time to live",
         "文本：持有者的 System.nanoTime()，带有生存时间"}},
       {"models/locks/redis/setnx_nanotime.cpp", "models/locks/redis/timestamp_release.cpp"}},
      {"set-nx-px-plain-del",
       "SET NX PX，直接 DEL",
       "SET with NX and PX creates the key with its time to live in one step. The release deletes the key without a "
       "look at whose it is.",
       "带 NX 与 PX 的 SET 一步建出带生存时间的键。释放时不看键属于谁就删除。",
       {{"lock", "text: a value of the owner's own, with a time to live", "文本：持有者自己的值，带有生存时间"}},
       {"models/locks/redis/set_nx_px_plain_del.cpp"}},
      {"set-nx-px-get-del",
       "SET NX PX；用 GET、比较、DEL 释放",
       "The value is the owner's own. The release reads it, compares, and deletes in another command: the lock may "
       "have changed hands in between.",
       "键的值只属于持有者。释放时先读取、比较，再用另一条命令删除：其间锁可能已经易主。",
       {kTokenKey},
       {"models/locks/redis/set_nx_px_get_del.cpp"}},
      {"set-nx-px-lua",
       "SET NX PX；用比较并删除的脚本释放",
       "The lock that Redis' own manual gives for one server. The value is random; the release compares and deletes in "
       "one script, so nobody ever deletes another's key. What remains is the lease: it is counted at the server, and "
       "its end is not seen by an owner that works or sleeps.",
       "Redis "
       "手册为单服务器给出的锁。值是随机的；释放时脚本一步完成比较与删除，谁也不会删掉别人的键。剩下的问题是租期：它在"
       "服务器上计时，正在工作或停顿的持有者看不到它结束。",
       {kTokenKey},
       {"models/locks/redis/set_nx_px_lua.cpp", "models/locks/redis/delete_if_mine.lua"}},
      {"set-nx-px-delex",
       "SET NX PX；用 DELEX IFEQ 释放",
       "What Redis' manual gives for one server since version 8.4: the script that compares and deletes has become a "
       "command. The server refuses to delete what is another's; the lease ends under an owner that is late all the "
       "same.",
       "从 8.4 版起 Redis 手册为单服务器给出的做法：比较并删除的脚本变成了一条命令。服务器不会删除属于别人的键；"
       "但对迟到的持有者，租期照样会到。",
       {kTokenKey},
       {"models/locks/redis/set_nx_px_delex.cpp"}},
      {"set-nx-px-delifeq",
       "SET NX PX；用 DELIFEQ 释放",
       "The same on Valkey 9, whose command for it is DELIFEQ.",
       "在 Valkey 9 上的同一把锁，那里的命令叫 DELIFEQ。",
       {kTokenKey},
       {"models/locks/redis/set_nx_px_delex.cpp"}},
      {"set-nx-px-watch-release",
       "SET NX PX；在事务中用 WATCH、GET、比较、DEL 释放",
       "The release of the time before scripts: WATCH makes the server note whether the key changes, and the "
       "transaction that deletes it is refused if it did.",
       "有脚本之前的释放方式：WATCH 让服务器记下键是否改变，若已改变，删除它的事务会被拒绝。",
       {kTokenKey},
       {"models/locks/redis/set_nx_px_watch_release.cpp", "models/locks/redis/watch_release.cpp"}},
      {"fenced-write",
       "SET NX PX，授予时带有给资源用的防护令牌",
       "One script creates the key and draws a number from a counter. The owner shows the number with each write, and "
       "the resource refuses one that is less than what it has seen. So a late owner still believes, but does no "
       "damage.",
       "一个脚本建出键并从计数器取得编号。持有者每次写入都出示编号，资源拒绝比已见过的更小的编号。迟到的持有者仍然相信"
       "自己持有锁，但造成不了损害。",
       {kTokenKey,
        {"lock:token", "text: the number of the last grant, for ever", "文本：最近一次授予的编号，永久保留"}},
       {"models/locks/redis/fenced_write.cpp", "models/locks/redis/set_with_token.lua",
        "models/locks/redis/set_with_hash_token.lua", "models/locks/redis/delete_if_mine.lua"}},
      {"master-replica-lock",
       "在多个服务器中当前的主节点上 SET NX PX，可以带 WAIT",
       "The client looks for the server that takes writes and locks there. Replicas hear of it later. With WAIT the "
       "lock counts only when so many replicas have it; it is still not said which of them will be promoted.",
       "客户端找到接受写入的服务器并在那里加锁，从节点稍后才知道。用 WAIT "
       "时，要有足够多的从节点收到锁才算数；但被提升的是哪一个仍不确定。",
       {kTokenKey},
       {"models/locks/redis/master_replica_lock.cpp", "models/locks/redis/delete_if_mine.lua"}},
      {"ria-lock-v1",
       "没有期限的 SETNX 随机值，轮询；用 WATCH 与事务释放",
       "SETNX with a random value, tried again every millisecond for ten seconds. The release deletes the key only if "
       "it has not changed. There is no end: what a dead owner leaves stays.",
       "用随机值 SETNX，每毫秒重试一次，共十秒。释放时只有键未改变才删除。没有期限：死去的持有者留下的锁一直在。",
       {{"lock", "text: a random value of the owner's own, without an end", "文本：持有者自己的随机值，没有期限"}},
       {"models/locks/redis/ria_lock_v1.cpp", "models/locks/redis/watch_release.cpp"}},
      {"ria-lock-v2-fine",
       "ria-lock-v1，每件商品一个键",
       "The first lock again, with a key for each item of the market. Those who want different items do not wait for "
       "each other; what they share besides, their funds, is not covered.",
       "还是第一把锁，但市场中每件商品有自己的键。要不同商品的人互不等待；他们共享的其他东西（资金）不受保护。",
       {{"lock/item", "text: a random value of the owner's own, without an end", "文本：持有者自己的随机值，没有期限"}},
       {"models/locks/redis/ria_lock_v2_fine.cpp", "models/locks/redis/ria_lock_v1.cpp",
        "models/locks/redis/watch_release.cpp"}},
      {"ria-lock-v3-timeout",
       "先 SETNX 再 EXPIRE；竞争者给没有期限的锁补上期限",
       "The lock gets its end by a second command. If its owner dies before that, whoever comes next sees a lock "
       "without an end and sets one. To the next client a slow owner looks like a dead one.",
       "锁由第二条命令得到期限。若持有者在此之前死去，后来者看到没有期限的锁就补上一个。在后来者看来，慢的持有者与死去"
       "的没有区别。",
       {{"lock", "text: a random value of the owner's own; a time to live by whoever sets it first",
         "文本：持有者自己的随机值；生存时间由先设置者给出"}},
       {"models/locks/redis/ria_lock_v3_timeout.cpp", "models/locks/redis/ria_lock_v1.cpp",
        "models/locks/redis/watch_release.cpp"}},
      {"ria-sem-unfair",
       "信号量：有序集合，按各自时钟的到来时间排列标识",
       "Each client drops whoever is past its time, joins the sorted set with the time by its own clock, and is in if "
       "its rank is below the limit. A slow clock is an early time, and gets ahead.",
       "每个客户端先清除过期者，以自己时钟的时间加入有序集合，名次小于上限就算进入。时钟慢意味着时间早，于是排到前面。",
       {{"lock", "sorted set: ids of holders by the time at which they came, by their own clocks",
         "有序集合：持有者标识，按各自时钟的到来时间排序"}},
       {"models/locks/redis/ria_sem_unfair.cpp"}},
      {"ria-sem-fair",
       "信号量：标识按计数器排序，另有一个有序集合记录到期时间",
       "Places go by a counter of the server, so clocks say only when a place is over. To draw a number and to join "
       "with it are two transactions: a later number may join first, and be in until the earlier one comes.",
       "名次由服务器的计数器决定，时钟只说明何时到期。取号与加入是两个事务：较大的号可能先加入，在较小的号到来之前就算"
       "进入。",
       {{"lock", "sorted set: ids by the time at which they came, by their own clocks",
         "有序集合：标识，按各自时钟的到来时间排序"},
        {"lock:owner", "sorted set: the same ids by their numbers", "有序集合：同样的标识，按编号排序"},
        {"lock:counter", "text: the last number", "文本：最后一个编号"}},
       {"models/locks/redis/ria_sem_fair.cpp"}},
      {"ria-sem-fair-locked",
       "ria-sem-fair，加入时外面包一把 ria-lock-v1",
       "The fair semaphore with a lock around its acquisition: whoever draws the earlier number also joins first. The "
       "lock has no end; a client that dies with it stops everybody.",
       "公平信号量，取得时外面加一把锁：先取号者也先加入。这把锁没有期限；带着它死去的客户端会挡住所有人。",
       {{"lock", "sorted set: ids by the time at which they came", "有序集合：标识，按到来时间排序"},
        {"lock:owner", "sorted set: ids by their numbers", "有序集合：标识，按编号排序"},
        {"lock:counter", "text: the last number", "文本：最后一个编号"},
        {"lock:lock", "text: who is joining now, without an end", "文本：正在加入者，没有期限"}},
       {"models/locks/redis/ria_sem_fair_locked.cpp", "models/locks/redis/ria_sem_fair.cpp",
        "models/locks/redis/ria_lock_v1.cpp"}},
      {"redlock-seq",
       "在独立服务器上逐个请求的 Redlock",
       "The client looks at its clock, asks each of several independent servers in turn with SET NX PX, and has the "
       "lock if a majority granted it and something is left of the lease after the time that took and a share for "
       "clock drift. Otherwise it gives back on all of them, also where no answer came.",
       "客户端先看时钟，用 SET NX PX "
       "依次请求若干独立服务器；若多数授予，且扣除所花时间与时钟漂移后租期仍有剩余，就持有锁。否则在所有服务器上归还，"
       "包括没有答复的。",
       {{"lock", "text, at each server: a random value of this attempt alone, with a time to live",
         "文本，每个服务器上：仅属于本次尝试的随机值，带有生存时间"}},
       {"models/locks/redis/redlock_seq.cpp", "models/locks/redis/redlock.cpp",
        "models/locks/redis/delete_if_mine.lua"}},
      {"redlock-par",
       "在独立服务器上同时请求的 Redlock",
       "The same, but all servers are asked at once: an attempt takes one round trip to the slowest server, and less "
       "of the lease is used up before it counts.",
       "与上相同，但同时请求所有服务器：一次尝试只需到最慢服务器的一个往返，租期在生效前消耗得更少。",
       {{"lock", "text, at each server: a random value of this attempt alone, with a time to live",
         "文本，每个服务器上：仅属于本次尝试的随机值，带有生存时间"}},
       {"models/locks/redis/redlock_par.cpp", "models/locks/redis/redlock.cpp",
        "models/locks/redis/delete_if_mine.lua"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
