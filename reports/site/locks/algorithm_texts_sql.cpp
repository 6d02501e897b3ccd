#include <array>

#include "reports/site/locks/algorithm_texts.hpp"

namespace lockstep::reports::site {

std::span<const AlgorithmText> texts_of_sql_locks() {
  static const std::array<AlgorithmText, 7> all{{
      {"sql-for-update",
       "用 SELECT FOR UPDATE 锁住一行直到事务结束",
       "A transaction locks the row of the lock's name and stays open for as long as the lock is held; whoever comes "
       "waits at the server, in turn. A client that dies is rolled back when the server notices, so there is no lease. "
       "But a server that closes the session frees the row without its owner's knowing, and where there is no row "
       "nothing is locked.",
       "事务锁住以锁名为键的一行，持有期间一直不结束；后来者在服务器上依次等待。客户端死亡后，服务器一旦发现就回滚，因"
       "此"
       "没有租期。但服务器若关闭会话，行就被放开而持有者并不知道；行不存在时则什么也没锁住。",
       {{"lock", "row of the table locks, there from the beginning; who holds it is its lock in the server's memory",
         "表 locks 中预先存在的行；持有者体现为服务器内存中的行锁"}},
       {"models/locks/sql/sql_for_update.cpp"}},
      {"sql-unique-insert",
       "插入带唯一键的行，用 DELETE 释放",
       "The lock's name is a primary key: of all who insert the row, one succeeds and the others are told that the key "
       "is there. The row has no end; if its owner dies, somebody has to delete it by hand.",
       "锁名是主键：所有插入该行的客户端中只有一个成功，其余得知键已存在。行没有期限；持有者死亡后只能人工删除。",
       {{"lock", "row of the table owners: the owner's token, without an end",
         "表 owners 中的行：持有者的标识，没有期限"}},
       {"models/locks/sql/sql_unique_insert.cpp"}},
      {"sql-version-cas",
       "用 UPDATE … WHERE version = 旧值 提升版本号，作为资源的令牌",
       "Whoever raises the version from the value that it has read gets the new one as a number for the resource, "
       "which "
       "refuses whoever comes after a later number. It keeps nobody out: several may believe that it is their turn.",
       "从读到的值成功提升版本号的客户端，得到新值作为交给资源的编号；资源拒绝晚于更大编号到来的写入。它不阻挡任何人："
       "多个"
       "客户端可能同时认为轮到自己。",
       {{"lock", "row of the table versions: how often the version was raised",
         "表 versions 中的行：版本号被提升的次数"}},
       {"models/locks/sql/sql_version_cas.cpp"}},
      {"sql-lease-row",
       "带租期结束时刻的行，用 UPDATE … WHERE lock_until <= now 接管（ShedLock）",
       "The row says until when the lock is held. Whoever finds that in the past changes it in one statement, and owns "
       "the lock if a row was changed. By the application's clock, a client whose clock is ahead takes a lock that is "
       "still held; by the database's there is one clock.",
       "行中写明锁持有到何时。发现它已过去的客户端用一条语句修改它，若改动了一行就拥有锁。按应用自己的时钟，时钟快的客"
       "户端"
       "会抢走仍被持有的锁；按数据库的时钟则只有一个时钟。",
       {{"lock", "row of the table shedlock: lock_until, locked_at and locked_by",
         "表 shedlock 中的行：lock_until、locked_at 与 locked_by"}},
       {"models/locks/sql/sql_lease_row.cpp"}},
      {"sql-advisory",
       "会话级咨询锁：pg_advisory_lock 与 pg_advisory_unlock",
       "The server keeps a lock by name for a session, without a row or a transaction; whoever comes waits in turn. It "
       "ends with the session: when the server loses the connection, its owner does not know.",
       "服务器按名字为会话保存一把锁，不需要行或事务；后来者依次等待。锁随会话结束：服务器失去连接时，持有者并不知道。",
       {{"lock", "advisory lock in the server's memory, of a session", "服务器内存中的咨询锁，属于一个会话"}},
       {"models/locks/sql/sql_advisory.cpp"}},
      {"lock-inside-transaction",
       "在事务之内加锁与解锁的咨询锁：解锁早于 COMMIT",
       "An annotation opens a transaction around a method, and the method locks: BEGIN, lock, read, write, unlock, "
       "COMMIT. "
       "Nobody else is in the section while the lock is held, but what was written in it is visible only after the "
       "COMMIT: whoever gets the lock in between reads the old value and overwrites the new one.",
       "注解在方法外面开启事务，方法之内才加锁：BEGIN、加锁、读、写、解锁、COMMIT。持锁期间确实没有别人，但写入的内容要"
       "到 "
       "COMMIT 之后才可见：在两者之间拿到锁的客户端读到旧值，随后覆盖新值。",
       {{"lock", "advisory lock in the server's memory, of a session", "服务器内存中的咨询锁，属于一个会话"},
        {"resource", "row of the table counters: what the lock protects", "表 counters 中的行：锁所保护的数据"}},
       {"models/locks/sql/lock_inside_transaction.cpp", "models/locks/sql/transaction_lock.cpp"}},
      {"lock-outside-transaction",
       "在事务之外加锁与解锁的咨询锁：解锁晚于 COMMIT",
       "The lock is taken before the transaction begins, and given back when it has ended: whoever comes next sees "
       "what "
       "was committed, also with a snapshot.",
       "在事务开始之前加锁，事务结束之后解锁：后来者看得到已提交的内容，使用快照时也一样。",
       {{"lock", "advisory lock in the server's memory, of a session", "服务器内存中的咨询锁，属于一个会话"},
        {"resource", "row of the table counters: what the lock protects", "表 counters 中的行：锁所保护的数据"}},
       {"models/locks/sql/lock_outside_transaction.cpp", "models/locks/sql/transaction_lock.cpp"}},
  }};
  return all;
}

}  // namespace lockstep::reports::site
