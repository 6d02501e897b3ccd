// What a world writes down besides its trace: what clients asked for and were told, what servers did, and from where in
// its program a request comes.

#include "sim/worlds/world.hpp"

namespace lockstep::sim {
namespace {

/// Becomes a string where that is to lie: moving one that was written just before would wait for it.
struct Name {
  std::string_view text;
  operator std::string() const { return std::string(text); }  // NOLINT(google-explicit-constructor)
};

}  // namespace

OperationId World::invoke(ProcessId process, std::string_view function, std::string_view object) {
  // The object's name may be that of an earlier operation, which moves when the history grows.
  Operation operation;
  operation.id = static_cast<OperationId>(history_.operations.size() + 1);
  operation.process = process;
  operation.function = function;
  operation.object = object;
  operation.invoked = now_;
  operation.invoked_in = step_;
  return history_.operations.emplace_back(std::move(operation)).id;
}

void World::complete(OperationId id, Phase phase) {
  Operation& done = operation(id);
  done.phase = phase;
  done.completed = now_;
  done.completed_in = step_;
}

void World::record_effect(Effect::Kind kind, ProcessId server, std::string_view object, ProcessId by,
                          OperationId operation, std::optional<std::int64_t> token) {
  // A connection is its process's; whose thread used it, the operation knows.
  const ProcessId whose = operation == 0 ? by : history_.operations[operation - 1].process;
  history_.effects.emplace_back(kind, server, Name{object}, whose, operation, token, now_, step_,
                                static_cast<std::uint32_t>(history_.members.size()));
}

void World::keep_origin(Message& request, const CodeFrame* frame) {
  if (frame == nullptr) return;
  origins_.push_back(frame->places());
  request.origin = static_cast<std::uint32_t>(origins_.size());
}

}  // namespace lockstep::sim
