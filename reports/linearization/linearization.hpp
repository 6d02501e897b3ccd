#pragma once

// What `lockstep linearize` says of histories: on a terminal, as JSON, as a page with a picture. Start here.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "checker/linearizability/linearizability.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

/// A history that was read and judged.
struct JudgedHistory {
  std::string file;  ///< as given
  checker::history_formats::ReadResult reading;
  checker::history_formats::RecordedHistory recorded;
  checker::LinearizabilityResult result;
  bool tested_nothing = false;  ///< no operation is known to have done anything, so that every model allows it
  /// For people: how long the checker took.
  std::int64_t milliseconds = 0;
};

/// One operation in a picture. Places are counted in slots: the events of all operations in the picture, in their
/// order.
struct SceneOperation {
  std::uint32_t position = 0;  ///< in the history
  std::size_t begin = 0;
  std::optional<std::size_t> end;    ///< nothing: its outcome is unknown, or it never ended
  std::optional<std::size_t> order;  ///< ordinal in the linearization, from 0
  /// The slot behind which it takes effect: not before its own `begin`, and never before that of an operation that
  /// takes effect earlier.
  std::optional<std::size_t> point;
  std::string state;         ///< after it, if `order`; may be empty: too long a history to describe each state
  bool in_conflict = false;  ///< one of those that cannot all have taken effect
  bool is_culprit = false;   ///< has no place: with it the history stops being linearizable
};

/// The operations around the place at which a history stops being linearizable; the first ones if it never does.
struct Scene {
  std::vector<SceneOperation> operations;  ///< in the order of the linearization; then those that are not in it
  std::size_t slots = 0;
  std::size_t ordered_before = 0;  ///< operations of the linearization that the picture leaves out before it
  std::size_t ordered = 0;         ///< in the linearization of this key
  std::string state_before;        ///< of the first operation in it
  std::string key;                 ///< to which all of them belong; empty if there is only one
};

/// At most `operations_max` operations, or a few more if the conflict has more.
Scene scene_of(const JudgedHistory& judged, const checker::Model& model, const checker::LinearizabilityOptions& options,
               std::size_t operations_max);

/// A key of a history that has several.
struct JudgedKey {
  std::string_view name;
  checker::Verdict verdict = checker::Verdict::unknown;
  std::size_t operations = 0;
  /// For a picture: the history as it was judged, of which the key is the one that is explained, or the operations of
  /// this key alone, judged again; null: beyond the bounds.
  const JudgedHistory* judged = nullptr;
};

/// Does it have several keys, each an object of its own?
bool has_keys(const JudgedHistory& judged, const checker::Model& model);
/// The keys that are not linearizable, the first to fail at the front; the unknown ones; then the others. At most
/// `judged_max` are judged again. Requires: has_keys.
void for_each_key(const JudgedHistory& judged, const checker::Model& model,
                  const checker::LinearizabilityOptions& options, std::size_t judged_max,
                  const std::function<void(const JudgedKey&)>& visit);

/// "read -> 3", and for an operation of unknown outcome "write 3 ?".
std::string operation_text(const JudgedHistory& judged, const checker::Model& model, std::uint32_t position);
/// Why the operations of the conflict have no order, in plain words where a lock's are few: "Both were told that they
/// got the lock, and process A had not released it". Requires: violated, with a conflict.
std::string conflict_text(Language language, const JudgedHistory& judged, const checker::Model& model);
/// "lines 12 to 15", "line 12, never ended".
std::string lines_text(const JudgedHistory& judged, std::uint32_t position);
/// Who did it, as the history names him.
std::string process_text(const JudgedHistory& judged, std::uint32_t position);
/// "linearizable", "not linearizable", "unknown".
std::string_view verdict_word(checker::Verdict verdict);
/// The numbers of a stretch that holds too much, and the lines from which and to which it goes; 0: from the first one
/// on.
struct StretchText {
  std::string_view inside;   ///< "acquires"
  std::string_view between;  ///< "releases"
  std::uint32_t from_line = 0;
  std::uint32_t to_line = 0;
};
StretchText stretch_text(const JudgedHistory& judged, const checker::Stretch& stretch);
/// "12,345".
std::string grouped(std::size_t n);
/// Why it is unknown.
std::string_view bound_text(checker::SearchBound bound);

/// For a terminal.
Lines linearization(const JudgedHistory& judged, const checker::Model& model,
                    const checker::LinearizabilityOptions& options, std::size_t width);

/// One document for all of them.
std::string linearize_json(std::span<const JudgedHistory> histories, const checker::Model& model);
/// What `list specs` shows.
Lines list_models(std::size_t width);
std::string models_json();

/// A page that needs nothing besides itself, and no scripts.
std::string linearize_html(std::span<const JudgedHistory> histories, const checker::Model& model,
                           const checker::LinearizabilityOptions& options, Language language);

}  // namespace lockstep::reports
