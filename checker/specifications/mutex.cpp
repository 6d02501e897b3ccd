// One lock, free at first. An acquire needs it free, a release needs it held, by anyone.

#include <array>

#include "checker/linearizability/model/specification.hpp"
#include "checker/specifications/models.hpp"

namespace lockstep::checker::specifications {
namespace {

class Mutex final : public Specification {
 public:
  static constexpr std::string_view name = "mutex";
  static constexpr std::string_view summary = "a lock that anybody may release";
  static constexpr std::array functions = {ModelFunction{"acquire"}, ModelFunction{"release"}};
  enum Kind : std::uint8_t { acquire, release, denied };

  Mutex(const OperationHistory&, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : check_failed_(options.check_failed) {}

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = 0; }

  Action action(const HistoryOperation& o) const override {
    if (o.phase != sim::Phase::fail)
      return {.effect = Action::Effect::updates, .kind = o.function == 0 ? acquire : release};
    if (!check_failed_ || o.function != 0) return {};
    return {.effect = Action::Effect::reads, .kind = denied};
  }

  bool step(std::uint64_t* state, const Action& action) override {
    const bool is_held = *state != 0;
    if (action.kind == denied) return is_held;
    if (is_held == (action.kind == acquire)) return false;
    *state = action.kind == acquire ? 1 : 0;
    return true;
  }

  std::string describe(const std::uint64_t* state) const override { return *state != 0 ? "held" : "free"; }

 private:
  bool check_failed_;
};

class MutexModel final : public ModelOf<Mutex> {
 public:
  // Not `holds`: as a release belongs to no acquire, there are none that one could shorten.
  NearLinearPath near_linear_path() const final { return NearLinearPath::alternation; }
};

}  // namespace

const Model& mutex() {
  static const MutexModel model;
  return model;
}

}  // namespace lockstep::checker::specifications
