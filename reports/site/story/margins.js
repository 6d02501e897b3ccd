// Sliders over one length of a story: within a piece every moment is a + b * p, so the picture moves continuously; at a border something comes in another order. (A map of two lengths: map.js.)
import { inLanguage } from "../frame/site.js";

/**
 * Times are runs of numbers within a row: a moment at zero, and its slope for each parameter.
 * @typedef {{m: string, h?: string, o?: string, broken?: string, impossible?: string}} Run Rows of the tables below: "0-17,19".
 * @typedef {Run & {from: number, to: number}} Piece
 * @typedef {Run & {at: [number, number], corners: number[]}} Region
 * @typedef {{lanes: [number, string][], names: string[], messages: number[][], holds: number[][], overlaps: number[][]}} Tables
 * @typedef {{name: string, nameZh: string}} Parameter
 * @typedef {Tables & Parameter & {margins: [string, number][], pieces: Piece[]}} Family
 * A frontier: polygons of bounds, x * X + y * Y > or, if the last is 1, >= a number of nanoseconds. A command: the story's file, and what X and Y are called.
 * @typedef {{property?: string, command?: [string, string, string], frontier?: [number, number, number, number][][]}} Frontier
 * @typedef {Tables & Frontier & {x: Parameter & {from: number, to: number}, y: Parameter & {from: number, to: number}, regions: Region[]}} Plane
 */

const svgNames = "http://www.w3.org/2000/svg";

/** The shortest exact text. @param {number} ns @returns {string} */
export function durationText(ns) {
  /** @type {[number, string][]} */
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
  for (const [length, unit] of units) {
    if (Math.abs(ns) < length) continue;
    const whole = Math.trunc(ns / length);
    const digits = String(Math.abs(ns % length)).padStart(Math.log10(length), "0").replace(/0+$/, "");
    return `${whole}${digits ? "." + digits : ""}${unit}`;
  }
  return `${ns}ns`;
}

/** The rows that a run names. @param {number[][]} table @param {string | undefined} numbers @returns {number[][]} */
function rowsOf(table, numbers) {
  if (!numbers) return [];
  return numbers.split(",").flatMap((part) => {
    const [first, last] = part.split("-").map(Number);
    return table.slice(first, (last ?? first) + 1);
  });
}

/** @param {string} tag @param {string} style @param {Record<string, number>} places @param {string} [text] */
export function shape(tag, style, places, text) {
  const element = document.createElementNS(svgNames, tag);
  element.setAttribute("class", style);
  for (const [name, value] of Object.entries(places)) element.setAttribute(name, value.toFixed(1));
  if (text) element.textContent = text;
  return element;
}

/** @param {string} text @param {() => void} action */
export function pushButton(text, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.addEventListener("click", action);
  return element;
}

/** @param {number} steps @param {(step: number) => void} moved */
export function rangeInput(steps, moved) {
  const input = document.createElement("input");
  input.type = "range";
  input.min = "0";
  input.max = String(steps);
  input.addEventListener("input", () => moved(Number(input.value)));
  return input;
}

/** @param {HTMLOutputElement} output @param {Run} run */
export function tellVerdict(output, run) {
  output.className = run.broken ? "bad" : "good";
  if (run.impossible) output.textContent = inLanguage("cannot happen: ", "不可能发生：") + run.impossible;
  else output.textContent = run.broken ? `✗ ${run.broken}` : inLanguage("✓ nothing breaks", "✓ 没有被破坏");
}

/** Runs that are alike but for one or two lengths, as a picture that moves with them. */
export class Picture {
  /** @param {Tables} tables @param {string} name @param {number} parameters How many lengths: each time takes one number more. */
  constructor(tables, name, parameters) {
    this.tables = tables;
    this.name = name;
    this.size = parameters + 1;
    this.whole = 1;
    this.svg = document.createElementNS(svgNames, "svg");
    this.svg.setAttribute("class", "diagram margin");
    this.svg.setAttribute("role", "img");
    this.frame = document.createElement("div");
    this.frame.className = "stage";
    this.frame.tabIndex = 0;
    this.frame.setAttribute("role", "group");
    this.frame.setAttribute("aria-label", name);
    this.frame.append(this.svg);
  }

  /** @param {number[]} row @param {number} place Where in it the time begins. @param {number[]} at @returns {number} Nanoseconds. */
  moment(row, place, at) {
    return at.reduce((sum, value, i) => sum + row[place + 1 + i] * value, row[place]);
  }

  /** Makes room for what happens there: one scale for all values, so that equal times stay equally long. @param {Run} run @param {number[]} at */
  reach(run, at) {
    for (const message of rowsOf(this.tables.messages, run.m)) this.whole = Math.max(this.whole, this.moment(message, 4 + this.size, at));
  }

