#pragma once

// What pages about more than one story are made of: all stories that were run, and what was explored, compared and
// drawn of the locks. Start here for such a page.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/graphs/state_graph.hpp"
#include "models/locks/catalogue.hpp"
#include "reports/check/explored.hpp"
#include "reports/compare/market.hpp"
#include "reports/site/frame/page.hpp"
#include "scenarios/comparing/comparison.hpp"
#include "scenarios/matrix/matrix.hpp"

namespace lockstep::reports::site {

/// A story that has a page.
struct ListedStory {
  std::string source;  ///< its file
  std::string path;    ///< of its page
  const Story* story = nullptr;
  const ExploredStory* explored = nullptr;  ///< null: it was not
};

/// The states of one algorithm with so many clients and no fault.
struct ListedGraph {
  std::string algorithm;
  std::size_t clients = 0;
  checker::StateGraph graph;
  std::string why;  ///< why there is none; empty: there is
};

struct Findings {
  const models::locks::Catalogue* catalogue = nullptr;
  std::vector<ListedStory> stories;           ///< in the order of their files
  const scenarios::Matrix* matrix = nullptr;  ///< may have no cells
  scenarios::MatrixOptions matrix_bounds;
  std::vector<scenarios::ComparedRun> costs;  ///< of algorithms under one workload; may be empty
  scenarios::CompareOptions how_compared;
  std::vector<ComparedMarket> markets;  ///< may be empty
  scenarios::MarketOptions how_traded;
  std::vector<ListedGraph> graphs;  ///< may be empty
};

/// "algorithms/set-nx-px-lua.html".
std::string algorithm_path(std::string_view algorithm);
/// A link to its page; its name alone where it is none of the catalogue.
std::string algorithm_link(const Findings& findings, std::string_view from, std::string_view algorithm);

/// Whether its run or some other execution of it breaks the property.
bool breaks(const ListedStory& story, std::string_view property);
/// Whether the property was judged, in its run or in all executions.
bool was_judged(const ListedStory& story, std::string_view property);
/// Those that it breaks, in the order of `checker/properties/properties.hpp`.
std::vector<std::string_view> broken_properties(const ListedStory& story);
/// "from pause 71ms": where all executions were explored and a margin is known; else empty.
Text margin_of(const ListedStory& story, std::string_view property);

std::vector<const ListedStory*> stories_of(const Findings& findings, std::string_view algorithm);
/// By the name of its file without the ending. Null: it is not among them.
const ListedStory* find_story(const Findings& findings, std::string_view id);
std::string story_link(std::string_view from, const ListedStory& story);

/// The only fault of the matrix that occurs in the story's run; empty: there are several, or one that the matrix does
/// not have.
std::string_view fault_of(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue);
/// A story that shows in its run what is broken in this cell. Null: there is none.
const ListedStory* story_of_cell(const Findings& findings, const scenarios::MatrixCell& cell,
                                 const scenarios::MatrixAnswer& answer);

const scenarios::MatrixCell* find_cell(const Findings& findings, std::string_view algorithm, std::string_view fault);
/// Null: it has none to this question.
const scenarios::MatrixAnswer* find_answer(const scenarios::MatrixCell& cell, std::string_view question);

/// "✗ from 971ms", "✓ proved for 2 and 3 clients": what a cell says, and how it looks ("bad", "good", …).
struct CellText {
  Text text;
  std::string_view look;
};
CellText cell_text(const scenarios::MatrixAnswer* answer);

/// A table in a box that scrolls, with a name for those who do not see it. Cells are HTML.
std::string table_of(const Text& name, const std::vector<std::string>& heads,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lockstep::reports::site
