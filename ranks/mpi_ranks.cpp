// Ranks of MPI.

#include <mpi.h>

#include <cassert>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "scenarios/workers/ranks.hpp"

namespace lockstep {
namespace {

class MpiRanks final : public scenarios::Ranks {
 public:
  MpiRanks() {
    // Who waits for the others lets them work: otherwise it looks for messages without a pause, and where there are as
    // many threads as cores it takes half of one away. What the user has set stays.
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
  }
  ~MpiRanks() override { MPI_Finalize(); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }

  // Errors of MPI end the program (MPI_ERRORS_ARE_FATAL is its default).
  std::vector<std::string> exchange(const std::string& own) override {
    assert(own.size() <= INT_MAX);
    const int own_size = static_cast<int>(own.size());
    std::vector<int> sizes(size_);
    MPI_Allgather(&own_size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    assert(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) <= INT_MAX && "two gigabytes at once");
    std::vector<int> begins(size_);
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
    MPI_Allgatherv(own.data(), own_size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> said;
    for (std::size_t i = 0; i < size_; ++i)
      said.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
    return said;
  }

 private:
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
};

}  // namespace
}  // namespace lockstep

/// What cli/join_ranks.cpp looks for. The caller owns it, and this module stays loaded.
extern "C" lockstep::scenarios::Ranks* lockstep_join_ranks() { return new lockstep::MpiRanks; }
