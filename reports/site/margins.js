// A slider over one length of a story: within a piece every moment is a + b * p, so the picture moves continuously; at a border something comes in another order.
import { inLanguage } from "./site.js";

/**
 * @typedef {[number, number]} Linear
 * @typedef {[number, number, Linear, Linear, string, number, number]} Message
 * @typedef {{from: number, to: number, messages: Message[], holds: [number, Linear, Linear | null][],
 *   overlaps: [number, number, Linear, Linear | null][], broken: string[], impossible?: string}} Piece
 * @typedef {{name: string, nameZh: string, lanes: [number, string][], margins: [string, number][], pieces: Piece[]}} Family
 */

const svgNames = "http://www.w3.org/2000/svg";

/** @param {Linear} time @param {number} p @returns {number} Nanoseconds. */
function momentOf(time, p) {
  return time[0] + time[1] * p;
}

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

class MarginSlider {
  /** @param {HTMLElement} place @param {Family} family */
  constructor(place, family) {
    this.family = family;
    this.pieces = family.pieces;
    const first = this.pieces[0].from;
    const last = this.pieces[this.pieces.length - 1].to;
    const farthest = Math.max(...family.margins.map(([, value]) => Math.abs(value)));
    // Most ranges go far beyond what is of interest: twice the margin has both sides of it.
    this.least = Math.max(first, -2 * farthest - 2e6);
    this.most = Math.min(last, 2 * farthest + 2e6);
    this.p = this.least;
    this.steps = 1000;
    this.whole = 0;
    this.build(place);
    this.show(Math.max(this.least, Math.min(family.margins[0][1], this.most)));
    document.addEventListener("language", () => this.show(this.p));
  }

  /** @param {HTMLElement} place */
  build(place) {
    place.hidden = false;
    this.label = document.createElement("label");
    const input = document.createElement("input");
    this.input = input;
    this.input.type = "range";
    this.input.min = "0";
    this.input.max = String(this.steps);
    this.input.addEventListener("input", () => {
      const part = Number(input.value) / this.steps;
      this.show(Math.round(this.least + (this.most - this.least) * part));
    });
    this.caption = document.createElement("span");
    this.label.append(this.caption, " ", this.input);
    this.buttons = document.createElement("span");
    this.buttons.className = "borders";
    /** @param {string} text @param {() => void} action */
    const button = (text, action) => {
      const element = document.createElement("button");
      element.type = "button";
      element.textContent = text;
      element.addEventListener("click", action);
      this.buttons?.append(element, " ");
      return element;
    };
    this.toBefore = button("", () => this.border(-1));
    this.toNext = button("", () => this.border(1));
    this.verdict = document.createElement("output");
    this.verdict.setAttribute("aria-live", "polite");
    this.svg = document.createElementNS(svgNames, "svg");
    this.svg.setAttribute("class", "diagram margin");
    this.svg.setAttribute("role", "img");
    const frame = document.createElement("div");
    frame.className = "stage";
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", this.family.name);
    frame.append(this.svg);
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(this.label, this.buttons, this.verdict);
    place.append(controls, frame);
  }

  /** @param {number} p @returns {Piece} */
  pieceAt(p) {
    return this.pieces.find((piece) => piece.from <= p && p <= piece.to) ?? this.pieces[this.pieces.length - 1];
  }

  /** To the end of this piece, and over the border. @param {number} direction */
  border(direction) {
    const piece = this.pieceAt(this.p);
    const end = direction > 0 ? piece.to : piece.from;
    this.show(this.p === end ? Math.min(Math.max(end + direction, this.least), this.most) : Math.min(Math.max(end, this.least), this.most));
  }

  /** @param {number} p */
  show(p) {
    this.p = p;
    const piece = this.pieceAt(p);
    const { input, caption, verdict, toBefore, toNext } = this;
    if (!input || !caption || !verdict || !toBefore || !toNext) return;
    input.value = String(Math.round(((p - this.least) / (this.most - this.least)) * this.steps));
    input.setAttribute("aria-valuetext", durationText(p));
    caption.textContent = `${inLanguage(this.family.name, this.family.nameZh)} = ${durationText(p)}`;
    toBefore.textContent = inLanguage("◀ border", "◀ 边界");
    toNext.textContent = inLanguage("border ▶", "边界 ▶");
    const isBroken = piece.broken.length > 0;
    verdict.className = isBroken ? "bad" : "good";
    verdict.textContent = piece.impossible
      ? inLanguage("cannot happen: ", "不可能发生：") + piece.impossible
      : isBroken ? `✗ ${piece.broken.join(", ")}` : inLanguage("✓ nothing breaks", "✓ 没有被破坏");
    this.draw(piece, p);
  }

