#include "reports/site/locks/algorithm_texts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lockstep::reports::site {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 49> kMeanings{{
    {"how often a client tries before it gives up", "客户端放弃之前尝试几次"},
    {"pause between two attempts; a range is a random pause", "两次尝试之间的间隔；给出范围则随机"},
    {"time to live that the second command sets", "第二条命令设置的生存时间"},
    {"how long an owner lets its lock be valid, by its own clock", "持有者让锁有效多久，按自己的时钟"},
    {"how long an attempt sleeps altogether", "一次尝试总共睡眠多久"},
    {"between two rounds of one attempt", "一次尝试的两轮之间"},
    {"lock and unlock exclude each other among the threads of a process", "同一进程的线程之间，加锁与解锁互斥"},
    {"time to live of the key", "键的生存时间"},
    {"draw a fencing token in the same step in which the lock is taken", "在取得锁的同一步中取得防护令牌"},
    {"release after a SET whose answer never came", "SET 没有答复时也释放"},
    {"whether DEL is part of a transaction; WATCH is of no use without", "DEL 是否在事务中；否则 WATCH 没有作用"},
    {"how long one attempt goes on asking, by the wall clock; it asks once at least",
     "一次尝试持续询问多久，按墙上时钟；至少问一次"},
    {"pause between two questions of one attempt", "一次尝试中两次询问的间隔"},
    {"which item of the market the lock is for", "锁对应市场中的哪件商品"},
    {"when a contender sets the time to live; never: as the book's first code in effect",
     "竞争者何时补设生存时间；never：相当于书中最初的代码"},
    {"where the number comes from: a counter or a hash, in the step of the grant, or INCR after it",
     "编号从何而来：授予同一步中的计数器或哈希，或之后的 INCR"},
    {"how many may hold it at once", "最多几个同时持有"},
    {"how long a place is kept, by the clocks of those who come later", "名额保留多久，按后来者的时钟"},
    {"which ranks, counted from 0, are in; up-to-limit is one too many",
     "哪些名次（从 0 起）算进入；up-to-limit 多了一个"},
    {"how many bits of the counter a client keeps, one of them the sign; 0: all 64",
     "客户端保留计数器的多少位（含符号位）；0：全部 64 位"},
    {"so many replicas must have the lock before it counts", "锁到达这么多从节点才算数"},
    {"how long WAIT waits for them; 0ms: for ever", "WAIT 等待多久；0ms：一直等"},
    {"time to live of each key", "每个键的生存时间"},
    {"patience with one server", "对单个服务器的等待时间"},
    {"share of the lease that is given up for clock drift", "为时钟漂移扣除的租期比例"},
    {"and this much more", "再加上这么多"},
    {"votes that are needed; 0: more than half of the servers", "需要的票数；0：超过半数的服务器"},
    {"look whether anything is left of the lease; the algorithm is wrong without",
     "检查租期是否还有剩余；不检查则算法错误"},
    {"what measures the time an attempt took", "用什么测量一次尝试所花的时间"},
    {"whom a failed attempt gives back to: all, or only those that granted",
     "失败时向谁归还：所有服务器，或仅已授予者"},
    {"how long: until all have answered, or only until the votes are decided", "等多久：直到全部答复，或票数已定为止"},
    {"what the hash has as its field", "哈希以什么作字段"},
    {"the release answers whether the lock was the caller's", "释放时答复锁是否属于调用者"},
    {"lease; renewals are a third of it apart", "租期；每过三分之一续期一次"},
    {"a background task renews the lease while the lock is held", "持有锁期间由后台任务续期"},
    {"a renewal without an answer is tried again instead of being the last one",
     "没有答复的续期会重试，而不是就此停止"},
    {"the owner hears that its lock is gone when a renewal finds it so", "续期发现锁已丢失时告知持有者"},
    {"explicit lease; 0ms: none, so a watchdog renews it", "显式租期；0ms：没有，由看门狗续期"},
    {"lease of a hold that is renewed, every third of it", "由看门狗续期的租期，每过三分之一续一次"},
    {"how often the client library sends a command again that was not answered", "没有答复的命令由客户端库重发几次"},
    {"a waiter that was woken and gives up wakes the next one of its process",
     "被唤醒却放弃的等待者唤醒同进程的下一个"},
    {"how long one attempt waits for a message; 0ms: not at all, ten years: for ever",
     "一次尝试等待消息多久；0ms：不等，十年：一直等"},
    {"how long one attempt goes on asking", "一次尝试持续询问多久"},
    {"from the first refusal to the second try", "第一次被拒到第二次尝试的间隔"},
    {"delays double up to this", "间隔倍增到此为止"},
    {"how long one attempt waits", "一次尝试等待多久"},
    {"how long a place in the queue counts, beyond those before it", "队列中的位置在前面的人之后还算数多久"},
    {"leases of several holds are calculated as the library does it; false: kept or set",
     "多次持有的租期按客户端库的方式计算；false：保持或直接设置"},
    {"how long one attempt goes on; 0ms: each part is asked once", "一次尝试持续多久；0ms：每个部分只问一次"},
}};
constexpr std::array<Pair, 6> kMoreMeanings{{
    {"at a single server: of how many locks it consists", "只有一个服务器时：由几把锁组成"},
    {"every other client takes the parts from the last to the first", "每隔一个客户端从后往前取各部分"},
    {"gives up if the parts' leases may have run out on the way", "若各部分的租期可能已在途中结束则放弃"},
    {"how many permits there are", "共有几个许可"},
    {"how long one attempt waits for a message", "一次尝试等待消息多久"},
    {"after this a permit may be taken back, by the clock of whoever asks", "超过此时间许可可被收回，按请求者的时钟"},
}};
constexpr std::array<Pair, 7> kMeaningsOfSql{{
    {"a client that finds no row inserts it, and looks again", "找不到行的客户端插入该行，然后再查一次"},
    {"of its transactions; standard: the server's own, which PostgreSQL and MariaDB differ in",
     "其事务的隔离级别；standard 表示服务器自己的默认级别，PostgreSQL 与 MariaDB 各不相同"},
    {"a client that finds no row to lock has not got the lock", "找不到可锁的行的客户端不算取得锁"},
    {"the release deletes the row only if it is its own", "释放时只删除属于自己的行"},
    {"lockAtMostFor: how long the row is locked if nobody gives it back", "无人归还时该行锁定多久"},
    {"whose clock tells the time: the client's, or now() of the database", "按谁的时钟：客户端的，或数据库的 now()"},
    {"the release changes the row only if it is its own (since 2025)", "释放时只修改属于自己的行（2025 年起）"},
}};

