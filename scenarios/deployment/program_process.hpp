#pragma once

// Clients that are programs, as a deployment sees them. What runs them is not compiled into everything that reads
// stories: a story is handed its `ProgramMaker`.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::scenarios {

class ProgramProcess : public sim::Process {
 public:
  /// Requires: it has been added to its world, which has not begun. Servers in the order of the file.
  virtual void connect_to(sim::ProcessId server, sim::DurationRange latency) = 0;
  /// Why nothing is known of this run, in a sentence. Nothing: it could be followed.
  virtual std::optional<std::string> trouble() const = 0;
  /// What a reader of the result should know besides, in sentences: how it ended, what of it is not deterministic.
  virtual std::vector<std::string> notes() const = 0;
  /// The system calls that were followed, in their order.
  virtual const std::vector<ProgramCall>& calls() const = 0;
};

class ProgramMaker {
 public:
  virtual ~ProgramMaker() = default;
  /// `client`: one of the story's, which is a program. `number`: of the client. What it draws at random follows from
  /// that alone.
  virtual std::unique_ptr<ProgramProcess> make(const Scenario& story, const ClientSpec& client,
                                               std::size_t number) const = 0;
};

}  // namespace lockstep::scenarios
