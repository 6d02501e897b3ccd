// Plays with a story in Debian's chromium, as readers do: node play.mjs PROGRAM STORY [SCREENSHOTS]
// Ends with "N passed, N failed".

import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const program = resolve(process.argv[2]);
const screenshots = process.argv[4] ? resolve(process.argv[4]) : null;
if (screenshots) mkdirSync(screenshots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "lockstep-play-"));
copyFileSync(resolve(process.argv[3]), join(folder, "story.toml"));

let passed = 0;
const failures = [];

function check(condition, what) {
  if (condition) passed++;
  else {
    failures.push(what);
    console.log(`FAILED ${what}`);
  }
}

/** The program, and the address that it prints. */
function started() {
  const play = spawn(program, ["play", "story.toml"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((give, fail) => {
    let said = "";
    play.stdout.on("data", (bytes) => {
      said += bytes;
      const found = /http:\S+/.exec(said);
      if (found) give({ play, address: found[0] });
    });
    play.on("exit", () => fail(new Error(`lockstep play ended: ${said}`)));
  });
}

const { play, address } = await started();
const { origin, searchParams } = new URL(address);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false });
const page = await context.newPage();
const troubles = [];
page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
page.on("pageerror", (error) => troubles.push(String(error)));
page.on("request", (request) => {
  if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) troubles.push(`asks for ${request.url()}`);
});

