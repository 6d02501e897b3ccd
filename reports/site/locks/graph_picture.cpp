#include "reports/site/locks/graph_picture.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::site {
namespace {

constexpr std::size_t kBoxWidth = 214, kGap = 26, kLine = 16, kLayerGap = 46, kBoxColumns = 31, kEdge = 12;

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Two names for each other, where they stand as words.
std::string exchanged(const std::string& text, const std::pair<std::string, std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto stands = [&](const std::string& name) {
      const bool begins = i == 0 || !is_letter(text[i - 1]);
      const std::size_t end = i + name.size();
      return begins && text.compare(i, name.size(), name) == 0 && (end >= text.size() || !is_letter(text[end]));
    };
    if (stands(names.first)) {
      out += names.second;
      i += names.first.size();
    } else if (stands(names.second)) {
      out += names.first;
      i += names.second.size();
    } else {
      out += text[i++];
    }
  }
  return out;
}

/// Whether it tells of a message, a timer or work that is on its way.
bool is_on_its_way(std::string_view part) {
  return part.find(" → ") != std::string_view::npos || part.find(" ← ") != std::string_view::npos || part == "works" ||
         part == "sleeps";
}

/// What a process is at, without what of it is on its way, unless that is all.
std::vector<std::string> folded_lines(const std::string& label) {
  std::vector<std::string> lines = lines_in(label);
  for (std::string& line : lines) {
    const std::size_t name = line.find(": ");
    if (name == std::string::npos) continue;
    std::vector<std::string> kept;
    for (std::size_t at = name + 2; at <= line.size();) {
      const std::size_t end = std::min(line.find(", ", at), line.size());
      std::string part = line.substr(at, end - at);
      if (!is_on_its_way(part)) kept.push_back(std::move(part));
      at = end + 2;
    }
    if (!kept.empty()) line = line.substr(0, name + 2) + joined(kept);
  }
  return lines;
}

std::vector<std::string> mirrored(const std::vector<std::string>& lines,
                                  const std::pair<std::string, std::string>& names) {
  std::vector<std::string> other;
  for (const std::string& line : lines) other.push_back(exchanged(line, names));
  // The clients' lines stand in the order of their names.
  std::size_t clients = 0;
  while (clients < other.size() &&
         (other[clients].starts_with(names.first + ":") || other[clients].starts_with(names.second + ":")))
    ++clients;
  std::sort(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(clients));
  return other;
}

// Words of labels, in Chinese.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords{{{": not started", "：未开始"},
                                                                               {": acquire lock", "：取锁"},
                                                                               {": holds lock", "：持有锁"},
                                                                               {": release lock", "：释放锁"},
                                                                               {": done", "：结束"},
                                                                               {": empty", "：空"},
                                                                               {", with a lease", "，带租期"},
                                                                               {"a time", "时间戳"},
                                                                               {": gave up", "：放弃"}}};

std::string label_in_chinese(std::string text) {
  for (const auto& [en, zh] : kWords) {
    const std::size_t at = text.find(en);
    if (at != std::string::npos) text.replace(at, en.size(), zh);
  }
  return text;
}

std::string bilingual(const std::string& text) {
  const std::string en = clip(text, kBoxColumns);
  const std::string zh = clip(label_in_chinese(text), kBoxColumns);
  if (en == zh) return picture::escaped_markup(en);
  return fmt::format("<tspan lang=\"en\">{}</tspan><tspan lang=\"zh-Hans\">{}</tspan>", picture::escaped_markup(en),
                     picture::escaped_markup(zh));
}

