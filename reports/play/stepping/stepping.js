// "Event by event": what has been chosen so far, and what can be next.
import { byId, sayBoth } from "../editor.js";

/**
 * @typedef {{en: string, zh: string}} Both
 * @typedef {{ask: (place: number) => Promise<any>, showRun: (answer: any, step: number | null) => void,
 *   showProblems: (answer: any) => boolean, button: (en: string, zh: string, action: () => void) => HTMLElement,
 *   keep: (text: string) => void, leave: () => void}} Page
 */

/** What stands above the list. @param {any} here @returns {Both} */
function stateOf(here) {
  const so = here.events === 0 ? { en: "Nothing has happened yet.", zh: "还什么都没有发生。" }
    : { en: `Events so far: ${here.events}; now it is ${here.at}.`, zh: `已发生 ${here.events} 个事件；现在是 ${here.at}。` };
  const who = here.holders.join(", ");
  if (here.overlap) {
    so.en += ` !! More hold the lock than may: ${who}.`;
    so.zh += ` !! 持有者多于名额：${who}。`;
  } else {
    so.en += who ? ` Believes to hold the lock: ${who}.` : " Nobody believes to hold the lock.";
    so.zh += who ? ` 认为自己持有锁：${who}。` : " 没有人认为自己持有锁。";
  }
  if (here.options.length === 0) {
    so.en += " All has happened.";
    so.zh += " 一切都已发生。";
  } else if (here.over) {
    so.en += " The story may end here.";
    so.zh += " 故事可以在此结束。";
  }
  if (!here.all) {
    so.en += " More may be possible: the search for it was given up.";
    so.zh += " 也许还有别的可能：搜索已放弃。";
  }
  if (here.leaves_out && here.events === 0) {
    so.en += " The story's [[fault]], [pin] and [schedule] count for nothing here: what goes wrong is chosen, of what [[may]] allows.";
    so.zh += " 故事的 [[fault]]、[pin] 和 [schedule] 在此不起作用：出什么错由你在 [[may]] 允许的范围内选择。";
  }
  return so;
}

/** @param {Page} page */
export function setUpStepping(page) {
  /** The places on the way, the present one last; none: nothing is being chosen. @type {number[]} */
  let way = [];
  let asked = 0;
  /** @type {any} */
  let here = null;

  /** @param {boolean} isOn */
  function showButtons(isOn) {
    byId("hand-begin").hidden = isOn;
    for (const id of ["hand-back", "hand-run", "hand-keep", "hand-end"]) byId(id).hidden = !isOn;
    byId("hand-back").disabled = way.length < 2;
    byId("hand-run").setAttribute("aria-pressed", "false");
    byId("told").classList.toggle("so-far", isOn);
    byId("hint").hidden = isOn;
  }

  function end() {
    if (way.length === 0) return;
    way = [];
    here = null;
    asked++;
    showButtons(false);
    byId("hand-state").replaceChildren();
    byId("hand-next").replaceChildren();
  }

  /** @param {number[]} next */
  async function go(next) {
    const number = ++asked;
    const answer = await page.ask(next[next.length - 1]);
    if (number !== asked || page.showProblems(answer)) return;
    way = next;
    here = answer;
    byId("here").hidden = true;
    page.showRun(here, here.rows);
    showButtons(true);
    const state = stateOf(here);
    sayBoth(byId("hand-state"), state.en, state.zh);
    byId("hand-state").classList.toggle("bad", here.overlap);
    const items = here.options.map((/** @type {{place: number, what: Both, when: Both}} */ option) => {
      const item = document.createElement("li");
      const when = document.createElement("span");
      when.className = "faint";
      sayBoth(when, option.when.en, option.when.zh);
      item.append(page.button(option.what.en, option.what.zh, () => go([...way, option.place])), " ", when);
      return item;
    });
    byId("hand-next").replaceChildren(...items);
    // Who goes along by keyboard is not sent back to the page's beginning.
    const first = byId("hand-next").querySelector("button") ?? byId("hand-back");
    first.focus({ preventScroll: true });
  }

  byId("hand-begin").addEventListener("click", () => go([0]));
  byId("hand-back").addEventListener("click", () => go(way.slice(0, -1)));
  byId("hand-run").addEventListener("click", () => {
    const isAll = byId("hand-run").getAttribute("aria-pressed") !== "true";
    page.showRun(here, isAll ? null : here.rows);
    byId("told").classList.toggle("so-far", !isAll);
    byId("hand-run").setAttribute("aria-pressed", String(isAll));
  });
  byId("hand-keep").addEventListener("click", () => page.keep(here.text));
  byId("hand-end").addEventListener("click", () => {
    end();
    page.leave();
  });

  return { end, isOn: () => way.length > 0 };
}
