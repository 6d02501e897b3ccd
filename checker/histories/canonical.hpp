#pragma once

// Values in one form for all ways to write them: two are equal exactly if these texts are.
//
//   what                       equal
//   whole numbers              of any size, by value: 3, +3, 3N
//   other numbers              by value: 1.5, 1.50, 15e-1; not equal to whole ones (3 and 3.0), nor to those with an M
//   ratios, other bases        as they are written
//   strings, keywords          kinds are kept apart: "a", :a and a are three values, and so are 1.5 and "1.5"
//   vectors and lists          by their elements, in their order
//   sets and maps              by their elements, in any order

#include <string>
#include <string_view>

#include "checker/histories/formats/event.hpp"

namespace lockstep::checker::history_formats {

/// Appends the value as a file would write it, strings in quotes.
void append_canonical(std::string& out, const Value& value);

/// Of a number that is no 64-bit integer: "1.5" of "+1.50", "18446744073709551616" of "18446744073709551616N". What it
/// does not know stays as it is.
std::string canonical_number(std::string_view written);

}  // namespace lockstep::checker::history_formats
