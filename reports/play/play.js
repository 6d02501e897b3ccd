// The page of `lockstep play`: what is typed, chosen, moved and clicked goes to the program, and what it answers is shown.
import { isChinese } from "../site/frame/site.js";
import { setUpCopying, setUpDiagram } from "../site/story/stepper.js";
import { setUpStepping } from "./stepping/stepping.js";
import { Editor, byId, sayBoth } from "./editor.js";

/**
 * @typedef {{en: string, zh: string}} Both
 * @typedef {{id: string, label: Both, value: string, fallback: string, kind: string, choices: string[]}} Field
 */

const token = new URLSearchParams(location.search).get("token") ?? "";
const editor = new Editor();
/** @type {string[]} */
const earlier = [];
let asked = 0;
let fields = "";

/** @param {string} path @param {object} body @returns {Promise<any>} */
async function ask(path, body) {
  try {
    const headers = { "X-Lockstep-Token": token, "Content-Type": "application/json" };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    return await response.json();
  } catch {
    return { problem: { en: "lockstep play does not answer: was it ended?", zh: "lockstep play 没有回答：它结束了吗？" } };
  }
}

/** @param {() => void} action @param {number} milliseconds */
function afterRest(action, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

/** @param {string} en @param {string} zh @param {() => void} action */
function button(en, zh, action) {
  const element = document.createElement("button");
  element.type = "button";
  sayBoth(element, en, zh);
  element.addEventListener("click", action);
  return element;
}

/** Problems of the text, or of the program. @param {any} answer @returns {boolean} */
function showProblems(answer) {
  if (answer.problem) editor.show([{ line: 0, column: 0, message: isChinese() ? answer.problem.zh : answer.problem.en }]);
  else editor.show(answer.problems ?? []);
  return Boolean(answer.problem || answer.problems);
}

// --- The run.

async function run() {
  const number = ++asked;
  const answer = await ask("run", { text: editor.text() });
  if (number !== asked) return;
  const told = byId("told");
  const isBad = showProblems(answer);
  told.classList.toggle("stale", isBad);
  if (!isBad) show(answer);
}
const runSoon = afterRest(run, 150);

/** The run's part of an answer. @param {any} answer @param {number | null} [step] Up to this one of the diagram. */
function showRun(answer, step = null) {
  const told = byId("told");
  const place = byId("stage")?.scrollTop ?? 0;
  const isToScale = byId("scale")?.getAttribute("aria-pressed") === "true";
  const open = [...told.querySelectorAll("details")].map((details) => details.open);
  told.innerHTML = answer.body;
  byId("data").textContent = answer.data;
  document.title = `${answer.name} · Lockstep`;
  const heading = document.querySelector("h1");
  if (heading) heading.innerHTML = answer.title;
  const details = [...told.querySelectorAll("details")];
  if (details.length === open.length) details.forEach((one, i) => (one.open = open[i]));
  setUpDiagram(step);
  setUpCopying();
  if (isToScale) byId("scale")?.click();
  if (step === null && byId("stage")) byId("stage").scrollTop = place;
}

/** @param {any} answer */
function show(answer) {
  stepping.end();
  showRun(answer);
  byId("algorithm").value = answer.algorithm;
  const notes = answer.notes.map((/** @type {string} */ text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  });
  byId("notes").replaceChildren(...notes);
  showForm(answer.form);
  showFaults(answer.faults);
  showAnswer(answer.answer);
  showWitnesses(answer.witnesses);
  offerFaults();
}

// --- Changes that the program makes in the text.

/** @param {string} text */
function putText(text) {
  if (text === editor.text()) return;
  earlier.push(editor.text());
  byId("undo").disabled = false;
  editor.put(text);
}

/** @param {object} change */
async function edit(change) {
  const before = editor.text();
  const answer = await ask("edit", { text: before, ...change });
  if (editor.text() !== before) return;
  if (showProblems(answer)) return;
  putText(answer.text);
  await run();
}

byId("whole-width").addEventListener("click", () => {
  const isAlone = byId("play").classList.toggle("alone");
  byId("whole-width").setAttribute("aria-pressed", String(isAlone));
});

byId("undo").addEventListener("click", () => {
  const text = earlier.pop();
  byId("undo").disabled = earlier.length === 0;
  if (text === undefined) return;
  editor.put(text);
  run();
});
byId("algorithm").addEventListener("change", () => edit({ algorithm: byId("algorithm").value }));
byId("text").addEventListener("input", runSoon);

// --- The form.

const units = /** @type {[string, number][]} */ ([["min", 6e10], ["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]]);

/** "150ms" as nanoseconds; -1: it is no such length. @param {string} text */
function nanoseconds(text) {
  const found = /^(\d+(?:\.\d+)?)(min|s|ms|us|ns)$/.exec(text.trim());
  return found ? Math.round(Number(found[1]) * (units.find((unit) => unit[0] === found[2])?.[1] ?? 0)) : -1;
}

/** @param {number} length Nanoseconds. */
function lengthText(length) {
  if (length === 0) return "0ms";
  const unit = units.slice(1).find(([, size]) => length % size === 0) ?? ["ns", 1];
  return `${length / unit[1]}${unit[0]}`;
}

/** A step that reads well: 1, 2 or 5 of a power of ten. @param {number} length */
function roundStep(length) {
  const power = 10 ** Math.floor(Math.log10(Math.max(length, 1)));
  return ([1, 2, 5, 10].find((n) => n * power >= length) ?? 10) * power;
}

/** @param {Field} field @param {HTMLInputElement} input */
function sliderOf(field, input) {
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = "0";
  slider.setAttribute("aria-label", `${field.label.en} / ${field.label.zh}`);
  const send = afterRest(() => edit({ field: field.id, value: input.value }), 60);
  slider.addEventListener("input", () => {
    input.value = lengthText(Number(slider.value));
    send();
  });
  return slider;
}

/** @param {HTMLInputElement} slider @param {string} value */
function placeSlider(slider, value) {
  const length = nanoseconds(value);
  slider.hidden = length < 0;
  if (length < 0 || document.activeElement === slider) return;
  if (length > Number(slider.max) || !slider.dataset.isPlaced) {
    const step = roundStep(Math.max(length * 4, 1e8) / 400);
    slider.step = String(step);
    slider.max = String(step * 400);
    slider.dataset.isPlaced = "yes";
  }
  // A value between two steps stays in the text.
  slider.value = String(length);
}

/** @param {Field} field @returns {HTMLInputElement | HTMLSelectElement} */
function inputOf(field) {
  const choices = field.kind === "flag" ? ["true", "false"] : field.choices;
  if (choices.length === 0) {
    const input = document.createElement("input");
    input.type = "text";
    return input;
  }
  const select = document.createElement("select");
  for (const choice of ["", ...choices]) {
    const option = document.createElement("option");
    option.value = choice;
    option.textContent = choice || `– (${field.fallback})`;
    select.append(option);
  }
  return select;
}

/** @param {Field[]} form */
function makeForm(form) {
  const rows = [];
  for (const field of form) {
    const label = document.createElement("label");
    sayBoth(label, field.label.en, field.label.zh);
    label.htmlFor = `f-${field.id}`;
    const input = inputOf(field);
    input.id = `f-${field.id}`;
    input.addEventListener("change", () => edit({ field: field.id, value: input.value }));
    const hasSlider = input instanceof HTMLInputElement && (field.kind === "duration" || field.kind === "range");
    const last = hasSlider ? sliderOf(field, input) : document.createElement("span");
    last.id = `s-${field.id}`;
    const row = document.createElement("div");
    row.className = "figure";
    row.append(label, input, last);
    rows.push(row);
  }
  byId("form").replaceChildren(...rows);
}

/** @param {Field[]} form */
function showForm(form) {
  const ids = JSON.stringify(form.map((field) => [field.id, field.label, field.kind]));
  if (ids !== fields) makeForm(form);
  fields = ids;
  for (const field of form) {
    const input = byId(`f-${field.id}`);
    if (document.activeElement !== input) input.value = field.value;
    input.placeholder = field.fallback;
    const slider = byId(`s-${field.id}`);
    if (slider instanceof HTMLInputElement) placeSlider(slider, field.value || field.fallback);
  }
}
byId("form").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());

/** @param {number} count */
function showFaults(count) {
  const buttons = [];
  for (let i = 0; i < count; i++)
    buttons.push(button(`remove fault ${i + 1}`, `删除故障 ${i + 1}`, () => edit({ without_fault: i })));
  byId("faults").replaceChildren(...buttons);
}

// --- What may go wrong at the step that is looked at.

let step = 0;

async function offerFaults() {
  const here = byId("here");
  const isOffered = step > 0 && !stepping.isOn();
  here.hidden = !isOffered;
  if (!isOffered) return;
  const row = step - 1;
  const answer = await ask("faults", { text: editor.text(), row });
  if (row !== step - 1) return;
  sayBoth(byId("here-step"), `At step ${step}:`, `在第 ${step} 步：`);
  const buttons = (answer.faults ?? []).map((/** @type {{id: string, label: Both}} */ fault) =>
    button(fault.label.en, fault.label.zh, () => edit({ fault: fault.id, row, length: byId("length").value })));
  if (buttons.length === 0) {
    const nothing = document.createElement("span");
    sayBoth(nothing, "nothing can go wrong just here", "这里不会出错");
    buttons.push(nothing);
  }
  byId("here-faults").replaceChildren(...buttons);
}
const offerSoon = afterRest(offerFaults, 80);
document.addEventListener("step", (event) => {
  const detail = /** @type {CustomEvent} */ (event).detail;
  if (detail === step) return;
  step = detail;
  offerSoon();
});

// --- Event by event.

const stepping = setUpStepping({
  ask: (place) => ask("step", { text: editor.text(), place }),
  showRun,
  showProblems,
  button,
  keep: (text) => {
    putText(text);
    run();
  },
  leave: run,
});

// --- Check.

let isChecking = false;

/** @param {string} en @param {string} zh */
function tell(en, zh) {
  sayBoth(byId("progress"), en, zh);
}

function look() {
  setTimeout(async () => {
    const state = await ask("check/state", {});
    if (state.phase === "running") {
      const all = state.estimated > state.traces ? Math.round(state.estimated) : 0;
      const of = [all ? ` of about ${all}` : "", all ? `，共约 ${all}` : ""];
      tell(`${state.traces} traces${of[0]}, ${state.seconds.toFixed(1)} s`, `${state.traces} 条迹${of[1]}，${state.seconds.toFixed(1)} 秒`);
      look();
      return;
    }
    isChecking = false;
    byId("cancel").disabled = true;
    byId("check").disabled = false;
    if (state.phase === "done") tell(`${state.traces} traces: see the promises`, `${state.traces} 条迹：见承诺一节`);
    else tell(state.problem?.en ?? state.problem ?? "", state.problem?.zh ?? state.problem ?? "");
    run();
  }, 250);
}

byId("check").addEventListener("click", async () => {
  if (isChecking) return;
  const answer = await ask("check", { text: editor.text() });
  if (showProblems(answer)) return;
  isChecking = true;
  byId("check").disabled = true;
  byId("cancel").disabled = false;
  tell("begins", "开始");
  look();
});
byId("cancel").addEventListener("click", () => ask("check/cancel", {}));

/** The check's answer, as long as the text is the one that was checked. @param {(Both & {look: string}) | null} answer */
function showAnswer(answer) {
  const place = byId("answer-of-check");
  place.className = answer ? `verdict ${answer.look}` : "";
  if (answer) sayBoth(place, answer.en, answer.zh);
  else place.replaceChildren();
}

/** @param {string[]} properties */
function showWitnesses(properties) {
  const buttons = properties.map((property) =>
    button(`open the run that breaks ${property}`, `打开破坏 ${property} 的运行`, async () => {
      const answer = await ask("witness", { text: editor.text(), property });
      if (showProblems(answer)) return;
      putText(answer.text);
      run();
    }));
  byId("witnesses").replaceChildren(...buttons);
}

// --- Save.

/** @param {boolean} overwrite */
async function save(overwrite) {
  const answer = await ask("save", { text: editor.text(), name: byId("name").value.trim(), overwrite });
  byId("overwrite").hidden = !answer.exists;
  const saved = byId("saved");
  if (answer.problem) sayBoth(saved, answer.problem.en, answer.problem.zh);
  else if (answer.problems) sayBoth(saved, "not saved: the story has mistakes", "未保存：故事有错误");
  else sayBoth(saved, `saved: ${answer.saved}`, `已保存：${answer.saved}`);
}
byId("save").addEventListener("click", () => save(false));
byId("overwrite").addEventListener("click", () => save(true));
byId("name").addEventListener("input", () => (byId("overwrite").hidden = true));

// --- Histories.

const bytesMax = 15e6;
let history_ = { name: "", text: "" };

/** @param {File} file @returns {Promise<string>} */
function textOf(file) {
  if (!file.name.endsWith(".gz")) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function judge() {
  if (!history_.text) return;
  const judged = byId("judged");
  sayBoth(judged, "is being judged", "正在判定");
  const answer = await ask("history", { ...history_, model: byId("model").value, zh: isChinese() });
  byId("frame").replaceChildren();
  if (answer.problem) {
    sayBoth(judged, `${history_.name}: ${answer.problem.en}`, `${history_.name}：${answer.problem.zh}`);
    return;
  }
  /** @type {Record<string, string[]>} */
  const words = { holds: ["✓ linearizable", "✓ 可线性化"], violated: ["✗ not linearizable", "✗ 不可线性化"] };
  const [en, zh] = words[answer.verdict] ?? ["? unknown: a bound was hit", "? 未知：达到了界限"];
  sayBoth(judged, `${history_.name}: ${en}`, `${history_.name}：${zh}`);
  const address = `history?n=${answer.n}&token=${encodeURIComponent(token)}`;
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "");
  frame.title = history_.name;
  frame.src = address;
  const link = document.createElement("a");
  link.href = address;
  link.target = "_blank";
  link.rel = "noreferrer";
  sayBoth(link, "as a page of its own", "在新页面打开");
  byId("frame").append(frame, link);
}

/** @param {File | undefined | null} file */
async function take(file) {
  if (!file) return;
  if (file.size > bytesMax) {
    sayBoth(byId("judged"), `${file.name}: more than 15 MB; lockstep linearize reads it`, `${file.name}：超过 15 MB；请用 lockstep linearize`);
    return;
  }
  const text = await textOf(file).catch(() => "");
  if (file.name.endsWith(".toml")) {
    putText(text);
    byId("name").value = file.name;
    run();
    return;
  }
  history_ = { name: file.name, text };
  judge();
}
byId("history").addEventListener("change", () => take(byId("history").files?.[0]));
byId("model").addEventListener("change", judge);
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", () => document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  take(event.dataTransfer?.files[0]);
});

run();
