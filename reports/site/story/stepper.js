// Steps through a diagram: keys, buttons, a slider, links to single steps; and moves it to a scale on which equal times are equally long.
import { inLanguage } from "../frame/site.js";

/**
 * Of a step: which server's which key has which value, until when. Without a value it is gone.
 * @typedef {[number, string, string?, string?]} Change
 * @typedef {{changes?: Record<string, Change[]>, servers?: string[], clocked?: boolean}} Data
 */

/** What moves when the scale changes. @type {Record<string, string[]>} */
const heightsOf = {
  line: ["y1", "y2"],
  rect: ["y", "height"],
  circle: ["cy"],
  text: ["y"],
  g: [],
};

/** Milliseconds that the move to scale takes; none for readers who want none. @returns {number} */
function lengthOfMove() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 350;
}

class Stepper {
  /** @param {SVGSVGElement} svg @param {Data} data @param {AbortSignal} signal Ends it: another diagram takes its place. */
  constructor(svg, data, signal) {
    this.signal = signal;
    this.svg = svg;
    this.data = data;
    this.tableRows = [...document.querySelectorAll("#steps tbody tr")];
    this.count = this.tableRows.length;
    this.at = this.count;
    this.isToScale = false;
    this.isPart = false;
    this.past = /** @type {SVGRectElement} */ (svg.querySelector(".past"));
    this.cursor = /** @type {SVGRectElement} */ (svg.querySelector(".cursor"));
    this.stage = /** @type {HTMLElement} */ (document.getElementById("stage"));
    this.panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
    this.slider = /** @type {HTMLInputElement} */ (document.getElementById("at"));
    this.output = /** @type {HTMLOutputElement} */ (document.getElementById("step"));
    this.whole = Number(this.past.getAttribute("height"));
    /** @type {Element[][]} */
    this.ofRow = Array.from({ length: this.count }, () => []);
    /** Where a row's text stands, and where on the other scale. @type {[number, number][]} */
    this.heightOf = [];
    for (const element of svg.querySelectorAll("[data-row]")) {
      const row = Number(element.getAttribute("data-row"));
      this.ofRow[row].push(element);
      const y = Number(element.querySelector("text.row")?.getAttribute("y") ?? NaN);
      if (!Number.isNaN(y)) this.heightOf[row] = [y, y + Number(element.getAttribute("data-to"))];
    }
    /** @type {{element: Element, names: string[], here: number[], there: number[]}[]} */
    this.moves = [...svg.querySelectorAll("[data-to]")].map((element) => {
      const names = heightsOf[element.tagName];
      const there = (element.getAttribute("data-to") ?? "").split(" ").map(Number);
      return { element, names, here: names.map((name) => Number(element.getAttribute(name))), there };
    });
    this.heights = [Number(svg.getAttribute("height")), Number(svg.dataset.heightTo ?? svg.getAttribute("height"))];
    this.setUp();
  }

  setUp() {
    /** @param {string} id @param {() => void} action */
    const onClick = (id, action) => document.getElementById(id)?.addEventListener("click", action);
    /** @type {HTMLElement} */ (document.getElementById("controls")).hidden = false;
    onClick("first", () => this.go(1));
    onClick("back", () => this.go(this.at - 1));
    onClick("next", () => this.go(this.at === this.count && !this.isStepping() ? 1 : this.at + 1));
    onClick("last", () => this.showAll());
    onClick("scale", () => this.scale(!this.isToScale));
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    const signal = this.signal;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    this.svg.addEventListener("click", (event) => {
      const row = /** @type {Element} */ (event.target).closest("[data-row]")?.getAttribute("data-row");
      if (row) this.go(Number(row) + 1);
    });
    addEventListener("hashchange", () => this.goToHash(), { signal });
    document.addEventListener("language", () => this.isStepping() && this.showPanel(), { signal });
    this.goToHash();
  }

  isStepping() {
    return this.svg.classList.contains("stepping");
  }

