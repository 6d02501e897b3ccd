#pragma once

// The independent oracle of the linearizability tests: what each model allows, written down a second time from its
// definition; all orders tried one after the other; and validators of proofs. Nothing is shared with the checker's
// specifications, paths or searches. For at most 10 operations, but for `is_linearization`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/linearizability/linearizability.hpp"

namespace lockstep::checker::oracle {

/// Everything that any of the models remembers of one key.
struct Object {
  std::optional<std::uint32_t> owner;
  std::int64_t depth = 0;
  std::int64_t token_of_hold = nil;
  std::int64_t token_max = nil;
  std::map<std::uint32_t, std::int64_t> held;  ///< permits or read locks, by process
  std::int64_t value = nil;
  std::map<std::uint32_t, std::int64_t> registers;
  std::string text;
  std::set<std::int64_t> elements;
  std::deque<std::int64_t> queue;

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [process, count] : held) sum += count;
    return sum;
  }
};

/// Does the model allow the operation now, and what does it do? Of failed ones: is there a reason now?
inline bool step(const OperationHistory& h, std::string_view model, const LinearizabilityOptions& options,
                 const HistoryOperation& o, Object& x) {
  const bool failed = o.phase == sim::Phase::fail;
  const bool has_out = o.out_known;
  const auto out = has_out ? std::optional(o.out) : std::nullopt;
  const bool first = o.function == 0;
  if (model == "mutex" || model == "owner-mutex" || model == "fenced-mutex") {
    const bool by_owner = model == "mutex" || (x.owner && *x.owner == o.process);
    if (failed) return x.owner.has_value();
    if (!first) {
      if (!x.owner || !by_owner) return false;
      x.owner.reset();
      return true;
    }
    if (x.owner) return false;
    x.owner = o.process;
    if (model == "fenced-mutex" && out) {
      if (*out <= x.token_max) return false;
      x.token_max = *out;
    }
    return true;
  }
  if (model == "reentrant-mutex" || model == "reentrant-fenced-mutex") {
    const bool mine = x.owner && *x.owner == o.process;
    const bool full = mine && static_cast<std::uint64_t>(x.depth) >= options.reentrancy_max;
    if (failed) return (x.owner && !mine) || full;
    if (!first) {
      if (!mine) return false;
      if (--x.depth == 0) {
        x.owner.reset();
        x.token_of_hold = nil;
      }
      return true;
    }
    if ((x.owner && !mine) || full) return false;
    x.owner = o.process;
    ++x.depth;
    if (model == "reentrant-mutex" || !out) return true;
    if (x.token_of_hold != nil) return x.token_of_hold == *out;
    if (*out <= x.token_max) return false;
    x.token_of_hold = x.token_max = *out;
    return true;
  }
  if (model == "semaphore") {
    const std::int64_t n = o.a == nil ? 1 : o.a;
    if (first) {
      const bool fits = x.total() + n <= options.permits;
      if (failed) return !fits;
      if (fits) x.held[o.process] += n;
      return fits;
    }
    if (x.held[o.process] < n) return false;
    x.held[o.process] -= n;
    return true;
  }
  if (model == "read-write-lock") {
    const bool can = o.function == 0 ? !x.owner : !x.owner && x.total() == 0;
    if (failed) return !can;
    switch (o.function) {
      case 0:
        if (can) ++x.held[o.process];
        return can;
      case 1: return x.held[o.process]-- > 0;
      case 2:
        if (can) x.owner = o.process;
        return can;
      default:
        if (!x.owner || *x.owner != o.process) return false;
        x.owner.reset();
        return true;
    }
  }
  if (model == "register" || model == "cas-register") {
    if (o.function == 0) return !out || *out == x.value;
    if (o.function == 1) {
      x.value = o.a;
      return true;
    }
    if (failed) return x.value != o.a;
    if (x.value != o.a) return false;
    x.value = o.b;
    return true;
  }
  if (model == "multi-register") {
    for (std::int64_t i = o.a; i < o.a + o.b; ++i) {
      const MicroOperation& m = h.micro_operations[i];
      auto it = x.registers.try_emplace(m.register_index, nil).first;
      if (m.is_write) it->second = m.value;
      if (!m.is_write && m.is_known && it->second != m.value) return false;
    }
    return true;
  }
  if (model == "kv") {
    if (o.function == 0) return !out || (*out == nil ? x.text.empty() : x.text == h.texts[*out]);
    x.text = (o.function == 1 ? "" : x.text) + h.texts[o.a];
    return true;
  }
  if (model == "set") {
    const bool has = x.elements.count(o.a) != 0;
    switch (o.function) {
      case 0: x.elements.insert(o.a); return !out || (*out != 0) != has;
      case 1: x.elements.erase(o.a); return !out || (*out != 0) == has;
      case 2: return !out || (*out != 0) == has;
      default:
        return !out || (x.elements.size() == static_cast<std::size_t>(o.b) &&
                        x.elements == std::set<std::int64_t>(h.elements.begin() + o.a, h.elements.begin() + o.a + o.b));
    }
  }
  // fifo-queue
  if (first) {
    x.queue.push_back(o.a);
    return true;
  }
  if (failed || (out && *out == nil)) return x.queue.empty();
  if (x.queue.empty() || (out && x.queue.front() != *out)) return false;
  x.queue.pop_front();
  return true;
}

