#pragma once

// Random histories for tests and measurements: what an object really did, seen by clients whose operations overlap;
// with unknown outcomes, with mistakes, or with no sense at all. Results come from the tests' oracle.

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "checker/testing/linearizability_oracle.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::oracle {

struct Shape {
  std::size_t operations = 7;
  std::uint32_t processes = 3;
  std::uint32_t keys = 1;
  std::int64_t width = 6;            ///< how far the ends of an operation lie from the moment of its effect
  std::uint64_t unknown_one_in = 6;  ///< 0: never
  std::int64_t values = 3;           ///< how many different ones are written
  bool is_sequential = true;         ///< a process ends an operation before it begins the next
  bool reads_sets = true;
};

inline std::int64_t text_index(OperationHistory& h, const std::string& text) {
  const auto it = std::find(h.texts.begin(), h.texts.end(), text);
  if (it != h.texts.end()) return it - h.texts.begin();
  h.texts.push_back(text);
  return static_cast<std::int64_t>(h.texts.size()) - 1;
}

/// An operation with random arguments, and no result yet.
inline HistoryOperation random_operation(OperationHistory& h, const Model& model, sim::Random& random,
                                         const Shape& shape) {
  const std::string_view name = model.name();
  HistoryOperation o;
  o.process = static_cast<std::uint32_t>(random.below(shape.processes));
  o.key = name == "multi-register" ? 0 : static_cast<std::uint32_t>(random.below(shape.keys));
  o.function = static_cast<std::uint16_t>(random.below(model.functions().size()));
  if (name == "set" && o.function == 3 && !shape.reads_sets) o.function = 2;
  const ModelFunction& function = model.functions()[o.function];
  using Argument = ModelFunction::Argument;
  if (function.argument == Argument::value || function.argument == Argument::pair) {
    o.a = name == "semaphore" ? (random.one_in(4) ? 2 : nil) : random.between(0, shape.values - 1);
  }
  if (function.argument == Argument::pair) {
    if (random.one_in(6)) o.a = nil;
    o.b = random.between(0, shape.values - 1);
  }
  if (name == "kv" && o.function != 0) {
    static constexpr const char* pieces[] = {"a", "b", "ab", ""};
    o.a = text_index(h, pieces[random.below(4)]);
  }
  if (function.argument == Argument::transaction) {
    o.a = static_cast<std::int64_t>(h.micro_operations.size());
    o.b = random.between(1, 3);
    for (std::int64_t i = 0; i < o.b; ++i) {
      const bool is_write = random.one_in(2);
      h.micro_operations.push_back({.register_index = static_cast<std::uint32_t>(random.below(2)),
                                    .is_write = is_write,
                                    .value = is_write ? random.between(0, shape.values - 1) : nil,
                                    .is_known = is_write || !random.one_in(6)});
    }
  }
  return o;
}

/// Gives the operation the result that it has on this object: for an acquire a token, old or new.
inline void set_result(OperationHistory& h, std::string_view model, sim::Random& random, HistoryOperation& o,
                       const Object& x, std::int64_t& next_token) {
  if (model == "fenced-mutex" || model == "reentrant-fenced-mutex") {
    if (o.function != 0) return;
    o.out_known = !random.one_in(5);
    const bool is_again = x.owner && x.token_of_hold != nil;
    o.out = is_again ? x.token_of_hold : next_token;
    if (!is_again) next_token += random.between(1, 2);
  } else if ((model == "register" || model == "cas-register") && o.function == 0) {
    o.out = x.value;
    o.out_known = !random.one_in(12);
  } else if (model == "kv" && o.function == 0) {
    o.out = x.text.empty() && random.one_in(2) ? nil : text_index(h, x.text);
    o.out_known = true;
  } else if (model == "set") {
    const bool has = x.elements.count(o.a) != 0;
    o.out_known = o.function >= 2 || random.one_in(2);
    o.out = o.function == 0 ? (has ? 0 : 1) : has ? 1 : 0;
    if (o.function == 3) {
      o.out = nil;
      o.a = static_cast<std::int64_t>(h.elements.size());
      o.b = static_cast<std::int64_t>(x.elements.size());
      h.elements.insert(h.elements.end(), x.elements.begin(), x.elements.end());
    }
  } else if (model == "fifo-queue" && o.function == 1) {
    o.out_known = !random.one_in(6);
    o.out = x.queue.empty() ? nil : x.queue.front();
  } else if (model == "multi-register") {
    std::map<std::uint32_t, std::int64_t> now = x.registers;
    for (std::int64_t i = o.a; i < o.a + o.b; ++i) {
      MicroOperation& m = h.micro_operations[i];
      std::int64_t& value = now.try_emplace(m.register_index, nil).first->second;
      if (m.is_write) value = m.value;
      if (!m.is_write && m.is_known) m.value = value;
    }
  }
}

