#pragma once

// Where the tree is that is being tested. An object of its own says so (cmake/Folder.cmake) and not the command line of each test: there, the
// path would keep the compiler cache of one checkout from serving another.

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// A file of the tree: "scenarios/stories/reference".
std::string in_tree(std::string_view path);
/// What git tracks below `root` that matches its `pathspec` and is still there, ascending, relative to `root`. What somebody else keeps in the tree
/// is no matter of tests. Empty: nothing, or there is no git, or no checkout.
std::vector<std::string> tracked_files(const std::string& root, const std::string& pathspec);
/// The stories of the repository, each a path; where there is no checkout all that lie there.
std::vector<std::string> repository_stories();
/// The program `lockstep` of this build.
std::string built_program();

}  // namespace lockstep