/// Edges that lead back to where a way came from: without them there is no circle.
std::vector<char> closing_edges(const FoldedGraph& graph) {
  std::vector<char> closes(graph.edges.size());
  std::vector<std::vector<std::size_t>> out(graph.nodes.size());
  for (std::size_t e = 0; e < graph.edges.size(); ++e) out[graph.edges[e].from].push_back(e);
  enum class Mark : std::uint8_t { fresh, open, closed };
  std::vector<Mark> marks(graph.nodes.size(), Mark::fresh);
  for (std::size_t root = 0; root < graph.nodes.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    std::vector<std::pair<std::size_t, std::size_t>> way{{root, 0}};
    marks[root] = Mark::open;
    while (!way.empty()) {
      auto& [node, next] = way.back();
      if (next == out[node].size()) {
        marks[node] = Mark::closed;
        way.pop_back();
        continue;
      }
      const std::size_t e = out[node][next++];
      const std::size_t to = graph.edges[e].to;
      if (marks[to] == Mark::open) closes[e] = 1;
      if (marks[to] != Mark::fresh) continue;
      marks[to] = Mark::open;
      way.emplace_back(to, 0);
    }
  }
  return closes;
}

/// Nodes of each layer from left to right: each near the middle of those that it is connected with above.
std::vector<std::vector<std::size_t>> rows_of(const FoldedGraph& graph, const std::vector<std::size_t>& layers) {
  std::vector<std::vector<std::size_t>> rows(*std::max_element(layers.begin(), layers.end()) + 1);
  for (std::size_t i = 0; i < layers.size(); ++i) rows[layers[i]].push_back(i);
  std::vector<std::size_t> place(graph.nodes.size());
  const auto number = [&](const std::vector<std::size_t>& row) {
    // A thousandth of the row's width, so that rows of different sizes can be compared.
    for (std::size_t i = 0; i < row.size(); ++i) place[row[i]] = (2 * i + 1) * 500'000 / row.size();
  };
  for (const auto& row : rows) number(row);
  constexpr std::size_t kSweeps = 8;
  for (std::size_t sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::vector<std::size_t>& row = rows[sweep % 2 == 0 ? r : rows.size() - 1 - r];
      std::vector<std::size_t> middle(graph.nodes.size());
      for (const std::size_t node : row) {
        std::size_t sum = place[node];
        std::size_t count = 1;
        for (const FoldedGraph::Edge& edge : graph.edges) {
          if (edge.from != node && edge.to != node) continue;
          const std::size_t other = edge.from == node ? edge.to : edge.from;
          if (layers[other] == layers[node]) continue;
          sum += place[other] * 4;
          count += 4;
        }
        middle[node] = sum / count;
      }
      std::sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(middle[a], place[a]) < std::pair(middle[b], place[b]);
      });
      number(row);
    }
  }
  return rows;
}

struct Box {
  std::size_t x = 0, y = 0, height = 0;
};

std::string box_svg(const FoldedGraph::Node& node, const Box& box) {
  const std::string_view look = node.violating ? " violating" : node.end ? " end" : node.initial ? " initial" : "";
  std::string svg = fmt::format("<rect class=\"state{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
                                look, box.x, box.y, kBoxWidth, box.height);
  std::size_t y = box.y + kLine;
  for (const std::string& line : node.lines) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", box.x + 8, y, bilingual(line));
    y += kLine;
  }
  if (node.violating)
    svg += fmt::format(
        "<text class=\"bad\" x=\"{}\" y=\"{}\"><tspan lang=\"en\">!! two holders</tspan><tspan lang=\"zh-Hans\">!! "
        "两个持有者</tspan></text>\n",
        box.x + 8, y);
  return svg;
}

}  // namespace