/// Does a failed operation say anything?
inline bool is_checked_failure(std::string_view model, const LinearizabilityOptions& options,
                               const HistoryOperation& o) {
  if (o.phase != sim::Phase::fail || !options.check_failed) return false;
  if (model == "cas-register") return o.function == 2;
  if (model == "fifo-queue") return o.function == 1;
  if (model == "read-write-lock") return o.function % 2 == 0;
  const bool is_lock = model.ends_with("mutex") || model == "semaphore";
  return is_lock && o.function == 0;
}

enum class Role : std::uint8_t { required, optional, absent };

inline std::vector<Role> roles_of(const OperationHistory& h, std::string_view model,
                                  const LinearizabilityOptions& options) {
  std::vector<Role> roles;
  for (const HistoryOperation& o : h.operations) {
    if (o.phase == sim::Phase::fail) {
      roles.push_back(is_checked_failure(model, options, o) ? Role::required : Role::absent);
    } else {
      roles.push_back(o.is_unknown() ? Role::optional : Role::required);
    }
  }
  return roles;
}

inline bool precedes(const HistoryOperation& a, const HistoryOperation& b) {
  return !a.is_unknown() && a.returned < b.invoked;
}

using Objects = std::map<std::uint32_t, Object>;

/// Can the operations outside `placed` follow, all that are required and some of the optional ones?
inline bool can_complete(const OperationHistory& h, std::string_view model, const LinearizabilityOptions& options,
                         const std::vector<Role>& roles, unsigned placed, const Objects& objects) {
  const std::size_t n = h.operations.size();
  bool is_complete = true;
  for (std::size_t i = 0; i < n; ++i) is_complete &= roles[i] != Role::required || (placed >> i & 1) != 0;
  if (is_complete) return true;
  for (std::size_t i = 0; i < n; ++i) {
    if (roles[i] == Role::absent || (placed >> i & 1) != 0) continue;
    bool may_be_next = true;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const bool is_placed = (placed >> j & 1) != 0;
      if (is_placed && precedes(h.operations[i], h.operations[j])) may_be_next = false;
      if (!is_placed && roles[j] == Role::required && precedes(h.operations[j], h.operations[i])) may_be_next = false;
    }
    if (!may_be_next) continue;
    Objects after = objects;
    Object& object = after.try_emplace(model == "multi-register" ? 0 : h.operations[i].key).first->second;
    if (!step(h, model, options, h.operations[i], object)) continue;
    if (can_complete(h, model, options, roles, placed | 1U << i, after)) return true;
  }
  return false;
}

/// Keys are not taken apart: all is one world.
inline bool is_linearizable(const OperationHistory& h, std::string_view model, const LinearizabilityOptions& options) {
  return can_complete(h, model, options, roles_of(h, model, options), 0, {});
}

