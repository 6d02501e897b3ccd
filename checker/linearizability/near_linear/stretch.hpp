#pragma once

// Why a mutex that anybody may release cannot have done so much: a stretch of time into which too many operations of
// one kind fit. It is a proof in four numbers, however many operations it is about; to check it is to count once.
//
// Two acquires need a release between them. So k acquires that are invoked and return within one stretch of time need
// k - 1 releases that may take effect in it, and k releases need k - 1 acquires; or k, if the stretch begins with the
// history, because the lock is free at first.

#include <cstdint>
#include <optional>

namespace lockstep::checker {

/// Operations by position in the history.
struct Stretch {
  std::optional<std::uint32_t> first;  ///< the stretch begins when it is invoked; nothing: with the history
  std::uint32_t last = 0;              ///< the stretch ends when it returns
  bool of_acquires = true;             ///< acquires are too many; false: releases
  std::size_t inside = 0;  ///< of these, ended ok and invoked and returned within the stretch, ends included
  /// Of the other kind, not failed: invoked by its end, and not returned before its beginning.
  std::size_t between = 0;

  /// How many of the other kind would be needed.
  std::size_t needed() const { return inside - (first || of_acquires ? 1 : 0); }
};

}  // namespace lockstep::checker
