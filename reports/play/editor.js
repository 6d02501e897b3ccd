// A text with numbered lines, on which mistakes are marked.

/** @typedef {{line: number, column: number, message: string}} Problem */

/** In both languages; the style shows one of them. @param {Element} parent @param {string} en @param {string} zh */
export function sayBoth(parent, en, zh) {
  const english = document.createElement("span");
  english.lang = "en";
  english.textContent = en;
  const chinese = document.createElement("span");
  chinese.lang = "zh-Hans";
  chinese.textContent = zh;
  parent.replaceChildren(english, chinese);
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

export class Editor {
  constructor() {
    /** @type {HTMLTextAreaElement} */
    this.area = byId("text");
    /** @type {HTMLElement} */
    this.numbers = byId("numbers");
    /** @type {HTMLElement} */
    this.list = byId("problems");
    /** @type {Map<number, string>} */
    this.marks = new Map();
    this.shown = "";
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("input", () => this.number());
    this.number();
  }

  text() {
    return this.area.value;
  }

  /** @param {string} text */
  put(text) {
    const place = this.area.scrollTop;
    this.area.value = text;
    this.area.scrollTop = place;
    this.number();
  }

  follow() {
    this.numbers.scrollTop = this.area.scrollTop;
  }

  number() {
    const count = this.area.value.split("\n").length;
    const shown = `${count} ${[...this.marks.keys()].join(" ")}`;
    if (shown !== this.shown) {
      this.shown = shown;
      this.numbers.replaceChildren();
      for (let line = 1; line <= count; line++) {
        const mark = document.createElement("span");
        const message = this.marks.get(line);
        mark.textContent = message === undefined ? `${line}\n` : `✗ ${line}\n`;
        if (message !== undefined) mark.className = "bad-line";
        if (message !== undefined) mark.title = message;
        this.numbers.append(mark);
      }
    }
    this.follow();
  }

  /** @param {Problem[]} problems */
  show(problems) {
    this.marks = new Map(problems.filter((one) => one.line > 0).map((one) => [one.line, one.message]));
    this.area.setAttribute("aria-invalid", String(problems.length > 0));
    this.list.replaceChildren();
    if (problems.length) {
      const list = document.createElement("ul");
      for (const problem of problems) list.append(this.item(problem));
      this.list.append(list);
    }
    this.number();
  }

  /** @param {Problem} problem */
  item(problem) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    const [en, zh] = problem.line > 0 ? [`line ${problem.line}: `, `第 ${problem.line} 行：`] : ["", ""];
    sayBoth(button, `✗ ${en}${problem.message}`, `✗ ${zh}${problem.message}`);
    button.addEventListener("click", () => this.goTo(problem.line, problem.column));
    item.append(button);
    return item;
  }

  /** @param {number} line @param {number} column Both from 1; a line of 0: nowhere. */
  goTo(line, column) {
    if (line < 1) return;
    const lines = this.area.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const end = begin + (lines[line - 1] ?? "").length;
    this.area.focus();
    this.area.setSelectionRange(Math.min(begin + Math.max(column - 1, 0), end), end);
    const height = this.area.scrollHeight / Math.max(lines.length, 1);
    this.area.scrollTop = Math.max((line - 5) * height, 0);
  }
}