  goToHash() {
    const found = /^#s(\d+)$/.exec(location.hash);
    if (!found) return;
    this.go(Number(found[1]), false);
    // The browser goes to the row of the table, where the step is without scripts.
    requestAnimationFrame(() => this.stage.scrollIntoView({ block: "center" }));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select")) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      j: () => this.go(this.isStepping() ? this.at + 1 : 1),
      k: () => this.go(this.at - 1),
      Home: () => this.go(1),
      End: () => this.showAll(),
      s: () => this.scale(!this.isToScale),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** @param {number} step From 1. @param {boolean} [tellsAddress] */
  go(step, tellsAddress = true) {
    if (this.count === 0) return;
    const before = this.isStepping() ? this.at : this.count;
    this.at = Math.min(Math.max(step, 1), this.count);
    this.svg.classList.add("stepping");
    const [from, to] = [Math.min(before, this.at), Math.max(before, this.at)];
    for (let row = from; row < to; row++) {
      for (const element of this.ofRow[row]) element.classList.toggle("future", row >= this.at);
    }
    this.tableRows[before - 1]?.classList.remove("now");
    this.tableRows[this.at - 1]?.classList.add("now");
    this.showPlace();
    this.showCode();
    this.showPanel();
    if (tellsAddress) history.replaceState(null, "", `#s${this.at}`);
  }

  /** As if nothing came after this step. @param {number} step 0: nothing at all. */
  showOnly(step) {
    this.svg.classList.add("stepping");
    for (const elements of this.ofRow) for (const element of elements) element.classList.add("future");
    this.isPart = true;
    this.count = step;
    this.at = 0;
    this.slider.max = String(step);
    this.output.textContent = `0 / ${step}`;
    this.go(step, false);
  }

  showAll() {
    if (this.isPart) {
      this.go(this.count);
      return;
    }
    this.svg.classList.remove("stepping");
    for (const elements of this.ofRow) for (const element of elements) element.classList.remove("future");
    this.tableRows[this.at - 1]?.classList.remove("now");
    for (const line of document.querySelectorAll("#code .now")) line.classList.remove("now");
    this.at = this.count;
    this.past.setAttribute("height", String(this.whole));
    this.cursor.setAttribute("y", "-40");
    this.panel.hidden = true;
    this.tell();
    history.replaceState(null, "", location.pathname + location.search);
  }

  tell() {
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `${this.at} / ${this.count}`);
    this.output.textContent = `${this.at} / ${this.count}`;
    document.dispatchEvent(new CustomEvent("step", { detail: this.isStepping() ? this.at : 0 }));
  }

  showPlace() {
    this.tell();
    const y = this.heightOf[this.at - 1][this.isToScale ? 1 : 0] - 4;
    this.past.setAttribute("height", String(y + 2));
    this.cursor.setAttribute("y", String(y - 11));
    const above = this.stage.scrollTop + 80;
    const below = this.stage.scrollTop + this.stage.clientHeight - 60;
    if (y < above || y > below) this.stage.scrollTop = y - this.stage.clientHeight / 2;
  }

  /** What the servers hold after the present step. @returns {Map<string, Map<string, string>>} */
  keys() {
    /** @type {Map<string, Map<string, string>>} */
    const servers = new Map((this.data.servers ?? []).map((name) => [name, new Map()]));
    for (const [step, changes] of Object.entries(this.data.changes ?? {})) {
      if (Number(step) > this.at) continue;
      for (const [server, key, value, until] of changes) {
        const keys = servers.get((this.data.servers ?? [])[server]);
        if (value === undefined) keys?.delete(key);
        else keys?.set(key, until ? `${value} ${inLanguage("until", "至")} ${until}` : value);
      }
    }
    return servers;
  }

  /** The lines of the algorithm at which the present step's client waits, the outermost call first. @returns {{link: Element, line: HTMLElement}[]} */
  linesOfCode() {
    const links = this.tableRows[this.at - 1]?.querySelectorAll("a[href^='#c']") ?? [];
    return [...links].flatMap((link) => {
      const line = document.getElementById((link.getAttribute("href") ?? "").slice(1));
      return line ? [{ link, line }] : [];
    });
  }

  showCode() {
    for (const line of document.querySelectorAll("#code .now")) line.classList.remove("now");
    for (const { line } of this.linesOfCode()) {
      line.classList.add("now");
      const file = /** @type {HTMLElement} */ (line.closest("pre"));
      const isSeen = line.offsetTop >= file.scrollTop && line.offsetTop + line.offsetHeight <= file.scrollTop + file.clientHeight;
      if (!isSeen) file.scrollTop = line.offsetTop - file.clientHeight / 2;
    }
  }

