#pragma once

// Where in its own text a program waits: so that people can follow a run in the algorithm's source. Computed by the
// compiler, or by the interpreter of a script: no line number is written by hand.

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace lockstep::sim {

struct CodePlace {
  std::string file;  ///< of C++: from the root of the tree; of a script: as messages name it
  std::uint32_t line = 0;
  bool operator==(const CodePlace&) const = default;
};

/// A text that a coroutine interprets: where in it the coroutine waits.
class InterpretedText {
 public:
  /// Innermost first.
  virtual void add_places(std::vector<CodePlace>& places) const = 0;

 protected:
  ~InterpretedText() = default;
};

/// What a coroutine knows of its place: two stores for each wait, and nothing else until it is asked.
class CodeFrame {
 public:
  void waits_at(std::source_location where) { where_ = where; }
  /// `caller` resumes when this one has ended. Null: none.
  void is_called_by(const CodeFrame* caller) { caller_ = caller; }
  void interprets(const InterpretedText& text) { text_ = &text; }

  /// Where it waits, where its caller waits, and so on: innermost first.
  std::vector<CodePlace> places() const {
    std::vector<CodePlace> found;
    for (const CodeFrame* frame = this; frame != nullptr; frame = frame->caller_) {
      if (frame->text_ != nullptr) frame->text_->add_places(found);
      if (frame->where_.line() != 0) found.push_back({frame->where_.file_name(), frame->where_.line()});
    }
    return found;
  }

 private:
  std::source_location where_;
  const CodeFrame* caller_ = nullptr;
  const InterpretedText* text_ = nullptr;
};

/// Of a coroutine that is about to wait; null: it knows nothing of its place.
template <class Promise>
const CodeFrame* code_frame_of(std::coroutine_handle<Promise> coroutine) {
  if constexpr (std::derived_from<Promise, CodeFrame>) {
    return &coroutine.promise();
  } else {
    return nullptr;
  }
}

}  // namespace lockstep::sim
