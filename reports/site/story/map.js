// Two lengths of a story: a map of which each region shows its run. What it has in common with sliders of one length is theirs.
import { inLanguage } from "../frame/site.js";
import { Picture, durationText, pushButton, rangeInput, shape, steps, tellVerdict, toldMargins } from "./margins.js";

/** @typedef {import("./margins.js").Plane} Plane */
/** @typedef {import("./margins.js").Region} Region */

/** A map of which each region shows its run: by a click, by two sliders, or one region after the other. */
class MarginMap {
  /** @param {SVGSVGElement} map @param {HTMLElement} place @param {Plane} plane */
  constructor(map, place, plane) {
    this.map = map;
    this.plane = plane;
    this.polygons = [...map.querySelectorAll("polygon")];
    this.axes = [plane.x, plane.y];
    this.picture = new Picture(plane, `${plane.x.name}, ${plane.y.name}`, 2);
    for (const region of plane.regions) this.picture.reach(region, region.at);
    const begin = plane.regions.findIndex((region) => region.broken);
    this.number = Math.max(begin, 0);
    this.at = [...plane.regions[this.number].at];
    this.verdict = document.createElement("output");
    this.verdict.setAttribute("aria-live", "polite");
    const controls = document.createElement("div");
    controls.className = "controls";
    this.captions = this.axes.map(() => document.createElement("span"));
    this.inputs = this.axes.map((axis, i) =>
      rangeInput(steps, (step) => this.move(i, Math.round(axis.from + ((axis.to - axis.from) * step) / steps))));
    this.inputs.forEach((input, i) => {
      const label = document.createElement("label");
      label.append(this.captions[i], " ", input);
      controls.append(label);
    });
    this.toBefore = pushButton("", () => this.go(this.number - 1));
    this.toNext = pushButton("", () => this.go(this.number + 1));
    controls.append(this.toBefore, this.toNext, this.verdict);
    this.command = document.createElement("code");
    place.append(controls);
    if (plane.command) {
      const pre = document.createElement("pre");
      pre.append(this.command);
      place.append(pre);
    }
    place.append(this.picture.frame);
    place.hidden = false;
    this.mark = shape("circle", "point", { r: 5 });
    map.append(this.mark);
    map.classList.add("clickable");
    map.addEventListener("click", (event) => this.click(event));
    document.addEventListener("language", () => this.show());
    this.show();
  }

  /** The first region that the point is in, or on the border of; -1: none is. @param {number[]} at */
  regionAt([x, y]) {
    return this.plane.regions.findIndex(({ corners }) => {
      for (let i = 0; i < corners.length; i += 2) {
        const [ax, ay, bx, by] = [corners[i], corners[i + 1], corners[(i + 2) % corners.length], corners[(i + 3) % corners.length]];
        if ((bx - ax) * (y - ay) - (by - ay) * (x - ax) < 0) return false;
      }
      return true;
    });
  }

  /** @param {MouseEvent} event */
  click(event) {
    const number = this.polygons.indexOf(/** @type {SVGPolygonElement} */ (event.target));
    if (number < 0) return;
    const toMap = this.map.getScreenCTM()?.inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(toMap);
    const [left, right, top, bottom] = this.frame();
    const parts = [(point.x - left) / (right - left), (bottom - point.y) / (bottom - top)];
    this.at = this.axes.map((axis, i) => Math.round(axis.from + (axis.to - axis.from) * Math.min(Math.max(parts[i], 0), 1)));
    // A region may be thinner than what a hand can hit.
    if (this.regionAt(this.at) !== number) this.at = [...this.plane.regions[number].at];
    this.number = number;
    this.show();
  }

  /** Of the map within its picture: left, right, top, bottom. @returns {number[]} */
  frame() {
    return (this.map.dataset.frame ?? "").split(" ").map(Number);
  }

  /** @param {number} axis @param {number} value */
  move(axis, value) {
    this.at[axis] = value;
    const number = this.regionAt(this.at);
    if (number >= 0) this.number = number;
    this.show(number >= 0);
  }

  /** @param {number} number */
  go(number) {
    const count = this.plane.regions.length;
    this.number = (number + count) % count;
    this.at = [...this.plane.regions[this.number].at];
    this.show();
  }

  /** Whether some execution breaks it at the point. */
  isBeyond() {
    const [x, y] = this.at;
    return (this.plane.frontier ?? []).some((bounds) =>
      bounds.every(([a, b, least, attained]) => (attained ? a * x + b * y >= least : a * x + b * y > least)));
  }

  /** @param {Region} region */
  tell(region) {
    const { property } = this.plane;
    tellVerdict(this.verdict, region);
    if (!property || region.impossible || region.broken?.split(", ").includes(property)) return;
    this.verdict.className = this.isBeyond() ? "bad" : "good";
    this.verdict.textContent = this.isBeyond()
      ? inLanguage(`✗ another run breaks ${property}, this one does not`, `✗ 别的运行会破坏 ${property}，本次运行没有`)
      : inLanguage(`✓ no run breaks ${property}`, `✓ 没有运行破坏 ${property}`);
  }

  /** @param {boolean} [isKnown] Not: no region was found there. */
  show(isKnown = true) {
    const region = this.plane.regions[this.number];
    const [left, right, top, bottom] = this.frame();
    const parts = this.axes.map((axis, i) => (this.at[i] - axis.from) / (axis.to - axis.from));
    this.mark.setAttribute("cx", (left + (right - left) * parts[0]).toFixed(1));
    this.mark.setAttribute("cy", (bottom - (bottom - top) * parts[1]).toFixed(1));
    this.polygons.forEach((polygon, i) => polygon.classList.toggle("chosen", isKnown && i === this.number));
    const words = this.axes.map((axis, i) => `${inLanguage(axis.name, axis.nameZh)} = ${durationText(this.at[i])}`);
    this.axes.forEach((_, i) => {
      this.inputs[i].value = String(Math.round(parts[i] * steps));
      this.inputs[i].setAttribute("aria-valuetext", durationText(this.at[i]));
      this.captions[i].textContent = words[i];
    });
    this.toBefore.textContent = inLanguage("◀ region", "◀ 区域");
    this.toNext.textContent = inLanguage("region ▶", "区域 ▶");
    this.picture.frame.hidden = !isKnown;
    if (this.plane.command) {
      const [file, x, y] = this.plane.command;
      this.command.textContent = `./lockstep check ${file} --given ${x}=${durationText(this.at[0])} --given ${y}=${durationText(this.at[1])} --witness run.toml`;
    }
    if (!isKnown) {
      this.verdict.className = "warning";
      this.verdict.textContent = inLanguage("nobody looked there", "那里没有检查过");
      return;
    }
    this.tell(region);
    this.picture.draw(region, this.at, words.join(", "));
  }
}

function setUpMaps() {
  (toldMargins().planes ?? []).forEach((plane, i) => {
    const place = document.getElementById(`point-${i}`);
    const map = /** @type {SVGSVGElement | null} */ (document.querySelector(`svg#map-${i}`));
    if (place && map) new MarginMap(map, place, plane);
  });
}

setUpMaps();
