#include "cli/join_ranks.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace lockstep::cli {
namespace {

long number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

/// As its launcher says: Open MPI's mpirun, MPICH's, or srun with PMIx. 0: it has none.
long started_together() {
  if (const long open_mpi = number_of("OMPI_COMM_WORLD_SIZE")) return open_mpi;
  if (const long mpich = number_of("PMI_SIZE")) return mpich;
  return std::getenv("PMIX_RANK") == nullptr ? 0 : number_of("SLURM_STEP_NUM_TASKS");
}

}  // namespace

std::variant<std::unique_ptr<scenarios::Ranks>, std::string> join_ranks() {
  const long count = started_together();
  if (count <= 1) return std::unique_ptr<scenarios::Ranks>();
  std::error_code error;
  const std::filesystem::path module =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "lockstep_mpi.so";
  // For all to see: Open MPI loads parts of its own that look for it.
  void* loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* join = loaded == nullptr ? nullptr : dlsym(loaded, "lockstep_join_ranks");
  if (join == nullptr) {
    const char* why = dlerror();
    return fmt::format(
        "started as one of {} processes of MPI, and built without it ({}): install libopenmpi-dev and build again, or "
        "start each by itself with --shard and join them with --merge (lockstep fuzz --help)",
        count, why == nullptr ? "no reason is known" : why);
  }
  return std::unique_ptr<scenarios::Ranks>(reinterpret_cast<scenarios::Ranks* (*)()>(join)());
}

std::string objection_of_any(const std::string& own, const Output& output) {
  if (output.ranks == nullptr) return own;
  for (std::string& said : output.ranks->exchange(own)) {
    if (!said.empty()) return std::move(said);
  }
  return {};
}

}  // namespace lockstep::cli
