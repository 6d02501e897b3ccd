#include "checker/properties/properties.hpp"

#include <algorithm>
#include <array>

namespace lockstep::checker {
namespace {

constexpr std::array<Property, 15> table{{
    {"mutual-exclusion", View::belief, "No two clients believe at the same moment that they hold the lock.",
     "任何时刻都不会有两个客户端同时认为自己持有锁。"},
    {"linearizable", View::belief,
     "All acquires and releases can be put in one order, true to real time, that a perfect mutex allows.",
     "所有加锁与解锁操作能按真实时间排成一个理想互斥锁所允许的顺序。"},
    {"no-deadlock", View::belief,
     "No circle of clients, of which each waits for a lock that the next one holds, lasts.",
     "不会出现持续的环路：其中每个客户端都在等待下一个客户端持有的锁。"},
    {"progress", View::belief, "Nobody alive tries longer than a stated bound for a lock that nobody holds or gets.",
     "锁无人持有也无人得到时，活着的客户端的尝试不会超过规定的时限。"},
    {"own-release", View::server, "Nobody removes a lock that the server granted to somebody else.",
     "任何客户端都不会删除服务器授予别人的锁。"},
    {"recoverable", View::server,
     "When all holders are done or dead and every lease is over, a fresh client gets the lock in bounded time.",
     "所有持有者结束或崩溃、所有租约到期之后，新的客户端能在限定时间内拿到锁。"},
    {"reentrancy", View::server,
     "Whoever holds the lock can take it again, and it is free when it was given back as often, and not before.",
     "持有者可以再次加锁；释放次数与加锁次数相同时锁才空闲，不早也不晚。"},
    {"truthful-reports", View::server,
     "A release or renewal that says it succeeded did: the lock was still the caller's.",
     "报告成功的释放或续期确实成功：当时锁仍属于调用者。"},
    {"faithful-renewal", View::server, "Renewals go out for as long as the lock is held, and no longer.",
     "锁被持有期间续期一直进行，此后不再续期。"},
    {"no-lost-wakeup", View::server, "Nobody waits for a lock that is free longer than a stated bound.",
     "锁空闲时，没有人会等待超过规定的时限。"},
    {"capacity", View::belief, "Never more clients believe at once that they hold a semaphore than it has places.",
     "任何时刻认为自己持有信号量的客户端都不会多于它的名额。"},
    {"fair", View::server,
     "Nobody who came earlier is overtaken more often than a stated bound, and nobody is turned away for a later one.",
     "先来者被超越的次数不会多于规定的界限，也不会为后来者而被拒绝。"},
    {"no-lost-update", View::damage, "Nobody overwrites an update of the resource that he has not seen.",
     "没有人会覆盖资源上自己未曾读到的更新。"},
    {"no-oversell", View::damage, "No item of the market is sold twice, and nobody pays more than he has.",
     "市场上的任何商品都不会卖出两次，也没有人付出超过自己所有的钱。"},
    {"fencing", View::damage, "The resource never applies a write of an older grant after one of a newer grant.",
     "资源在应用了较新持锁者的写入之后，绝不再应用较旧持锁者的写入。"},
}};

}  // namespace

std::span<const Property> properties() { return table; }

/// The others ask what becomes of those who want the lock, or of goods.
bool needs_a_holder(std::string_view property) {
  constexpr std::array<std::string_view, 5> others{"no-deadlock", "recoverable", "no-lost-wakeup", "no-oversell",
                                                   "fair"};
  return std::find(others.begin(), others.end(), property) == others.end();
}

const Property* find_property(std::string_view name) {
  for (const Property& property : table) {
    if (property.name == name) return &property;
  }
  return nullptr;
}

}  // namespace lockstep::checker