  /** The last moment of any message, with which the scale is made: the same for all values, so that equal times stay equally long. @returns {number} */
  longest() {
    let longest = 1;
    for (const piece of this.pieces) {
      const p = Math.min(Math.max(piece.from, this.least), this.most);
      const q = Math.min(Math.max(piece.to, this.least), this.most);
      if (piece.from > this.most || piece.to < this.least) continue;
      for (const message of piece.messages) longest = Math.max(longest, momentOf(message[3], p), momentOf(message[3], q));
    }
    return longest;
  }

  /** @param {Piece} piece @param {number} p */
  draw(piece, p) {
    const svg = this.svg;
    if (!svg) return;
    const { lanes } = this.family;
    const [top, height, pitch, left] = [46, 420, lanes.length > 5 ? 96 : 140, 110];
    const width = left + (lanes.length - 1) * pitch + 90;
    this.whole ||= this.longest();
    const whole = this.whole;
    /** @param {number} t */
    const y = (t) => top + (Math.min(Math.max(t, 0), whole) / whole) * height;
    /** @param {number} process */
    const x = (process) => left + lanes.findIndex(([index]) => index === process) * pitch;
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(top + height + 24));
    svg.setAttribute("viewBox", `0 0 ${width} ${top + height + 24}`);
    svg.setAttribute("aria-label", `${this.family.name} = ${durationText(p)}: ${piece.broken.join(", ") || "✓"}`);
    svg.replaceChildren();
    /** @param {string} tag @param {string} style @param {Record<string, number>} places @param {string} [text] */
    const add = (tag, style, places, text) => {
      const element = document.createElementNS(svgNames, tag);
      element.setAttribute("class", style);
      for (const [name, value] of Object.entries(places)) element.setAttribute(name, value.toFixed(1));
      if (text) element.textContent = text;
      svg.append(element);
    };
    for (const [a, b, from, to] of piece.overlaps) {
      const [begin, end] = [y(momentOf(from, p)), to ? y(momentOf(to, p)) : top + height];
      add("rect", "overlap", { x: 0, y: begin, width, height: Math.max(end - begin, 1.5) });
      const name = (/** @type {number} */ i) => lanes.find(([index]) => index === i)?.[1] ?? "";
      add("text", "overlap-name", { x: 4, y: begin + 12 }, `!! ${name(a)}+${name(b)}`);
    }
    for (const [process, name] of lanes) {
      add("line", "lane", { x1: x(process), y1: top - 10, x2: x(process), y2: top + height + 10 });
      add("text", "name", { x: x(process), y: 20 }, name);
    }
    for (const [process, from, to] of piece.holds) {
      if (!lanes.some(([index]) => index === process)) continue;
      const [begin, end] = [y(momentOf(from, p)), to ? y(momentOf(to, p)) : top + height];
      add("rect", "belief", { x: x(process) - 5, y: begin, width: 10, height: Math.max(end - begin, 1) });
    }
    for (const [from, to, sent, at, name, isReply, isLost] of piece.messages) {
      const [begin, end] = [y(momentOf(sent, p)), y(momentOf(at, p))];
      const middle = isLost ? 0.6 : 1;
      const xTo = x(from) + (x(to) - x(from)) * middle;
      add("line", `message${isReply ? " reply" : ""}${isLost ? " lost" : ""}`, { x1: x(from), y1: begin, x2: xTo, y2: begin + (end - begin) * middle });
      if (!isReply) add("text", "command", { x: x(from) + Math.sign(x(to) - x(from)) * pitch * 0.5, y: begin - 3 + (end - begin) * 0.5 }, name);
    }
    for (let i = 0; i <= 4; i++) {
      add("text", "time", { x: 66, y: y((whole * i) / 4) + 4 }, durationText(Math.round((whole * i) / 4 / 1e5) * 1e5));
    }
  }
}

function setUpSliders() {
  const text = document.getElementById("data")?.textContent;
  if (!text) return;
  const families = /** @type {Family[]} */ (JSON.parse(text).sliders ?? []);
  families.forEach((family, i) => {
    const place = document.getElementById(`slider-${i}`);
    if (place) new MarginSlider(place, family);
  });
}

setUpSliders();