/// Are these operations alone impossible, whatever else happened or not?
inline bool is_conflict(const OperationHistory& h, std::string_view model, const LinearizabilityOptions& options,
                        std::span<const std::uint32_t> conflict) {
  std::vector<Role> roles = roles_of(h, model, options);
  for (std::uint32_t i = 0; i < roles.size(); ++i) {
    const bool is_named = std::find(conflict.begin(), conflict.end(), i) != conflict.end();
    if (is_named && roles[i] != Role::required) return false;
    if (!is_named && roles[i] == Role::required) roles[i] = Role::optional;
  }
  return !can_complete(h, model, options, roles, 0, {});
}

/// What was known at this moment.
inline OperationHistory until(const OperationHistory& h, std::int64_t moment) {
  OperationHistory prefix = h;
  prefix.operations.clear();
  for (const HistoryOperation& o : h.operations) {
    if (o.invoked > moment) continue;
    prefix.operations.push_back(o);
    HistoryOperation& last = prefix.operations.back();
    const bool is_open = !o.is_unknown() && o.returned > moment;
    if (is_open && o.phase == sim::Phase::fail) prefix.operations.pop_back();
    if (is_open && o.phase == sim::Phase::ok) last.phase = sim::Phase::info;
  }
  return prefix;
}

/// The proof of `holds`, or of the prefix of one key before a moment: an order that real time and the model allow, with
/// everything in it that took effect. Near-linear.
inline bool is_linearization(const OperationHistory& h, std::string_view model, const LinearizabilityOptions& options,
                             std::span<const std::uint32_t> order, std::optional<std::uint32_t> only_key = {},
                             std::int64_t before = std::numeric_limits<std::int64_t>::max()) {
  std::vector<char> is_placed(h.operations.size(), 0);
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> latest_invocation;
  Objects objects;
  // The elements of a set are objects of their own if nobody reads it whole; then the order is one for each element.
  const bool by_element = model == "set" && std::none_of(h.operations.begin(), h.operations.end(),
                                                         [](const HistoryOperation& o) { return o.function == 3; });
  for (const std::uint32_t i : order) {
    if (i >= h.operations.size() || is_placed[i] != 0) return false;
    is_placed[i] = 1;
    const HistoryOperation& o = h.operations[i];
    const std::uint32_t key = model == "multi-register" ? 0 : o.key;
    if (o.phase == sim::Phase::fail && !is_checked_failure(model, options, o)) return false;
    if (!step(h, model, options, o, objects[key])) return false;
    const auto it = latest_invocation.try_emplace({key, by_element ? o.a : 0}, o.invoked).first;
    if (!o.is_unknown() && o.returned < it->second) return false;
    it->second = std::max(it->second, o.invoked);
  }
  for (std::size_t i = 0; i < h.operations.size(); ++i) {
    const HistoryOperation& o = h.operations[i];
    if (is_placed[i] != 0 || o.is_unknown() || o.returned >= before || (only_key && o.key != *only_key)) continue;
    if (o.phase == sim::Phase::ok || is_checked_failure(model, options, o)) return false;
  }
  return true;
}

/// The proof of a mutex that did too much, counted from the definition: do these fill the stretch, and does too little of
/// the other kind reach into it?
inline bool is_overfull(const OperationHistory& h, const Stretch& stretch, std::span<const std::uint32_t> conflict) {
  const HistoryOperation& last = h.operations[stretch.last];
  const auto begin = stretch.first ? h.operations[*stretch.first].invoked : std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t i : conflict) {
    const HistoryOperation& o = h.operations[i];
    const bool is_of_kind = (o.function == 0) == stretch.of_acquires && o.key == last.key && o.is_certain();
    if (!is_of_kind || o.invoked < begin || o.returned > last.returned) return false;
  }
  std::size_t between = 0;
  for (const HistoryOperation& o : h.operations) {
    if ((o.function == 0) == stretch.of_acquires || o.phase == sim::Phase::fail || o.key != last.key) continue;
    if (o.invoked <= last.returned && (o.is_unknown() || o.returned >= begin)) ++between;
  }
  // A lock that is free: each release takes one acquire. Otherwise, or of acquires: one fewer.
  const std::size_t needed = conflict.size() - (stretch.first || stretch.of_acquires ? 1 : 0);
  return !conflict.empty() && between < needed && stretch.inside == conflict.size() && stretch.between == between;
}

}  // namespace lockstep::checker::oracle
