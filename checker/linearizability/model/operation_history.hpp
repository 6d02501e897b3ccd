#pragma once

// A history of operations from anywhere, in numbers: what a parser fills in and the linearizability checker reads.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The value that is no value: a register that was never written, a dequeue that found nothing.
inline constexpr std::int64_t nil = std::numeric_limits<std::int64_t>::min();

/// One operation from its invocation to its end: 56 bytes, because a history has millions.
struct HistoryOperation {
  std::int64_t invoked = 0;   ///< position in the history, or ns: any scale, one for all operations
  std::int64_t returned = 0;  ///< on the same scale; meaningless unless it ended ok or fail
  std::int64_t a = nil;       ///< arguments; see ModelFunction for what each function takes
  std::int64_t b = nil;
  std::int64_t out = nil;      ///< result, if `out_known`
  std::uint32_t process = 0;   ///< any numbering; small numbers cost less memory
  std::uint32_t key = 0;       ///< which lock, register, map entry, set or queue; 0 if the history has only one
  std::uint16_t function = 0;  ///< index into Model::functions()
  /// ok: took effect between `invoked` and `returned`, both included: two operations that touch are concurrent.
  /// fail: took no effect. info (and invoke): unknown; took effect at some time after `invoked`, or never.
  sim::Phase phase = sim::Phase::ok;
  bool out_known = false;

  bool is_certain() const { return phase == sim::Phase::ok; }
  bool is_unknown() const { return phase == sim::Phase::info || phase == sim::Phase::invoke; }
};

/// A part of a transaction on a multi-register.
struct MicroOperation {
  std::uint32_t register_index = 0;
  bool is_write = false;
  std::int64_t value = nil;  ///< written or, if `is_known`, read
  bool is_known = true;      ///< false: a read whose result nobody knows
};

struct OperationHistory {
  std::vector<HistoryOperation> operations;  ///< in any order; by invocation is fastest
  std::vector<MicroOperation> micro_operations;
  std::vector<std::int64_t> elements;  ///< of the sets that were read
  std::vector<std::string> texts;      ///< interned text values; a kv value is an index into them
  /// a, b, out and elements are indices into `texts` and print as such. A kv needs it only to print: its values always
  /// are.
  bool values_are_texts = false;
  /// `texts` stand there as a file would write them, strings in quotes.
  bool texts_are_quoted = false;
  std::vector<std::string> key_names;      ///< by key; empty: keys print as numbers
  std::vector<std::string> process_names;  ///< by process; empty: processes print as numbers
};

/// "nil", the number, or the text in quotes.
std::string value_text(const OperationHistory& history, std::int64_t value);
std::string process_text(const OperationHistory& history, std::uint32_t process);

}  // namespace lockstep::checker
