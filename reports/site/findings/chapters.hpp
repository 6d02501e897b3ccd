#pragma once

// The order in which to read: chapters of stories, and the families of algorithms. Texts of ours; what they say of a
// story is checked against it by tests.

#include <span>
#include <string_view>
#include <vector>

namespace lockstep::reports::site {

struct Chapter {
  std::string_view title, title_zh;
  std::string_view text, text_zh;
  std::vector<std::string_view> stories;  ///< names of files without their ending
};
std::span<const Chapter> chapters();

struct Family {
  std::string_view id;
  std::string_view title, title_zh;
  std::string_view text, text_zh;
  std::vector<std::string_view> algorithms;  ///< of the catalogue
};
/// Every algorithm of the catalogue is in one.
std::span<const Family> families();

}  // namespace lockstep::reports::site
