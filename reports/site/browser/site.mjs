// Opens the pages of a report in Debian's chromium, as readers do: node site.mjs FOLDER LONG.html [SCREENSHOTS]
// LONG.html: a page of 2,000 steps.
// Ends with "N passed, N failed".

import { readFileSync, readdirSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FileSystemConfigLoader, HtmlValidate } from "html-validate";

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const folder = resolve(process.argv[2] ?? "report");
const longPage = resolve(process.argv[3]);
const screenshots = process.argv[4] ? resolve(process.argv[4]) : null;
if (screenshots) mkdirSync(screenshots, { recursive: true });

let passed = 0;
const failures = [];

function check(condition, what) {
  if (condition) passed++;
  else {
    failures.push(what);
    console.log(`FAILED ${what}`);
  }
}

function pagesBelow(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".")) return [];
    const inner = join(path, entry.name);
    return entry.isDirectory() ? pagesBelow(inner) : entry.name.endsWith(".html") ? [inner] : [];
  });
}

const pages = pagesBelow(folder).sort();
const nameOf = (path) => relative(folder, path);
const urlOf = (path, hash = "") => pathToFileURL(path).href + hash;
// Of each kind of page a few, or one (LOCKSTEP_PAGES=few), and those that are unlike others.
const samplesOfKind = process.env.LOCKSTEP_PAGES === "few" ? 1 : 4;
const kindOf = (path) => nameOf(path).split("/").slice(0, -1).join("/") || nameOf(path);
const samples = pages.filter((path, i) => {
  const same = pages.filter((other) => kindOf(other) === kindOf(path));
  return same.indexOf(path) % Math.ceil(same.length / samplesOfKind) === 0 || /pause-outlives-lease\.html$/.test(path);
});

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page that notes what goes wrong in it. */
async function opened(path, { hash = "", width = 1280, height = 900, ...rest } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, ...rest });
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) troubles.push(`asks for ${request.url()}`);
  });
  await page.goto(urlOf(path, hash));
  return { page, troubles, close: () => context.close() };
}

async function testEveryPage() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) troubles.push(`asks for ${request.url()}`);
  });
  const links = new Map();
  for (const path of pages) {
    troubles.length = 0;
    await page.goto(urlOf(path));
    check(troubles.length === 0, `${nameOf(path)}: ${troubles.join("; ")}`);
    const found = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      headings: [...document.querySelectorAll("h1,h2,h3,h4")].map((h) => Number(h.tagName[1])),
      links: [...document.querySelectorAll("a[href]")].map((a) => /** @type {HTMLAnchorElement} */ (a).href),
      ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
    }));
    check(found.wide <= 0, `${nameOf(path)}: is ${found.wide}px wider than the window`);
    check(new Set(found.ids).size === found.ids.length, `${nameOf(path)}: an id is there twice`);
    const inOrder = found.headings.every((level, i) => (i === 0 ? level === 1 : level <= found.headings[i - 1] + 1));
    check(inOrder, `${nameOf(path)}: headings out of order: ${found.headings}`);
    links.set(urlOf(path), found);
  }
  for (const [from, { links: targets }] of links) {
    for (const target of new Set(targets)) {
      const [file, hash] = target.split("#");
      if (!file.startsWith("file:")) {
        check(false, `${from}: a link out of the report: ${target}`);
        continue;
      }
      const there = links.get(file);
      check(there && (!hash || hash === "zh" || there.ids.includes(decodeURIComponent(hash))), `${from}: nothing at ${target}`);
    }
  }
  await context.close();
}