const text = () => page.locator("#text").inputValue();
const verdicts = () => page.locator("#told .verdict").allTextContents().then((all) => all.join(" "));
const until = (what, is) => page.waitForFunction(is, undefined, { timeout: 20_000 }).then(() => true, () => {
  check(false, `play: ${what} (waited in vain)`);
  return false;
});
/** What an action leads to in the story's text. */
async function changed(action, what) {
  const before = await text();
  await action();
  await page.waitForFunction((old) => document.getElementById("text").value !== old, before, { timeout: 10_000 }).catch(() => {});
  const after = await text();
  check(after !== before, `play: ${what} changes the story`);
  await page.waitForTimeout(300);
  return after;
}
async function shot(name) {
  if (!screenshots) return;
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 0, `play ${name}: is ${wide}px wider than ${width}px`);
    await page.screenshot({ path: join(screenshots, `play-${name}-${width}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function testClicks() {
  await until("the form is there", () => document.querySelectorAll("#form .figure").length > 0);
  const faults = await page.locator("#faults button").count();
  check(await page.locator("#here").isHidden(), "play: nothing is offered before a click");
  await page.locator("#diagram text.row").first().click();
  await until("faults are offered", () => document.querySelectorAll("#here-faults button").length > 3);
  await shot("fault");
  const after = await changed(() => page.locator("#here-faults button", { hasText: "pause A when it has sent this" }).click(), "a click on the diagram");
  check(/\[\[fault\]\]\s+kind *= *"pause"\s+client *= *"A"/.test(after.replace(/\r/g, "")), "play: a pause of A is in the text");
  const more = page.locator("#faults button").nth(faults);
  check(await more.waitFor({ timeout: 10_000 }).then(() => true, () => false), "play: there is one fault more, and it can be removed");
  check((await page.locator("#diagram rect.pause").count()) > 0, "play: the pause is drawn");
  // The same by keyboard: step there, and choose.
  await page.locator("#stage").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("j");
  check(/At step 2/.test((await page.locator("#here-step").textContent()) ?? "") || (await until("step 2", () => /At step 2/.test(document.getElementById("here-step").textContent ?? ""))),
    "play: j goes to the next step, and what can go wrong there is offered");
  const undone = await changed(() => page.locator("#undo").click(), "Undo");
  check(!undone.includes(after.slice(-40)) || undone.length < after.length, "play: Undo takes the fault back");
}

/** For a diagram that is wider than its half of the window. */
async function testWholeWidth() {
  const stage = () => page.locator("#stage").evaluate((element) => element.clientWidth);
  const half = await stage();
  await page.locator("#whole-width").click();
  check((await stage()) > 1150 && half < 800, "play: without the story's text the diagram has all of the width");
  check(!(await page.locator("#text").isVisible()) && (await page.locator("#check").isVisible()), "play: the text is hidden, Check is not");
  await shot("whole-width");
  await page.locator("#whole-width").click();
  check((await stage()) === half && (await page.locator("#text").isVisible()), "play: the text comes back");
}

/** By keyboard alone: the list's first line has the focus after each choice. */
async function testByHand() {
  const before = await text();
  const events = (/** @type {number} */ count) =>
    page.waitForFunction((n) => new RegExp(`Events so far: ${n};`).test(document.getElementById("hand-state").textContent ?? ""), count, { timeout: 20_000 })
      .then(() => true, () => false);
  await page.locator("#hand-begin").focus();
  await page.keyboard.press("Enter");
  await until("what can be first is listed", () => document.querySelectorAll("#hand-next button").length > 0);
  check((await page.locator("#diagram .future").count()) > 0 && (await page.locator("#promises").isHidden()), "play: what has not happened is not shown");
  for (let i = 1; i <= 4; i++) {
    await page.keyboard.press("Enter");
    check(await events(i), `play: choice ${i} by keyboard`);
  }
  check(/hold the lock/.test((await page.locator("#hand-state").textContent()) ?? ""), "play: it says who believes to hold the lock");
  check((await page.locator("#hand-next li .faint").first().textContent())?.match(/\d/) !== null, "play: it says when it can be");
  await shot("by-hand");
  await page.locator("#hand-back").click();
  check(await events(3), "play: back takes one choice back");
  await page.locator("#hand-run").click();
  check(await page.locator("#promises").isVisible(), "play: let it run shows all of it");
  const kept = await changed(() => page.locator("#hand-keep").click(), "what was chosen by hand");
  check(/\[schedule\]/.test(kept) && (await page.locator("#hand-next button").count()) === 0, "play: it is kept as a schedule, and the list is closed");
  check((await page.locator("#problems button").count()) === 0 && (await page.locator("#told.stale").count()) === 0, "play: what was kept runs");
  await changed(() => page.locator("#undo").click(), "Undo of what was kept");
  check((await text()) === before, "play: Undo brings the old text back");
}

async function testForm() {
  const typed = await changed(async () => {
    const field = page.locator("#form .figure input[type=text]").first();
    await field.fill("80ms");
    await field.press("Enter");
  }, "a figure");
  check(typed.includes('"80ms"'), "play: the figure is in the text");
  const moved = await changed(async () => page.locator("#form .figure input[type=range]:not([hidden])").first().fill("120000000"), "a slider");
  check(moved.includes('"120ms"'), `play: the slider's value is in the text`);
  check((await page.locator("#form .figure input[type=text]").first().inputValue()) === "120ms", "play: the slider's value is in its field");
}

async function testMistakes() {
  const good = await text();
  const lines = good.split("\n");
  const line = lines.findIndex((one) => one.startsWith("algorithm"));
  lines[line] = 'algorithm = "setnx-dell"';
  await page.locator("#text").fill(lines.join("\n"));
  await until("a mistake is told", () => document.querySelectorAll("#problems button").length > 0);
  const said = (await page.locator("#problems button").first().textContent()) ?? "";
  check(said.includes(`line ${line + 1}`) && said.includes("setnx-del"), `play: the mistake is told at its line: ${said}`);
  check((await page.locator("#numbers .bad-line").textContent())?.includes(String(line + 1)), "play: the line is marked");
  check(await page.locator("#told.stale").isVisible(), "play: the last good run stays, pale");
  check((await page.locator("#text").getAttribute("aria-invalid")) === "true", "play: the text is said to be wrong");
  await page.locator("#problems button").first().click();
  const selected = await page.evaluate(() => {
    const area = /** @type {HTMLTextAreaElement} */ (document.getElementById("text"));
    return area.value.slice(0, area.selectionStart).split("\n").length;
  });
  check(selected === line + 1, `play: the message leads to line ${line + 1}: ${selected}`);
  await shot("mistake");
  await page.locator("#text").fill(good);
  await until("it is good again", () => document.querySelectorAll("#problems button").length === 0 && !document.querySelector("#told.stale"));
}

async function testOtherLock() {
  const before = await verdicts();
  const after = await changed(() => page.locator("#algorithm").selectOption("set-nx-px-lua"), "another algorithm");
  check(after.includes('algorithm = "set-nx-px-lua"'), "play: the other algorithm is in the text");
  await until("the other lock's code", () => /set_nx_px_lua\.cpp/.test(document.getElementById("told").textContent ?? ""));
  check((await verdicts()) !== before, "play: the other lock has another verdict");
}

const longStory = `title = "Long"
[lock]
algorithm = "redlock-par"
[[server]]
[[server]]
[[server]]
[network]
latency = ["1ms", "20ms"]
timeout = "50ms"
[[client]]
name = ["A", "B", "C", "D"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 3
[[may]]
kind = "pause"
length = ["0ms", "1s"]
times = 3
[[may]]
kind = "lose"
times = 3
`;
const shortStory = `title = "Short"
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 1
[[may]]
kind = "pause"
length = ["0ms", "10s"]
`;

async function testCheck() {
  await page.locator("#text").fill(longStory);
  await page.waitForTimeout(600);
  await page.locator("#check").click();
  await until("a check tells how far it is", () => /[1-9]\d* traces/.test(document.getElementById("progress").textContent ?? ""));
  check(await page.locator("#check").isDisabled(), "play: one check at a time");
  await page.locator("#cancel").click();
  await until("a check can be cancelled", () => /** @type {HTMLButtonElement} */ (document.getElementById("cancel")).disabled);
  check(await page.locator("#check").isEnabled(), "play: after a cancelled check there may be another");

  await page.locator("#text").fill(shortStory);
  await page.waitForTimeout(600);
  await page.locator("#check").click();
  await until("a check ends", () => /see the promises/.test(document.getElementById("progress").textContent ?? ""));
  await until("the answer stands beside the button", () => /Breaks once a client is paused for more than 71ms/.test(document.getElementById("answer-of-check").textContent ?? ""));
  await until("the margin is told", () => /above 71ms/.test(document.getElementById("promises")?.textContent ?? ""));
  await shot("checked");
  const witness = page.locator("#witnesses button", { hasText: "mutual-exclusion" });
  check((await witness.count()) === 1, "play: a button for the run that breaks it");
  const opened = await changed(() => witness.click(), "a witness");
  check(opened.includes("[schedule]"), "play: the witness is a story with the time of each event");
  await until("the witness is run", () => /mutual-exclusion\s+violated/.test(document.querySelector("#told .verdict")?.textContent ?? ""));
  check((await page.locator("#diagram rect.overlap").count()) > 0, "play: the witness shows the red band");
  await shot("witness");
}

async function testSave() {
  await page.locator("#name").fill("mine.toml");
  await page.locator("#save").click();
  await until("a story is saved", () => /mine\.toml/.test(document.getElementById("saved").textContent ?? ""));
  const file = join(folder, "mine.toml");
  check(existsSync(file) && readFileSync(file, "utf8") === (await text()), "play: the file has the text");
  await page.locator("#text").fill(shortStory);
  await page.locator("#save").click();
  await until("a file that is there is not overwritten without a word", () => !document.getElementById("overwrite").hidden);
  check(readFileSync(file, "utf8") !== shortStory, "play: it is as it was");
  await page.locator("#overwrite").click();
  await until("it is overwritten when asked", () => document.getElementById("overwrite").hidden);
  await page.waitForTimeout(300);
  check(readFileSync(file, "utf8") === shortStory, "play: now it has the new text");
  await page.locator("#name").fill("../outside.toml");
  await page.locator("#save").click();
  await page.waitForTimeout(500);
  // The browser notes what it was refused.
  check(troubles.length === 1 && /400/.test(troubles.pop() ?? ""), `play: a name that leads elsewhere is refused: ${troubles}`);
  check(!existsSync(join(folder, "..", "outside.toml")), "play: nothing is saved outside of its folder");
}

const history = `{:process 0, :type :invoke, :f :acquire, :value nil}
{:process 0, :type :ok, :f :acquire, :value nil}
{:process 1, :type :invoke, :f :acquire, :value nil}
{:process 1, :type :ok, :f :acquire, :value nil}
{:process 0, :type :invoke, :f :release, :value nil}
{:process 0, :type :ok, :f :release, :value nil}
`;

async function testHistory() {
  const drop = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], "history.edn", { type: "text/plain" }));
    return data;
  }, history);
  await page.dispatchEvent("body", "dragover", { dataTransfer: drop });
  await page.dispatchEvent("body", "drop", { dataTransfer: drop });
  await until("a history is taken", () => /history\.edn/.test(document.getElementById("judged").textContent ?? ""));
  if (!/linearizable/.test((await page.locator("#judged").textContent()) ?? "")) await page.locator("#model").selectOption("mutex");
  await until("a history is judged", () => /not linearizable/.test(document.getElementById("judged").textContent ?? ""));
  check((await page.locator("#frame iframe").getAttribute("sandbox")) === "", "play: its page is in a sandbox");
  const frame = page.frameLocator("#frame iframe");
  check(/acquire/.test((await frame.locator("body").textContent()) ?? ""), "play: its page shows the operations");
  await shot("history");
  const [own] = await Promise.all([context.waitForEvent("page"), page.locator("#frame a").click()]);
  await own.waitForLoadState();
  check((await own.locator("svg").count()) > 0, "play: the history is a page of its own, too");
  await own.close();
}