  /** @param {Run} run @param {number[]} at @param {string} value In words. */
  draw(run, at, value) {
    const { svg, size, whole } = this;
    const { lanes, names, messages, holds, overlaps } = this.tables;
    const [top, height, pitch, left] = [46, 420, lanes.length > 5 ? 96 : 140, 110];
    const width = left + (lanes.length - 1) * pitch + 90;
    /** @param {number[]} row @param {number} place */
    const y = (row, place) => top + (Math.min(Math.max(this.moment(row, place, at), 0), whole) / whole) * height;
    /** Where it ends; without an end it goes on. @param {number[]} row @param {number} place */
    const end = (row, place) => (row.length > place ? y(row, place) : top + height);
    /** @param {number} process */
    const x = (process) => left + lanes.findIndex(([index]) => index === process) * pitch;
    const name = (/** @type {number} */ process) => lanes.find(([index]) => index === process)?.[1] ?? "";
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(top + height + 24));
    svg.setAttribute("viewBox", `0 0 ${width} ${top + height + 24}`);
    svg.setAttribute("aria-label", `${value}: ${run.broken ?? "✓"}`);
    svg.replaceChildren();
    /** @param {string} tag @param {string} style @param {Record<string, number>} places @param {string} [text] */
    const add = (tag, style, places, text) => svg.append(shape(tag, style, places, text));
    for (const row of rowsOf(overlaps, run.o)) {
      const begin = y(row, 2);
      add("rect", "overlap", { x: 0, y: begin, width, height: Math.max(end(row, 2 + size) - begin, 1.5) });
      add("text", "overlap-name", { x: width - 70, y: begin + 12 }, `!! ${name(row[0])}+${name(row[1])}`);
    }
    for (const [process, text] of lanes) {
      add("line", "lane", { x1: x(process), y1: top - 10, x2: x(process), y2: top + height + 10 });
      add("text", "name", { x: x(process), y: 20 }, text);
    }
    for (const row of rowsOf(holds, run.h)) {
      if (!lanes.some(([index]) => index === row[0])) continue;
      const begin = y(row, 1);
      add("rect", "belief", { x: x(row[0]) - 5, y: begin, width: 10, height: Math.max(end(row, 1 + size) - begin, 1) });
    }
    for (const row of rowsOf(messages, run.m)) {
      const [from, to, text, flags] = row;
      const [isReply, isLost] = [flags & 1, flags & 2];
      const [begin, until] = [y(row, 4), y(row, 4 + size)];
      const middle = isLost ? 0.6 : 1;
      const xTo = x(from) + (x(to) - x(from)) * middle;
      add("line", `message${isReply ? " reply" : ""}${isLost ? " lost" : ""}`, { x1: x(from), y1: begin, x2: xTo, y2: begin + (until - begin) * middle });
      if (!isReply) add("text", "command", { x: x(from) + Math.sign(x(to) - x(from)) * pitch * 0.5, y: begin - 3 + (until - begin) * 0.5 }, names[text]);
    }
    for (let i = 0; i <= 4; i++)
      add("text", "time", { x: 66, y: top + (height * i) / 4 + 4 }, durationText(Math.round((whole * i) / 4 / 1e5) * 1e5));
  }
}

export const steps = 1000;

class MarginSlider {
  /** @param {HTMLElement} place @param {Family} family */
  constructor(place, family) {
    this.family = family;
    this.pieces = family.pieces;
    const farthest = Math.max(...family.margins.map(([, value]) => Math.abs(value)));
    // Most ranges go far beyond what is of interest: twice the margin has both sides of it.
    this.least = Math.max(this.pieces[0].from, -2 * farthest - 2e6);
    this.most = Math.min(this.pieces[this.pieces.length - 1].to, 2 * farthest + 2e6);
    this.p = this.least;
    this.picture = new Picture(family, family.name, 1);
    for (const piece of this.pieces) {
      if (piece.from > this.most || piece.to < this.least) continue;
      for (const end of [piece.from, piece.to]) this.picture.reach(piece, [Math.min(Math.max(end, this.least), this.most)]);
    }
    this.input = rangeInput(steps, (step) => this.show(Math.round(this.least + ((this.most - this.least) * step) / steps)));
    this.caption = document.createElement("span");
    this.verdict = document.createElement("output");
    this.verdict.setAttribute("aria-live", "polite");
    this.toBefore = pushButton("", () => this.border(-1));
    this.toNext = pushButton("", () => this.border(1));
    const label = document.createElement("label");
    label.append(this.caption, " ", this.input);
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(label, this.toBefore, this.toNext, this.verdict);
    place.append(controls, this.picture.frame);
    place.hidden = false;
    this.show(Math.max(this.least, Math.min(family.margins[0][1], this.most)));
    document.addEventListener("language", () => this.show(this.p));
  }

  /** @param {number} p @returns {Piece} */
  pieceAt(p) {
    return this.pieces.find((piece) => piece.from <= p && p <= piece.to) ?? this.pieces[this.pieces.length - 1];
  }

  /** To the end of this piece, and over the border. @param {number} direction */
  border(direction) {
    const piece = this.pieceAt(this.p);
    const end = direction > 0 ? piece.to : piece.from;
    this.show(Math.min(Math.max(this.p === end ? end + direction : end, this.least), this.most));
  }

  /** @param {number} p */
  show(p) {
    this.p = p;
    const piece = this.pieceAt(p);
    const { family, input } = this;
    input.value = String(Math.round(((p - this.least) / (this.most - this.least)) * steps));
    input.setAttribute("aria-valuetext", durationText(p));
    this.caption.textContent = `${inLanguage(family.name, family.nameZh)} = ${durationText(p)}`;
    this.toBefore.textContent = inLanguage("◀ border", "◀ 边界");
    this.toNext.textContent = inLanguage("border ▶", "边界 ▶");
    tellVerdict(this.verdict, piece);
    this.picture.draw(piece, [p], `${family.name} = ${durationText(p)}`);
  }
}

/** What the page tells of them. @returns {{families?: Family[], planes?: Plane[]}} */
export function toldMargins() {
  const text = document.getElementById("data")?.textContent;
  return text ? (JSON.parse(text).sliders ?? {}) : {};
}

function setUpSliders() {
  (toldMargins().families ?? []).forEach((family, i) => {
    const place = document.getElementById(`slider-${i}`);
    if (place) new MarginSlider(place, family);
  });
}

setUpSliders();
