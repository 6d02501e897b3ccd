#pragma once

// Sentences that are made in English, in one place of the program, and that a page shows in Chinese as well.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports {

/// `{}` stands for whatever is there: names, times, numbers. In Chinese `{0}` is the first of them as it is, and `{0~}`
/// the first, put into Chinese itself.
struct Sentence {
  std::string_view english;
  std::string_view chinese;
};

/// What stands for each `{}`; nothing if the text is not of this form. Each is as short as can be.
std::optional<std::vector<std::string_view>> parts_of(std::string_view text, std::string_view form);

/// Of a part that is written `{0~}`; nothing if it is not known.
using InChinese = std::optional<std::string> (*)(std::string_view part);

/// By the first sentence that the text is of. Nothing if it is of none.
std::optional<std::string> said_in_chinese(std::string_view text, std::span<const Sentence> sentences,
                                           InChinese within = nullptr);

}  // namespace lockstep::reports
