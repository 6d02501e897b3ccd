#pragma once

// Ranks as threads of one process; for tests.

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/workers/ranks.hpp"

namespace lockstep::scenarios {

/// `work(0)` to `work(count - 1)`, side by side, each with ranks of its own. Requires: all exchange equally often.
inline void in_ranks(std::size_t count, const std::function<void(Ranks&)>& work) {
  struct Place {
    explicit Place(std::size_t n)
        : said(n), all_said(static_cast<std::ptrdiff_t>(n)), all_heard(static_cast<std::ptrdiff_t>(n)) {}
    std::vector<std::string> said;
    std::barrier<> all_said;
    std::barrier<> all_heard;
  };
  class Thread final : public Ranks {
   public:
    Thread(Place& place, std::size_t rank) : place_(place), rank_(rank) {}
    std::size_t rank() const override { return rank_; }
    std::size_t size() const override { return place_.said.size(); }
    std::vector<std::string> exchange(const std::string& own) override {
      place_.said[rank_] = own;
      place_.all_said.arrive_and_wait();
      std::vector<std::string> all = place_.said;
      place_.all_heard.arrive_and_wait();
      return all;
    }

   private:
    Place& place_;
    std::size_t rank_;
  };
  Place place(count);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&place, &work, rank] {
      Thread ranks(place, rank);
      work(ranks);
    });
  }
}

}  // namespace lockstep::scenarios