constexpr std::array<Pair, 6> kMeaningsOfEtcd{{
    {"its reads are serializable: a member of a cluster answers them as it knows, perhaps with an old state",
     "用可串行化读：集群的成员按自己所知回答，状态可能已旧"},
    {"time to live of the session's lease, kept alive every third of it", "会话租约的存活时间，每三分之一续租一次"},
    {"how long one attempt waits for those before it; 0ms: for ever", "一次尝试等待前面的人多久；0ms：一直等"},
    {"the context of Unlock is not over when it is called", "调用 Unlock 时其上下文尚未结束"},
    {"a client whose turn comes as its context ends deletes its key, and has the lock (until 3.3.10, #10111)",
     "轮到自己时上下文恰好结束的客户端删除自己的键，却仍算取得锁（3.3.10 之前，#10111）"},
    {"an error ends the wait; false: a client whose key it cannot delete then has the lock (until #11458)",
     "出错即结束等待；false：随后未能删除自己的键的客户端算取得锁（#11458 之前）"},
}};

constexpr std::array<Pair, 16> kMeaningsOfConsul{{
    {"TTL of the session, renewed every half of it; it ends after twice as long",
     "会话的 TTL，每过一半续期一次；两倍时间后会话结束"},
    {"whose servers are asked (?dc=)", "向哪个数据中心的服务器请求（?dc=）"},
    {"how long one attempt waits until the lock is free; 0ms: for ever", "一次尝试等待锁空闲多久；0ms：一直等"},
    {"how long one blocking query waits, and up to a sixteenth longer", "一次阻塞查询等待多久，最多再加十六分之一"},
    {"pause after a refusal without anybody who has the lock: the lock-delay",
     "被拒绝而又无人持有锁（处于 lock-delay）之后的停顿"},
    {"after its session has ended nobody gets the lock for so long", "会话结束后这么久之内谁也得不到锁"},
    {"reads the LockIndex of the key after it has the lock: a fencing token",
     "取得锁后读取键的 LockIndex，作为防护令牌"},
    {"after a refusal it looks whether somebody has the lock (since #1008)", "被拒绝后查看是否有人持有锁（#1008 起）"},
    {"ends its session when it hears that the lock is lost, or nothing", "得知锁已丢失或收不到消息时结束自己的会话"},
    {"a renewal without an answer is tried again (since #912)", "没有答复的续期会重试（#912 起）"},
    {"a session that could not be renewed for its TTL counts as lost (not in Consul)",
     "在 TTL 之内未能续期的会话视为丢失（Consul 没有）"},
    {"how it looks who has the lock, before it has it", "取得锁之前，以哪种一致性读取谁持有锁"},
    {"one session for all attempts of a process (LockOptions.Session)",
     "进程的所有尝试共用一个会话（LockOptions.Session）"},
    {"errors that its watch survives, one after the other; consul lock: 3", "监视能经受的接连错误次数；consul lock：3"},
    {"pause of its watch after an error; consul lock: 1s", "监视出错后的停顿；consul lock：1 秒"},
    {"the limit that a client takes for agreed; 0: the limit", "客户端以为约定的上限；0：即 limit"},
}};

