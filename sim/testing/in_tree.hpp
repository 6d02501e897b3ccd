#pragma once

// Where the tree is that is being tested. An object of its own says so (cmake/Folder.cmake) and not the command line of each test: there, the
// path would keep the compiler cache of one checkout from serving another.

#include <string>
#include <string_view>

namespace lockstep {

/// A file of the tree: "scenarios/stories/reference".
std::string in_tree(std::string_view path);
/// The program `lockstep` of this build.
std::string built_program();

}  // namespace lockstep
