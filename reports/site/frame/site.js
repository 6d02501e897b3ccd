// What every page can do: languages and colours. All of it works without, in English and in the reader's colours.

/** @param {string} name @returns {string | null} */
function remembered(name) {
  try {
    return localStorage.getItem(`lockstep-${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
function remember(name, value) {
  try {
    localStorage.setItem(`lockstep-${name}`, value);
  } catch {
    // A browser that keeps nothing for files asks anew on each page.
  }
}

/** @returns {boolean} */
export function isChinese() {
  return document.documentElement.classList.contains("zh");
}

/** @param {string} en @param {string} zh @returns {string} */
export function inLanguage(en, zh) {
  return isChinese() && zh ? zh : en;
}

/** @param {boolean} chinese */
function speak(chinese) {
  document.documentElement.classList.toggle("zh", chinese);
  document.documentElement.lang = chinese ? "zh-Hans" : "en";
  document.dispatchEvent(new CustomEvent("language"));
}

function setUpLanguage() {
  const button = document.getElementById("language");
  if (location.hash === "#zh") {
    history.replaceState(null, "", location.pathname + location.search);
    remember("language", "zh");
  }
  speak(remembered("language") === "zh");
  button?.addEventListener("click", (event) => {
    event.preventDefault();
    speak(!isChinese());
    remember("language", isChinese() ? "zh" : "en");
  });
  button?.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
}

function setUpTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const theme = remembered("theme");
  if (theme) root.dataset.theme = theme;
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("theme", root.dataset.theme);
  });
}

function setUpPrint() {
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}

setUpLanguage();
setUpTheme();
setUpPrint();