/** A page of another origin, in the same browser. */
async function testOtherOrigins() {
  const server = createServer((_, response) => response.end("<!DOCTYPE html><title>elsewhere</title>"));
  await new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(undefined)));
  const port = /** @type {any} */ (server.address()).port;
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${port}/`);
  const body = JSON.stringify({ text: shortStory, name: "stolen.toml", overwrite: true });
  const answers = await other.evaluate(async ([where, token, content]) => {
    const results = [];
    for (const init of [
      { method: "POST", body: content, headers: { "X-Lockstep-Token": token, "Content-Type": "application/json" } },
      { method: "POST", body: content, mode: "no-cors" },
    ]) {
      results.push(await fetch(`${where}/save?token=${token}`, /** @type {RequestInit} */ (init)).then((r) => `${r.type} ${r.status}`, () => "refused"));
    }
    return results;
  }, [origin, searchParams.get("token") ?? "", body]);
  check(answers[0] === "refused", `play: another origin with the token gets ${answers[0]}`);
  check(answers[1] === "opaque 0" || answers[1] === "refused", `play: another origin reads nothing: ${answers[1]}`);
  await other.waitForTimeout(300);
  check(!existsSync(join(folder, "stolen.toml")), "play: another origin has written nothing");
  await other.close();
  server.close();
  for (const [headers, what] of /** @type {[Record<string, string>, string][]} */ ([
    [{ "X-Lockstep-Token": "0".repeat(32) }, "a wrong token"],
    [{}, "no token"],
    [{ "X-Lockstep-Token": searchParams.get("token") ?? "", Origin: "http://evil.example" }, "another origin"],
  ])) {
    const answer = await fetch(`${origin}/run`, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify({ text: shortStory }) });
    check(answer.status === 403, `play: ${what} gets ${answer.status}`);
  }
}

async function testLooks() {
  await page.locator("#theme").click();
  check((await page.locator("html").getAttribute("data-theme")) === "dark", "play: dark");
  await shot("dark");
  await page.locator("#language").click();
  check((await page.locator("html").getAttribute("lang")) === "zh-Hans", "play: Chinese");
  const english = await page.evaluate(() => [...document.querySelectorAll('body [lang="en"]')].filter((e) => e.getClientRects().length > 0).length);
  check(english === 0, `play: in Chinese no English is left: ${english}`);
  await shot("zh");
  await page.locator("#language").click();
  await page.locator("#theme").click();
  await page.emulateMedia({ media: "print" });
  check((await page.locator(".play-left").isHidden()) && (await page.locator("#told").isVisible()), "play: print has the story's page alone");
  await page.emulateMedia({ media: null });
}

async function testAccessibility() {
  for (const colorScheme of /** @type {("light" | "dark")[]} */ (["light", "dark"])) {
    const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme, bypassCSP: true });
    const fresh = await own.newPage();
    await fresh.goto(address);
    await fresh.waitForSelector("#form .figure");
    await fresh.keyboard.press("j");
    await fresh.waitForSelector("#here-faults button");
    await fresh.evaluate(axeSource);
    const result = await fresh.evaluate(() => /** @type {any} */ (window).axe.run());
    const found = result.violations.map((/** @type {any} */ v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 160)}`);
    check(found.length === 0, `play ${colorScheme}: axe: ${found.join("; ")}`);
    await own.close();
  }
}

try {
  await page.goto(address);
  for (const test of [testClicks, testWholeWidth, testByHand, testForm, testMistakes, testOtherLock, testCheck, testSave, testHistory, testOtherOrigins, testLooks, testAccessibility]) {
    try {
      await test();
    } catch (error) {
      check(false, `${test.name}: ${error}`);
    }
  }
  check(troubles.length === 0, `play: ${troubles.join("; ")}`);
} finally {
  await browser.close();
  play.removeAllListeners("exit");
  play.kill("SIGINT");
  rmSync(folder, { recursive: true, force: true });
}
console.log(`play: ${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