inline void forget_result(OperationHistory& h, std::string_view model, HistoryOperation& o) {
  o.phase = sim::Phase::info;
  o.out_known = false;
  if (model != "multi-register") return;
  for (std::int64_t i = o.a; i < o.a + o.b; ++i) h.micro_operations[i].is_known = h.micro_operations[i].is_write;
}

/// Linearizable, unless `mutate` follows: each operation takes effect at a moment within its interval, but for some of
/// unknown outcome, which do not.
inline OperationHistory true_history(const Model& model, sim::Random& random, const Shape& shape,
                                     const LinearizabilityOptions& options) {
  const std::string_view name = model.name();
  OperationHistory h;
  h.values_are_texts = name == "kv";
  Objects objects;
  std::vector<std::int64_t> ended(shape.processes, 0);
  std::int64_t now = 0;
  std::int64_t next_token = 1;
  for (std::size_t tries = 0; h.operations.size() < shape.operations && tries < 40 * shape.operations; ++tries) {
    HistoryOperation o = random_operation(h, model, random, shape);
    now += random.between(0, 2);
    const std::int64_t earliest = shape.is_sequential ? ended[o.process] + 1 : 0;
    if (earliest > now) continue;
    o.invoked = std::max(earliest, now - random.between(0, shape.width));
    o.returned = now + random.between(0, shape.width);
    Object& object = objects[o.key];
    Object after = object;
    set_result(h, name, random, o, object, next_token);
    if (!step(h, name, options, o, after)) {
      o.phase = sim::Phase::fail;
      o.out_known = false;
      if (!is_checked_failure(name, options, o) || random.one_in(2)) continue;
    } else if (shape.unknown_one_in != 0 && random.one_in(shape.unknown_one_in)) {
      forget_result(h, name, o);
      if (random.one_in(2)) {
        after = object;
      } else {
        // Without a result, it may do something else.
        after = object;
        step(h, name, options, o, after);
      }
    }
    object = after;
    ended[o.process] = o.returned;
    h.operations.push_back(o);
  }
  std::sort(h.operations.begin(), h.operations.end(), [](const HistoryOperation& a, const HistoryOperation& b) {
    return std::tuple(a.invoked, a.returned, a.process, a.function, a.a) <
           std::tuple(b.invoked, b.returned, b.process, b.function, b.a);
  });
  return h;
}

/// One mistake of the server, of a client or of whoever wrote the history down.
inline void mutate(OperationHistory& h, const Model& model, sim::Random& random, const Shape& shape) {
  if (h.operations.empty()) return;
  HistoryOperation& o = h.operations[random.below(h.operations.size())];
  const HistoryOperation& other = h.operations[random.below(h.operations.size())];
  switch (random.below(9)) {
    case 0: o.returned += random.between(1, 2 * shape.width); break;
    case 1: o.returned = o.invoked = random.between(o.invoked, o.returned); break;
    case 2: o.process = static_cast<std::uint32_t>(random.below(shape.processes)); break;
    case 3:
      if (model.functions()[o.function].argument == model.functions()[other.function].argument && !other.out_known &&
          o.function < 3) {
        o.function = other.function;
        o.out_known = false;
      }
      break;
    case 4:
    case 6:
    case 7:
      if (o.out_known && model.name() == "kv" && !h.texts.empty()) {
        o.out = static_cast<std::int64_t>(random.below(h.texts.size()));
      } else if (o.out_known && model.name() != "set" && model.name() != "kv") {
        o.out = other.out_known && random.one_in(2) ? other.out : random.between(0, shape.values - 1);
      }
      if (o.out_known && model.name() == "set" && o.function < 3) o.out = 1 - o.out;
      if (o.out_known && model.name() == "set" && o.function == 3 && o.b > 0) {
        // One element twice, or another in its place.
        const auto begin = static_cast<std::ptrdiff_t>(h.elements.size());
        for (std::int64_t i = 0; i < o.b; ++i) h.elements.push_back(h.elements[static_cast<std::size_t>(o.a + i)]);
        h.elements.push_back(h.elements[static_cast<std::size_t>(begin + random.between(0, o.b - 1))]);
        o.b += random.one_in(2) ? 1 : 0;
        o.a = begin + (random.one_in(2) && o.b > 1 ? 1 : 0);
        o.b = std::min<std::int64_t>(o.b, static_cast<std::int64_t>(h.elements.size()) - o.a);
      }
      break;
    case 5:
      if (!h.micro_operations.empty()) {
        MicroOperation& m = h.micro_operations[random.below(h.micro_operations.size())];
        if (m.is_known) m.value = random.between(0, shape.values - 1);
      }
      break;
    default: {
      const std::int64_t length = o.returned - o.invoked;
      o.invoked = random.between(0, o.returned);
      o.returned = o.invoked + length;
      break;
    }
  }
}

}  // namespace lockstep::checker::oracle