async function testAccessibility() {
  for (const path of samples) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await opened(path, { colorScheme, bypassCSP: true });
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
      await page.evaluate(axeSource);
      const result = await page.evaluate(() => /** @type {any} */ (window).axe.run());
      const found = result.violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 160)}`);
      check(found.length === 0, `${nameOf(path)} ${colorScheme}: axe: ${found.join("; ")}`);
      await close();
    }
  }
}

async function testValidity() {
  const validator = new HtmlValidate(
    new FileSystemConfigLoader({
      root: true,
      extends: ["html-validate:standard"],
      // Of style: whitespace, entities and how empty elements are written.
      rules: { "void-style": "off", "no-trailing-whitespace": "off", "long-title": "off", "doctype-style": "off", "require-sri": "off",
        "attribute-boolean-style": "off", "no-inline-style": "error", "prefer-native-element": "off" },
    }),
  );
  for (const path of samples) {
    const report = await validator.validateFile(path);
    const found = report.results.flatMap((r) => r.messages.map((m) => `${m.line}: ${m.ruleId}: ${m.message}`));
    check(report.valid, `${nameOf(path)}: ${found.slice(0, 4).join("; ")}`);
  }
}

async function testStory(path) {
  const name = nameOf(path);
  const { page, troubles, close } = await opened(path);
  const step = () => page.locator("#step").textContent();
  const rows = await page.locator("#steps tbody tr").count();
  check((await step()) === `${rows} / ${rows}`, `${name}: all steps are shown first`);
  await page.keyboard.press("j");
  check((await step()) === `1 / ${rows}`, `${name}: j begins at the first step`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  check((await step()) === `2 / ${rows}`, `${name}: k goes back`);
  check(page.url().endsWith("#s2"), `${name}: the address says the step`);
  check(await page.locator("#panel").isVisible(), `${name}: the panel tells of the step`);
  const hidden = await page.locator("#diagram .future text.row").count();
  check(hidden === rows - 2, `${name}: what comes later is faint (${hidden})`);
  await page.locator("#at").fill(String(rows));
  check((await step()) === `${rows} / ${rows}`, `${name}: the slider goes to the end`);
  await page.locator("#scale").click();
  await page.waitForTimeout(600);
  const scaled = await page.evaluate(() => {
    const times = [...document.querySelectorAll("#diagram .dot")].map((dot) => Math.round(dot.getBoundingClientRect().y + dot.getBoundingClientRect().height / 2));
    return times.every((y, i) => i === 0 || y >= times[i - 1] - 1);
  });
  check(scaled, `${name}: to scale, rows stay in order`);
  if (screenshots) await page.screenshot({ path: join(screenshots, "story-to-scale.png") });
  await page.locator("#scale").click();
  await page.locator("#last").click();
  check(await page.locator("#panel").isHidden(), `${name}: the panel goes`);
  await page.keyboard.press("Home");
  const marked = await page.locator("#code .now").allTextContents();
  check(marked.length > 0 && marked.every((line) => line.includes("co_await")), `${name}: the line of step 1 is marked: ${marked}`);
  const isSeen = await page.evaluate(() => {
    const line = /** @type {HTMLElement} */ (document.querySelector("#code .now"));
    const file = /** @type {HTMLElement} */ (line.closest("pre"));
    return line.offsetTop >= file.scrollTop && line.offsetTop < file.scrollTop + file.clientHeight;
  });
  check(isSeen, `${name}: the marked line is in view`);
  check(/waits at/.test((await page.locator("#panel").textContent()) ?? ""), `${name}: the panel says at which line it waits`);
  await page.locator("#code .at").last().locator("a").first().click();
  // The page hears of the new address after the click.
  await page.waitForFunction(() => [...document.querySelectorAll("#code .at")].at(-1)?.classList.contains("now"), null, { timeout: 5000 }).catch(() => {});
  check((await page.locator("#code .at").last().getAttribute("class"))?.includes("now"), `${name}: a line's link leads to its step`);
  await page.locator("#last").click();
  check((await page.locator("#code .now").count()) === 0, `${name}: no line is marked without a step`);
  await page.locator("#language").click();
  check((await page.locator("html").getAttribute("lang")) === "zh-Hans", `${name}: Chinese`);
  const english = await page.evaluate(() => {
    const isSeen = (element) => element.getClientRects().length > 0;
    return [...document.querySelectorAll('body [lang="en"]')].filter(isSeen).length;
  });
  check(english === 0, `${name}: in Chinese no English is left: ${english}`);
  if (screenshots) await page.screenshot({ path: join(screenshots, "story-zh.png"), fullPage: true });
  await page.locator("#language").click();
  await page.locator("#theme").click();
  check((await page.locator("html").getAttribute("data-theme")) === "dark", `${name}: dark`);
  if (screenshots) await page.screenshot({ path: join(screenshots, "story-dark.png"), fullPage: true });
  check(troubles.length === 0, `${name}: ${troubles.join("; ")}`);
  await close();

  const linked = await opened(path, { hash: "#s3" });
  check((await linked.page.locator("#step").textContent()) === `3 / ${rows}`, `${name}: a link leads to its step`);
  await linked.close();

  const silent = await opened(path, { javaScriptEnabled: false });
  check(await silent.page.locator("#diagram").isVisible(), `${name}: the diagram is there without scripts`);
  check(await silent.page.locator("#controls").isHidden(), `${name}: no buttons without scripts`);
  check(await silent.page.locator("#steps").isVisible(), `${name}: the steps are there without scripts`);
  check((await silent.page.locator("#code .at a").count()) > 0 && (await silent.page.locator("#steps a[href^='#c']").count()) > 0,
    `${name}: steps and lines lead to each other without scripts`);
  await silent.page.goto(urlOf(path, "#zh"));
  check((await silent.page.locator("h1 [lang|=zh]").isVisible()) && (await silent.page.locator("h1 [lang=en]").isHidden()),
    `${name}: Chinese without scripts`);
  await silent.close();

  const printed = await opened(path);
  await printed.page.emulateMedia({ media: "print" });
  check(await printed.page.locator("header.top").isHidden(), `${name}: print has no buttons`);
  await printed.close();
}

