#pragma once

// From the text of a Lua script to a lock algorithm of the catalogue. Start here; for people: docs/your-own-lock.md.

#include <string>
#include <variant>

#include "models/locks/catalogue.hpp"

namespace lockstep::models::scripted {

/// What is wrong with a script: "my-lock.lua:12: …".
struct Mistake {
  std::string message;
};

/// Runs the main part of the script, within bounds, to see what it declares. `file` is the name of the algorithm and of
/// its script in messages. The entry's `make` keeps what it refers to alive.
std::variant<locks::Entry, Mistake> read_script(std::string file, std::string text);

}  // namespace lockstep::models::scripted