FoldedGraph fold(const checker::StateGraph& graph, const std::pair<std::string, std::string>& exchangeable) {
  FoldedGraph folded;
  std::map<std::vector<std::string>, std::size_t> number;
  std::vector<std::size_t> of_state;
  for (const checker::StateGraph::State& state : graph.states) {
    std::vector<std::string> lines = folded_lines(state.label);
    if (!exchangeable.first.empty()) lines = std::min(lines, mirrored(lines, exchangeable));
    const auto [found, is_new] = number.emplace(lines, folded.nodes.size());
    if (is_new) folded.nodes.push_back({.lines = std::move(lines)});
    FoldedGraph::Node& node = folded.nodes[found->second];
    node.initial = node.initial || state.initial;
    node.end = node.end || state.end;
    node.violating = node.violating || state.violating;
    ++node.states;
    of_state.push_back(found->second);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> edge_between;
  for (const checker::StateGraph::Transition& transition : graph.transitions) {
    const std::size_t from = of_state[transition.from];
    const std::size_t to = of_state[transition.to];
    if (from == to) continue;
    const auto [found, is_new] = edge_between.emplace(std::pair(from, to), folded.edges.size());
    if (is_new) folded.edges.push_back({.from = from, .to = to, .events = {}});
    std::vector<std::string>& events = folded.edges[found->second].events;
    if (std::find(events.begin(), events.end(), transition.event) == events.end()) events.push_back(transition.event);
  }
  return folded;
}

std::vector<std::size_t> layers_of(const FoldedGraph& graph) {
  const std::vector<char> closes = closing_edges(graph);
  std::vector<std::size_t> layers(graph.nodes.size());
  // No way without a circle has more edges than there are nodes.
  for (std::size_t round = 0; round < graph.nodes.size(); ++round) {
    bool is_done = true;
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const FoldedGraph::Edge& edge = graph.edges[e];
      if (closes[e] != 0 || layers[edge.to] > layers[edge.from]) continue;
      layers[edge.to] = layers[edge.from] + 1;
      is_done = false;
    }
    if (is_done) break;
  }
  return layers;
}

std::string graph_svg(const FoldedGraph& graph, const std::string& id, const Text& title) {
  if (graph.nodes.empty()) return "";
  const auto rows = rows_of(graph, layers_of(graph));
  std::size_t widest = 1;
  for (const auto& row : rows) widest = std::max(widest, row.size());
  const std::size_t width = 2 * kEdge + widest * kBoxWidth + (widest - 1) * kGap;
  std::vector<Box> boxes(graph.nodes.size());
  std::size_t y = kEdge;
  for (const auto& row : rows) {
    std::size_t tallest = 0;
    std::size_t x = kEdge + (width - 2 * kEdge - row.size() * kBoxWidth - (row.size() - 1) * kGap) / 2;
    for (const std::size_t node : row) {
      const std::size_t lines = graph.nodes[node].lines.size() + (graph.nodes[node].violating ? 1 : 0);
      boxes[node] = {x, y, lines * kLine + 10};
      tallest = std::max(tallest, boxes[node].height);
      x += kBoxWidth + kGap;
    }
    y += tallest + kLayerGap;
  }
  const std::size_t height = y - kLayerGap + kEdge;

  std::string svg = fmt::format(
      "<div class=\"stage\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><svg class=\"graph\" width=\"{1}\" "
      "height=\"{2}\" viewBox=\"0 0 {1} {2}\" role=\"img\" aria-labelledby=\"{3}-title\">\n<title "
      "id=\"{3}-title\">{0}</title>\n<defs><marker id=\"{3}-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
      "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" "
      "d=\"M0 0.5L8 4L0 7.5z\"/></marker></defs>\n",
      picture::escaped_markup(title.en + " / " + title.zh), width, height, id);
  for (const FoldedGraph::Edge& edge : graph.edges) {
    const Box &from = boxes[edge.from], &to = boxes[edge.to];
    const std::size_t x1 = from.x + kBoxWidth / 2, x2 = to.x + kBoxWidth / 2;
    const std::size_t y1 = from.y + from.height;
    const std::string way = to.y > from.y ? fmt::format("M{} {}C{} {} {} {} {} {}", x1, y1, x1, y1 + kLayerGap * 2 / 3,
                                                        x2, to.y - kLayerGap * 2 / 3, x2, to.y)
                                          : fmt::format("M{} {}C{} {} {} {} {} {}", from.x + kBoxWidth, from.y + 10,
                                                        from.x + kBoxWidth + kGap, from.y + 10, to.x + kBoxWidth + kGap,
                                                        to.y + 20, to.x + kBoxWidth, to.y + 20);
    svg += fmt::format("<path class=\"{}\" marker-end=\"url(#{}-head)\" d=\"{}\"><title>{}</title></path>\n",
                       to.y > from.y ? "way" : "way back", id, way, picture::escaped_markup(joined(edge.events, "; ")));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) svg += box_svg(graph.nodes[i], boxes[i]);
  return svg + "</svg></div>\n";
}

}  // namespace lockstep::reports::site
