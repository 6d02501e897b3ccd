#pragma once

// Sorts what is nearly sorted, as the operations of a history are by their return: nothing returns much later than what
// was invoked after it. Linear for those, O(n log n) for any.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace lockstep::checker {

template <class T, class Less = std::less<>>
void sort_nearly_sorted(std::vector<T>& all, Less is_before = {}) {
  std::size_t moves_left = 16 * all.size();
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (!is_before(all[i], all[i - 1])) continue;
    const T one = std::move(all[i]);
    std::size_t at = i;
    for (; at > 0 && is_before(one, all[at - 1]); --at) all[at] = std::move(all[at - 1]);
    all[at] = one;
    if (i - at > moves_left) {
      std::sort(all.begin(), all.end(), is_before);
      return;
    }
    moves_left -= i - at;
  }
}

}  // namespace lockstep::checker
