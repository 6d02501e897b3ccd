// Margins of the zone checker, for worlds that another model checker has been asked about (peers/README.md).
//
//   zone_margin < WORLDS     a world is a line of whole numbers: clients, rounds, servers, quorum, whether failures give back (0, 1),
//                           ttl, validity (-1: none), latency, start, hold and between (two each), pauses, pauses of the work,
//                           and the longest pause to be asked about; the answer is a line "none", or the margin and whether it is
//                           attained (0, 1)

#include <cstdint>
#include <iostream>

#include "checker/testing/zone_checker.hpp"

int main() {
  using lockstep::checker::testing::LockWorld;
  LockWorld world;
  std::int64_t validity = 0;
  std::int64_t most = 0;
  const auto range = [](lockstep::checker::testing::Ticks& ticks) { std::cin >> ticks.lo >> ticks.hi; };
  while (std::cin >> world.clients >> world.rounds >> world.servers >> world.quorum >> world.gives_back_failures >>
         world.ttl >> validity) {
    world.validity.reset();
    if (validity >= 0) world.validity = validity;
    for (auto* ticks : {&world.latency, &world.start, &world.hold, &world.between}) range(*ticks);
    if (!(std::cin >> world.pauses >> world.work_pauses >> most)) return 2;
    if (const auto margin = lockstep::checker::testing::margin(world, most)) {
      std::cout << margin->ticks << ' ' << margin->attained << std::endl;
    } else {
      std::cout << "none" << std::endl;
    }
  }
  return std::cin.eof() ? 0 : 2;
}
