#pragma once

// The programs of a story as it names them: commands, addresses, environments.

#include "scenarios/deployment/program_process.hpp"

namespace lockstep::programs {

/// What Linux on x86-64 can run. It has no state.
const scenarios::ProgramMaker& story_programs();

/// `text` with the address of a server for "{redis}", the name of the client for "{client}". Other braces stay.
std::string filled(std::string_view text, const scenarios::Scenario& story, const scenarios::ClientSpec& client);

}  // namespace lockstep::programs
