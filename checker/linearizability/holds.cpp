#include "checker/linearizability/holds.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lockstep::checker {
namespace {

using Index = std::uint32_t;
using Hold = Action::Hold;
using Operations = std::span<const SearchOperation>;

/// How much alike the operations of a process are.
struct Likeness {
  bool is_sequential = true;  ///< one after the other
  bool is_uniform = true;     ///< it takes and gives back as much each time
  bool is_alike = true;       ///< and any of its acquires would do for any of its releases
  std::int64_t required_until = std::numeric_limits<std::int64_t>::min();  ///< last return of a required release
};

Likeness likeness(Operations operations, std::span<const Index> members) {
  Likeness like;
  const Action* first[2] = {nullptr, nullptr};  // by whether it gives back
  for (std::size_t i = 0; i < members.size(); ++i) {
    const SearchOperation& o = operations[members[i]];
    const bool gives_back = o.action.hold == Hold::gives_back;
    if (first[gives_back] == nullptr) first[gives_back] = &o.action;
    like.is_sequential = like.is_sequential && (i == 0 || operations[members[i - 1]].returned < o.invoked);
    like.is_uniform = like.is_uniform && o.action.a == operations[members[0]].action.a;
    like.is_alike = like.is_alike && o.action == *first[gives_back];
    if (gives_back && o.is_required) like.required_until = std::max(like.required_until, o.returned);
  }
  like.is_alike = like.is_alike && like.is_uniform && like.is_sequential;
  return like;
}

/// The operations of one process, by invocation.
void plan_process(Operations operations, std::span<const Index> members, LockHolds& holds) {
  const Likeness like = likeness(operations, members);
  std::size_t needed = 0;  // required releases from here on, without an acquire between here and them
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const SearchOperation& o = operations[*member];
    if (o.action.hold == Hold::gives_back) {
      holds.is_eager[*member] = o.is_required ? like.is_sequential : like.is_alike && needed == 0;
      needed += o.is_required ? 1 : 0;
      continue;
    }
    const bool is_needed = like.is_alike ? needed != 0 : o.invoked <= like.required_until;
    holds.is_pointless[*member] = !o.is_required && like.is_uniform && !is_needed;
    needed -= needed == 0 ? 0 : 1;
  }
}

}  // namespace

LockHolds plan_holds(Operations operations, bool asks_for_taken) {
  LockHolds holds;
  holds.process.assign(operations.size(), 0);
  holds.is_eager.assign(operations.size(), 0);
  holds.is_pointless.assign(operations.size(), 0);
  std::vector<Index> by_process;
  for (Index o = 0; o < operations.size(); ++o) {
    const Action& action = operations[o].action;
    if (action.effect != Action::Effect::none && action.hold != Hold::none) by_process.push_back(o);
  }
  const auto key = [&](Index o) { return std::tuple(operations[o].action.process, operations[o].invoked, o); };
  std::sort(by_process.begin(), by_process.end(), [&key](Index a, Index b) { return key(a) < key(b); });
  for (std::size_t begin = 0, end = 0; begin < by_process.size(); begin = end, ++holds.processes) {
    const std::uint32_t process = operations[by_process[begin]].action.process;
    while (end < by_process.size() && operations[by_process[end]].action.process == process) {
      holds.process[by_process[end++]] = holds.processes;
    }
    if (!asks_for_taken) plan_process(operations, std::span(by_process).subspan(begin, end - begin), holds);
  }
  return holds;
}

}  // namespace lockstep::checker