constexpr std::array<Pair, 15> kMeaningsOfZooKeeper{{
    {"how long a session lasts of which nothing is heard", "没有任何消息的会话能维持多久"},
    {"how long one attempt waits for the node to be deleted; 0ms: for ever", "一次尝试等待节点被删除多久；0ms：一直等"},
    {"the release deletes the node only in the session that created it; false: in whatever session the client has by "
     "then",
     "释放只在创建节点的会话里删除节点；false：在客户端当时的任何会话里"},
    {"a client whose predecessor has gone looks at the queue again; false: it takes the lock",
     "前一个节点消失后再次查看队列；false：直接取得锁"},
    {"whoever wants to read takes the lock to write first, then to read, and gives back the first: a downgrade",
     "要读的客户端先取得写锁，再取得读锁，然后归还写锁：锁降级"},
    {"whoever writes reads with the same number, as since Curator 5.5 (CURATOR-621)",
     "正在写的客户端用同一序号来读，Curator 5.5 起如此（CURATOR-621）"},
    {"how long one attempt waits for the mutex and for a lease; 0ms: for ever",
     "一次尝试为互斥锁和名额等待多久；0ms：一直等待"},
    {"names by which a client finds a node again whose creation it did not hear of",
     "使客户端能找回没有收到创建回复的节点的名字"},
    {"a client waits for its predecessor also when that has gone before it could be watched",
     "前一个节点在能被监视之前已消失时，客户端仍然等待它"},
    {"a lost connection wakes whoever waits, and it looks again (since 2.0, pull request 170)",
     "连接丢失会唤醒等待者，由它再次查看（2.0 起，拉取请求 170）"},
    {"a deletion that fails goes on in the background (since 1.1.2)", "失败的删除在后台继续进行（1.1.2 起）"},
    {"a thread whose release fails has the lock no longer; false: it takes it again without a request (until 1.1.2)",
     "释放失败的线程不再持有锁；false：再次取得时不发任何请求（1.1.2 之前）"},
    {"a client that cannot learn who is before it deletes its node (since 1.1.11)",
     "无法得知前面有谁的客户端删除自己的节点（1.1.11 起）"},
    {"a lease that has gone with its session is not handed out (since 2.11, CURATOR-315)",
     "随会话消失的名额不再发给使用者（2.11 起，CURATOR-315）"},
    {"a client that cannot learn how many leases there are gives its own back (CURATOR-335)",
     "无法得知名额数量的客户端归还自己的名额（CURATOR-335）"},
}};

std::string_view find_meaning(std::span<const Pair> pairs, std::string_view meaning) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.first == meaning; });
  return found == pairs.end() ? std::string_view() : found->second;
}

const AlgorithmText* find_text(std::span<const AlgorithmText> texts, std::string_view id) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const AlgorithmText& text) { return text.id == id; });
  return found == texts.end() ? nullptr : &*found;
}

}  // namespace

const AlgorithmText* find_algorithm_text(std::string_view id) {
  for (const auto texts : {texts_of_plain_locks(), texts_of_redisson_locks(), texts_of_sql_locks(),
                           texts_of_etcd_locks(), texts_of_zookeeper_locks(), texts_of_consul_locks()}) {
    if (const AlgorithmText* text = find_text(texts, id); text != nullptr) return text;
  }
  return nullptr;
}

std::string_view parameter_meaning_zh(std::string_view meaning) {
  for (const std::span<const Pair> pairs :
       {std::span<const Pair>(kMeanings), std::span<const Pair>(kMoreMeanings), std::span<const Pair>(kMeaningsOfSql),
        std::span<const Pair>(kMeaningsOfEtcd), std::span<const Pair>(kMeaningsOfZooKeeper),
        std::span<const Pair>(kMeaningsOfConsul)}) {
    if (const std::string_view found = find_meaning(pairs, meaning); !found.empty()) return found;
  }
  return {};
}

}  // namespace lockstep::reports::site
