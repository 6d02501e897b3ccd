#include "scenarios/matrix/answer.hpp"

#include <array>

namespace lockstep::scenarios {
namespace {

constexpr std::array<MatrixFault, 10> kFaults{{
    {"none", "nothing goes wrong", "没有故障"},
    {"overrun", "the work may take three leases", "工作可能持续三个租期"},
    {"crash", "a client may crash at any moment", "客户端可能在任意时刻崩溃", sim::FaultKind::crash},
    {"pause", "a client may be paused at any moment, for up to 10s", "客户端可能在任意时刻停顿，最长 10s",
     sim::FaultKind::pause},
    {"client-skew", "a client's wall clock may be up to 5s off", "客户端的时钟可能偏差最多 5s", sim::FaultKind::skew},
    {"server-jump", "a server's wall clock may jump by up to 5s", "服务器的时钟可能跳变最多 5s", sim::FaultKind::jump,
     sim::Whose::servers},
    {"lost-message", "a request or a reply may be lost", "一个请求或答复可能丢失", sim::FaultKind::lose},
    {"node-restart", "a server may crash and come back empty within 1s", "服务器可能崩溃，并在 1s 内空着重启",
     sim::FaultKind::crash, sim::Whose::servers, true},
    {"primary-lost",
     "the primary may die; its replica is up to 1s behind, and sentinels promote it (independent servers: one may die)",
     "主节点可能宕机；从节点落后最多 1s，由哨兵提升（相互独立的服务器：其中一个可能宕机）"},
    {"partition", "a client may be cut off from the servers for up to 3s", "客户端可能与服务器断开，最长 3s",
     sim::FaultKind::partition},
}};

constexpr std::array<MatrixQuestion, 4> kQuestions{{
    {"mutual-exclusion", "mutual-exclusion", "two clients never believe at once that they hold the lock",
     "绝不会有两个客户端同时认为自己持有锁"},
    {"damage", "no-lost-update", "no update of a counter is lost that the lock protects", "锁保护的计数器不会丢失更新"},
    {"damage-fenced", "no-lost-update", "the same, of a counter that refuses old fencing tokens",
     "同上，但计数器拒绝旧的防护令牌"},
    {"recovery", "recoverable", "when all is over, a fresh client gets the lock in bounded time",
     "一切结束之后，新的客户端能在限定时间内拿到锁"},
}};

}  // namespace

std::span<const MatrixFault> matrix_faults() { return kFaults; }
std::span<const MatrixQuestion> matrix_questions() { return kQuestions; }

}  // namespace lockstep::scenarios
