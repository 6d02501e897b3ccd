#include "reports/site/locks/figure.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {
namespace {

constexpr std::uint64_t kLeft = 64, kTop = 14, kPlotWidth = 276, kPlotHeight = 140, kBelow = 40;
constexpr std::uint64_t kSteps = 4;
constexpr std::size_t kCurves = 3;

/// 1, 2 or 5 times a power of ten, so that four steps reach the value.
std::uint64_t step_for(std::uint64_t greatest) {
  for (std::uint64_t power = 1;; power *= 10) {
    for (const std::uint64_t digit : {1, 2, 5}) {
      if (digit * power * kSteps >= greatest) return digit * power;
    }
  }
}

std::uint64_t greatest_of(const Figure& figure) {
  std::uint64_t greatest = 0;
  for (const Curve& curve : figure.curves) {
    for (const auto& value : curve.values) greatest = std::max(greatest, value.value_or(0));
  }
  return greatest;
}

std::uint64_t place_of_size(const Figure& figure, std::size_t i) {
  const std::size_t gaps = std::max<std::size_t>(figure.sizes.size() - 1, 1);
  return kLeft + 14 + i * (kPlotWidth - 28) / gaps;
}

std::string axes(const Figure& figure, std::uint64_t step) {
  std::string svg;
  for (std::uint64_t i = 0; i <= kSteps; ++i) {
    const std::uint64_t y = kTop + kPlotHeight - i * kPlotHeight / kSteps;
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/><text class=\"value\" x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        kLeft, y, kLeft + kPlotWidth, y, kLeft - 6, y + 4, picture::escaped_markup(figure.format(i * step)));
  }
  for (std::size_t i = 0; i < figure.sizes.size(); ++i) {
    svg += fmt::format("<text class=\"size\" x=\"{}\" y=\"{}\">{}</text>\n", place_of_size(figure, i),
                       kTop + kPlotHeight + 16, picture::escaped_markup(figure.sizes[i]));
  }
  return svg + fmt::format(
                   "<text class=\"size\" x=\"{}\" y=\"{}\"><tspan lang=\"en\">{}</tspan><tspan "
                   "lang=\"zh-Hans\">{}</tspan></text>\n",
                   kLeft + kPlotWidth / 2, kTop + kPlotHeight + 33, picture::escaped_markup(figure.sizes_name.en),
                   picture::escaped_markup(figure.sizes_name.zh));
}

/// Each has its own mark, too: colours alone say nothing to many.
std::string mark(std::size_t curve, std::uint64_t x, std::uint64_t y, const std::string& title) {
  switch (curve) {
    case 0:
      return fmt::format("<circle class=\"mark c0\" cx=\"{}\" cy=\"{}\" r=\"4\"><title>{}</title></circle>\n", x, y,
                         title);
    case 1:
      return fmt::format(
          "<rect class=\"mark c1\" x=\"{}\" y=\"{}\" width=\"7\" height=\"7\"><title>{}</title></rect>\n", x - 3, y - 3,
          title);
    default: break;
  }
  return fmt::format("<path class=\"mark c2\" d=\"M{} {}l5 8h-10z\"><title>{}</title></path>\n", x, y - 5, title);
}

std::string curve_svg(const Figure& figure, std::size_t number, std::uint64_t step) {
  const Curve& curve = figure.curves[number];
  assert(curve.values.size() == figure.sizes.size());
  std::string points;
  std::string marks;
  std::string lines;
  const auto end_line = [&] {
    if (!points.empty()) lines += fmt::format("<polyline class=\"curve c{}\" points=\"{}\"/>\n", number, points);
    points.clear();
  };
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (!curve.values[i]) {
      end_line();
      continue;
    }
    const std::uint64_t x = place_of_size(figure, i);
    const std::uint64_t y = kTop + kPlotHeight - *curve.values[i] * kPlotHeight / (step * kSteps);
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", x, y);
    marks += mark(number, x, y,
                  picture::escaped_markup(
                      fmt::format("{}, {}: {}", curve.name.en, figure.sizes[i], figure.format(*curve.values[i]))));
  }
  end_line();
  return lines + marks;
}

std::string legend(const Figure& figure) {
  if (figure.curves.size() < 2) return "";
  std::string items;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    items += fmt::format(
        "<li><svg class=\"figure\" width=\"34\" height=\"14\" aria-hidden=\"true\"><polyline class=\"curve c{}\" "
        "points=\"1,7 33,7\"/>{}</svg> {}</li>\n",
        i, mark(i, 17, 7, ""), both(figure.curves[i].name));
  }
  return fmt::format("<ul class=\"legend\">\n{}</ul>\n", items);
}

std::string figures_table(const Figure& figure) {
  std::vector<std::string> heads{both(figure.sizes_name)};
  for (const Curve& curve : figure.curves) heads.push_back(both(curve.name));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < figure.sizes.size(); ++i) {
    std::vector<std::string> row{picture::escaped_markup(figure.sizes[i])};
    for (const Curve& curve : figure.curves)
      row.push_back(curve.values[i] ? picture::escaped_markup(figure.format(*curve.values[i])) : "–");
    rows.push_back(std::move(row));
  }
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", both("The figures", "数值"),
                     table_of(figure.title, heads, rows));
}

}  // namespace

std::string figure_html(const Figure& figure) {
  assert(figure.curves.size() <= kCurves);
  const bool has_any = std::any_of(figure.curves.begin(), figure.curves.end(), [](const Curve& curve) {
    return std::any_of(curve.values.begin(), curve.values.end(), [](const auto& value) { return value.has_value(); });
  });
  if (!has_any) return "";
  const std::uint64_t step = step_for(std::max<std::uint64_t>(greatest_of(figure), 1));
  std::string svg = axes(figure, step);
  for (std::size_t i = 0; i < figure.curves.size(); ++i) svg += curve_svg(figure, figure.curves.size() - 1 - i, step);
  return fmt::format(
      "<figure>\n<figcaption>{}</figcaption>\n<svg class=\"figure\" width=\"{}\" height=\"{}\" role=\"img\" "
      "aria-labelledby=\"{}-title\">\n<title id=\"{}-title\">{}</title>\n{}</svg>\n{}{}</figure>\n",
      both(figure.title), kLeft + kPlotWidth + 10, kTop + kPlotHeight + kBelow, figure.id, figure.id,
      picture::escaped_markup(figure.title.en + " / " + figure.title.zh), svg, legend(figure), figures_table(figure));
}

}  // namespace lockstep::reports::site
