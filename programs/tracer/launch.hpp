#pragma once

// Starts a program under its tracer.

#include <sys/types.h>

#include "door/file.hpp"
#include "programs/tracer/command.hpp"

namespace lockstep::programs::tracer {

/// A program that is about to be executed, and what keeps all that it starts together.
struct Launched {
  pid_t process = -1;
  /// The first process of a namespace of its own; everything in it dies with this one. 0: namespaces are not permitted
  /// here, so numbers of processes differ from run to run.
  pid_t first_of_namespace = 0;
};

/// Throws TracerTrouble.
Launched launch(const Command& command);

}  // namespace lockstep::programs::tracer
