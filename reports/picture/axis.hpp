#pragma once

// Where a moment of a run stands in its diagram: time runs downwards.

#include <cstdint>
#include <vector>

#include "reports/picture/diagram.hpp"

namespace lockstep::reports::picture {

enum class AxisKind : std::uint8_t {
  by_event,  ///< every row has room; how much time passes between two is not to be seen
  to_scale   ///< equal times are equally long
};

class Axis {
 public:
  /// `top`: of the first moment, in pixels.
  Axis(const Diagram& diagram, AxisKind kind, int top);

  int of_row(std::size_t row) const { return rows_[row]; }
  /// Between two moments that have a place: in proportion.
  int of(sim::Instant at) const;
  /// The moment's own row, if it has one; else as `of(at)`.
  int of(const Place& place) const;
  /// Where the last moment stands.
  int bottom() const { return bottom_; }
  /// Whether the row's text has room below that of the row before it.
  bool has_room(std::size_t row) const { return has_room_[row] != 0; }

 private:
  struct Tick {
    sim::Duration at;
    int first = 0, last = 0;  ///< rows of one time stand below each other
  };
  void place_by_event(const Diagram& diagram, int top);
  void place_to_scale(const Diagram& diagram, int top);
  void thin_out(const Diagram& diagram);

  AxisKind kind_;
  std::vector<Tick> ticks_;  ///< by time; at least one
  std::vector<int> rows_;
  std::vector<char> has_room_;
  std::vector<Place> places_;  ///< of the rows
  int bottom_ = 0;
};

}  // namespace lockstep::reports::picture