/** The map of two lengths: each region shows its run. */
async function testMap(path) {
  const name = nameOf(path);
  const { page, troubles, close } = await opened(path);
  const map = page.locator("svg#map-0");
  const verdict = page.locator("#point-0 output");
  const drawn = () => page.locator("#point-0 svg").innerHTML();
  const regions = await map.locator("polygon").count();
  check(regions > 2, `${name}: a map of ${regions} regions`);
  check((await map.locator("path.frontier").count()) === 1, `${name}: the frontier of all executions is drawn`);
  check(/✗/.test((await verdict.textContent()) ?? ""), `${name}: the first run shown is one that breaks`);
  check((await page.locator("#point-0 svg rect.overlap").count()) > 0, `${name}: with its red band`);
  const broken = await drawn();
  const box = /** @type {{x: number, y: number, width: number, height: number}} */ (await map.boundingBox());
  const at = async (/** @type {number} */ x, /** @type {number} */ y) => {
    const [left, right, top, bottom] = ((await map.getAttribute("data-frame")) ?? "").split(" ").map(Number);
    await map.click({ position: { x: (left + (right - left) * x) * (box.width / 600), y: (bottom - (bottom - top) * y) * (box.height / 410) } });
  };
  await map.scrollIntoViewIfNeeded();
  await at(0.2, 0.2);
  check(/✓/.test((await verdict.textContent()) ?? "") && (await page.locator("#point-0 svg rect.overlap").count()) === 0,
    `${name}: a click at small values shows a run in which nothing breaks: ${await verdict.textContent()}`);
  check((await drawn()) !== broken, `${name}: a click draws another run`);
  check((await map.locator("polygon.chosen").count()) === 1, `${name}: the region is marked`);
  const command = (await page.locator("#point-0 pre code").textContent()) ?? "";
  check(/check .*--given pause=\S+ms --given skew=\S+ms/.test(command), `${name}: a command for the point: ${command}`);
  await at(0.9, 0.8);
  check(/✗ another run breaks/.test((await verdict.textContent()) ?? ""), `${name}: beyond the frontier another run breaks it: ${await verdict.textContent()}`);
  // By keyboard: the sliders, and one region after the other.
  const sliders = page.locator("#point-0 input[type=range]");
  const before = await sliders.first().getAttribute("aria-valuetext");
  await sliders.first().focus();
  await page.keyboard.press("ArrowLeft");
  check((await sliders.first().getAttribute("aria-valuetext")) !== before, `${name}: an arrow key moves the point`);
  const next = page.locator("#point-0 button").last();
  await next.focus();
  const seen = new Set();
  for (let i = 0; i < regions; i++) {
    await page.keyboard.press("Enter");
    seen.add(await page.evaluate(() => [...document.querySelectorAll("#map-0 polygon")].findIndex((p) => p.classList.contains("chosen"))));
  }
  check(seen.size === regions, `${name}: Enter goes through all ${regions} regions: ${seen.size}`);
  if (screenshots) await page.locator("#margin").screenshot({ path: join(screenshots, "map.png") });
  check(troubles.length === 0, `${name}: ${troubles.join("; ")}`);
  await close();
}

/** Frames while somebody holds down j: how many take longer than a sixtieth of a second. */
async function testSpeed(path) {
  const { page, close } = await opened(path);
  const figures = await page.evaluate(async () => {
    const rows = document.querySelectorAll("#steps tbody tr").length;
    const steps = Math.min(rows, 300);
    const work = [];
    for (let i = 0; i < steps; i++) {
      const begin = performance.now();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
      document.body.getBoundingClientRect();
      work.push(performance.now() - begin);
      await new Promise((next) => requestAnimationFrame(next));
    }
    work.sort((a, b) => a - b);
    return { rows, says: document.body.innerText, median: work[work.length >> 1], worst: work[Math.floor(work.length * 0.95)] };
  });
  console.log(`${nameOf(path)}: ${figures.rows} rows, a step takes ${figures.median.toFixed(1)} ms (95 %: ${figures.worst.toFixed(1)} ms)`);
  check(figures.rows === 2000 && /after these are left out/.test(figures.says), `${nameOf(path)}: 2,000 steps, and it says that there are more`);
  await close();
}

async function makeScreenshots() {
  for (const path of samples) {
    for (const width of [1280, 390]) {
      const { page, close } = await opened(path, { width });
      const name = nameOf(path).replaceAll("/", "-").replace(".html", "");
      await page.screenshot({ path: join(screenshots, `${name}-${width}.png`), fullPage: true });
      await close();
    }
  }
}

const story = pages.find((path) => path.endsWith("f003-2-pause-outlives-lease.html")) ?? pages.find((path) => /stories/.test(path));
const withMap = pages.find((path) => path.endsWith("f000-5-pause-and-skew.html"));
const bytes = pages.reduce((sum, path) => sum + statSync(path).size, 0);
console.log(`${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB`);
// As much for each page, so that a new story costs what a page does; and the overviews, which tell of all of them.
const allowed = 2e6 + 95e3 * pages.length;
check(bytes < allowed, `the report has ${(bytes / 1e6).toFixed(1)} MB of the ${(allowed / 1e6).toFixed(1)} that it may have`);
await testEveryPage();
await testStory(story);
if (withMap) await testMap(withMap);
await testSpeed(longPage);
await testAccessibility();
await testValidity();
if (screenshots) await makeScreenshots();
await browser.close();
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