  showPanel() {
    const cells = this.tableRows[this.at - 1]?.querySelectorAll("td");
    if (!cells) return;
    this.panel.replaceChildren();
    this.panel.hidden = false;
    const isClocked = this.data.clocked;
    /** @param {string} en @param {string} zh @param {(Node | string)[]} content */
    const line = (en, zh, content) => {
      const paragraph = document.createElement("p");
      const label = document.createElement("span");
      label.className = "faint";
      label.textContent = inLanguage(`${en}: `, `${zh}：`);
      paragraph.append(label, ...content);
      this.panel.append(paragraph);
    };
    /** @param {number} i @returns {Node[]} */
    const copyOf = (i) => [...cells[i].childNodes].map((node) => node.cloneNode(true));
    const shift = isClocked ? 1 : 0;
    const title = document.createElement("p");
    const strong = document.createElement("strong");
    strong.append(`${this.at} · `, ...copyOf(1), " · ", ...copyOf(2 + shift));
    title.append(strong, " ", ...copyOf(3 + shift));
    this.panel.append(title);
    if (isClocked && cells[2].textContent) line("own clock", "自己的时钟", copyOf(2));
    if (cells[4 + shift].textContent) line("changes", "变化", copyOf(4 + shift));
    const holders = cells[5 + shift].textContent;
    line("believes to hold it", "认为自己持有", [holders || inLanguage("nobody", "没有人")]);
    for (const [server, keys] of this.keys()) {
      const text = [...keys].map(([key, value]) => `${key} = ${value}`).join("; ");
      const code = document.createElement("code");
      code.textContent = text || "∅";
      line(server, server, [code]);
    }
    for (const { link, line: text } of this.linesOfCode()) {
      const code = document.createElement("code");
      code.textContent = (text.firstChild?.textContent ?? "").trim();
      line("waits at", "等待于", [link.cloneNode(true), " ", code]);
    }
  }

  /** @param {boolean} toScale */
  scale(toScale) {
    this.isToScale = toScale;
    document.getElementById("scale")?.setAttribute("aria-pressed", String(toScale));
    this.svg.classList.toggle("to-scale", toScale);
    const from = toScale ? 0 : 1;
    const length = lengthOfMove();
    const begin = performance.now();
    /** @param {number} now */
    const frame = (now) => {
      const done = length > 0 ? Math.min((now - begin) / length, 1) : 1;
      const part = Math.abs(from - done * done * (3 - 2 * done));
      this.place(part);
      if (done < 1) requestAnimationFrame(frame);
      else if (this.isStepping()) this.showPlace();
    };
    requestAnimationFrame(frame);
  }

  /** @param {number} part 0: by event, 1: to scale. */
  place(part) {
    const height = String(Math.round(this.heights[0] + (this.heights[1] - this.heights[0]) * part));
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${this.svg.getAttribute("width")} ${height}`);
    for (const { element, names, here, there } of this.moves) {
      if (names.length === 0) element.setAttribute("transform", `translate(0 ${there[0] * part})`);
      for (let i = 0; i < here.length; i++) {
        if (here[i] !== there[i]) element.setAttribute(names[i], String(here[i] + (there[i] - here[i]) * part));
      }
    }
  }
}

export function setUpCopying() {
  for (const pre of document.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    if (!code || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = inLanguage("copy", "复制");
    button.addEventListener("click", () => navigator.clipboard.writeText(code.textContent ?? ""));
    pre.prepend(button);
  }
}

let presentDiagram = new AbortController();

/** Once more after the page has got another diagram. @param {number | null} [step] Up to this. */
export function setUpDiagram(step = null) {
  presentDiagram.abort();
  presentDiagram = new AbortController();
  const svg = /** @type {SVGSVGElement | null} */ (document.querySelector("svg#diagram"));
  const data = document.getElementById("data")?.textContent;
  if (!svg || !data) return;
  const stepper = new Stepper(svg, JSON.parse(data), presentDiagram.signal);
  if (step !== null) stepper.showOnly(step);
}

setUpDiagram();
setUpCopying();
