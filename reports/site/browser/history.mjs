// Opens the pages of a history of a million operations, and of one with several keys: node history.mjs PROGRAM [SCREENSHOTS]
// Ends with "N passed, N failed".

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const program = resolve(process.argv[2]);
const screenshots = process.argv[3] ? resolve(process.argv[3]) : null;
if (screenshots) mkdirSync(screenshots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "lockstep-history-"));
const operations = 1_000_000;
const stolenAt = 700_001; // by the operation of this number: an acquire while another holds the lock
const secondsMax = 120;

let passed = 0;
const failures = [];

function check(condition, what) {
  if (condition) passed++;
  else {
    failures.push(what);
    console.log(`FAILED ${what}`);
  }
}

/** Eight clients in turn: each begins to ask before the one before it gives the lock back, and gets it afterwards. */
function writeHistory(path) {
  const file = openSync(path, "w");
  let time = 0;
  let lines = [];
  const say = (process, type, f) => {
    lines.push(`{:process ${process}, :type :${type}, :f :${f}, :value nil, :time ${(time += 1000)}}`);
    if (lines.length === 50_000) {
      writeSync(file, lines.join("\n") + "\n");
      lines = [];
    }
  };
  say(0, "invoke", "acquire");
  say(0, "ok", "acquire");
  for (let i = 1; i < operations; i += 2) {
    const [holder, next] = [((i - 1) / 2) % 8, ((i + 1) / 2) % 8];
    if (i === stolenAt) {
      say(next, "invoke", "acquire");
      say(next, "ok", "acquire");
      say(holder, "invoke", "release");
      say(holder, "ok", "release");
      continue;
    }
    say(next, "invoke", "acquire");
    say(holder, "invoke", "release");
    say(holder, "ok", "release");
    say(next, "ok", "acquire");
  }
  if (lines.length) writeSync(file, lines.join("\n") + "\n");
  closeSync(file);
}

const begin = performance.now();
const history = join(folder, "history.edn");
const html = join(folder, "history.html");
writeHistory(history);
const judged = performance.now();
const ran = spawnSync(program, ["linearize", history, "--model", "mutex", "--html", html], { encoding: "utf8", timeout: secondsMax * 1000 });
const seconds = (performance.now() - judged) / 1000;
check(ran.status === 1, `history: linearize ends with ${ran.status}: ${ran.stderr}`);
check(seconds < secondsMax, `history: judging takes ${seconds.toFixed(1)} s`);
const bytes = statSync(html, { throwIfNoEntry: false })?.size ?? 0;
check(bytes > 0 && bytes < 5e6, `history: the page has ${bytes} bytes`);

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const width of [1280, 390]) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const troubles = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(String(error)));
  const opened = performance.now();
  await page.goto(pathToFileURL(html).href);
  const toOpen = (performance.now() - opened) / 1000;
  check(toOpen < 10, `history: the page opens in ${toOpen.toFixed(1)} s`);
  const text = (await page.locator("body").innerText()).replace(/\s+/g, " ");
  check(/not linearizable/i.test(text), "history: the page says that it is not linearizable");
  check(text.includes(`${operations + 1} operations`), "history: the page says how many operations there are");
  // The violation is there to be seen, and at the place at which it was planted.
  const found = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    elements: document.querySelectorAll("*").length,
    drawn: document.querySelectorAll("svg rect, svg line").length,
  }));
  check(found.wide <= 0, `history: is ${found.wide}px wider than ${width}px`);
  check(found.drawn > 5, `history: ${found.drawn} shapes are drawn`);
  check(found.elements < 20_000, `history: ${found.elements} elements`);
  // Usable: frames while somebody scrolls through it.
  const frames = await page.evaluate(async () => {
    const work = [];
    for (let i = 0; i < 60; i++) {
      const from = performance.now();
      scrollTo(0, (document.documentElement.scrollHeight * i) / 60);
      document.body.getBoundingClientRect();
      work.push(performance.now() - from);
      await new Promise((next) => requestAnimationFrame(next));
    }
    return work.sort((a, b) => a - b)[30];
  });
  check(frames < 16, `history: a frame takes ${frames.toFixed(1)} ms`);
  check(troubles.length === 0, `history: ${troubles.join("; ")}`);
  if (width === 1280) console.log(`history: ${operations} operations judged in ${seconds.toFixed(1)} s, a page of ${bytes} bytes opens in ${toOpen.toFixed(2)} s`);
  if (screenshots) await page.screenshot({ path: join(screenshots, `history-${width}.png`), fullPage: true });
  await page.close();
}

// Several keys on one page. An operation of a conflict that is pointed at, or reached with Tab, marks all of its conflict.
const keys = join(folder, "keys.csv");
const keysHtml = join(folder, "keys.html");
writeFileSync(keys, "client,op,start,end,key\na,lock,1,2,x\nb,lock,3,4,x\nc,unlock,5,6,x\na,lock,7,8,y\n");
spawnSync(program, ["linearize", keys, "--model", "mutex", "--html", keysHtml]);
for (const width of [1280, 390]) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(pathToFileURL(keysHtml).href);
  const marked = () => page.evaluate(() => [...document.querySelectorAll("g.clash .box")].map((box) => getComputedStyle(box).strokeWidth).join());
  check((await page.locator("summary").allInnerTexts()).map((text) => text[0]).join() === "x,y", "keys: x, which fails, stands before y");
  check((await marked()) === "2px,2.5px", "keys: nothing is marked at first");
  if (width === 1280) await page.locator("g.clash").first().hover();
  else await page.locator("li.clash").last().focus();
  await page.waitForTimeout(300);
  check((await marked()) === "4px,4px", "keys: both operations of the conflict are marked");
  check(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `keys: fits ${width}px`);
  if (screenshots) await page.screenshot({ path: join(screenshots, `keys-${width}.png`), fullPage: true });
  await page.close();
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`history: ${passed} passed, ${failures.length} failed, ${((performance.now() - begin) / 1000).toFixed(0)} s`);
process.exit(failures.length ? 1 : 0);
