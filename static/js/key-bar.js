// <key-bar>: the keys valid on this page, read from the elements that carry them.
//
//   data-key="k"              the key clicks the element, or focuses it when it is a field;
//                             inside [data-row] it belongs to the row that has the focus
//   data-keys="c C"           the element hears a "key" event whose detail is the key
//   data-key-label="compact"  what the bar calls it; without it the element's own words
//   data-to-rows              once what the element asked for came, the first row gets the focus
//   data-row                  ↑ and ↓ move the focus between the links of such rows
//
// Single keys do nothing while a field has the focus; Ctrl+Enter and Escape do.

import { gettext } from "./words.js";

const SIGNS = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", "Ctrl+Enter": "ctrl ↵",
};
const FIELDS = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";
const SWITCH = "single-keys";

class KeyBar extends HTMLElement {
  #pop;
  #asked;

  connectedCallback() {
    this.#pop = dialog();
    this.#pop.addEventListener("beforetoggle", () => this.#explain());
    this.append(document.createElement("ul"), this.#pop);
    this.firstChild.className = "keys";
    this.firstChild.setAttribute("aria-label", gettext("Keys valid here"));
    this.#list();
    document.addEventListener("keydown", this.#press);
    document.addEventListener("htmx:after:swap", this.#listSoon);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#press);
    document.removeEventListener("htmx:after:swap", this.#listSoon);
    cancelAnimationFrame(this.#asked);
    this.replaceChildren();
  }

  // Once what came is on the screen: to ask what can be seen would lay the page out before that.
  #listSoon = () => {
    cancelAnimationFrame(this.#asked);
    this.#asked = requestAnimationFrame(() => setTimeout(() => this.isConnected && this.#list()));
  };

  #list() {
    const all = item(["?"], gettext("all keys"));
    all.replaceChildren(opener(this.#pop, all.childNodes));
    this.firstChild.replaceChildren(...valid().map(({ keys, label }) => item(keys, label)), all);
  }

  #explain() {
    const rows = valid().flatMap(({ keys, label }) => [
      element("dt", ...keys.map(cap)),
      element("dd", label),
    ]);
    this.#pop.querySelector("dl").replaceChildren(...rows);
  }

  #press = (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const key = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
    if (event.target.closest?.(FIELDS)) {
      if (key === "Escape") event.target.blur();
      if (key !== "Ctrl+Enter") return;
    } else if (document.querySelector(":popover-open") || (key.length === 1 && !singleKeysOn())) {
      return;
    }
    if (key === "?") this.#pop.showPopover();
    else if (!run(key)) return;
    event.preventDefault();
  };
}

function run(key) {
  if (key === "ArrowUp" || key === "ArrowDown") return step(key === "ArrowUp" ? -1 : 1);
  const carrier = carrierOf(key);
  if (!carrier) return false;
  if (carrier.dataset.keys) carrier.dispatchEvent(new CustomEvent("key", { detail: key }));
  else if (carrier.matches(FIELDS)) carrier.focus();
  else click(carrier);
  return true;
}

function click(carrier) {
  if ("toRows" in carrier.dataset) {
    carrier.addEventListener("htmx:after:swap", () => links()[0]?.focus({ preventScroll: true }), { once: true });
  }
  carrier.click();
}

function carrierOf(key) {
  const name = CSS.escape(key);
  const all = document.querySelectorAll(`[data-key="${name}"], [data-keys~="${name}"]`);
  const found = [...all].filter(usable);
  const row = document.activeElement?.closest("[data-row]");
  const own = found.find((carrier) => row?.contains(carrier));
  return own ?? found.find((carrier) => !carrier.closest("[data-row]"));
}

function step(by) {
  const all = links();
  if (!all.length) return false;
  const row = document.activeElement?.closest("[data-row]");
  const now = row ? all.indexOf(row.querySelector("a")) : by < 0 ? all.length : -1;
  all[Math.min(Math.max(now + by, 0), all.length - 1)].focus();
  return true;
}

function links() {
  return [...document.querySelectorAll("[data-row]")].filter(usable).map((row) => row.querySelector("a"));
}

// One entry a key, in the order of the page.
function valid() {
  const entries = new Map();
  if (document.querySelector("[data-row]")) entries.set("rows", { keys: ["ArrowUp", "ArrowDown"], label: gettext("row") });
  for (const carrier of document.querySelectorAll("[data-key], [data-keys]")) {
    if (entries.has(carrier.dataset.key) || !usable(carrier)) continue;
    for (const entry of entriesOf(carrier)) {
      if (!entries.has(entry.keys[0])) entries.set(entry.keys[0], entry);
    }
  }
  return [...entries.values()];
}

// data-keys="ArrowLeft ArrowRight c C" data-key-label="turn, compaction": two keys a word.
function entriesOf(carrier) {
  if (!carrier.dataset.keys) return [{ keys: [carrier.dataset.key], label: words(carrier) }];
  const keys = carrier.dataset.keys.split(" ");
  const labels = carrier.dataset.keyLabel.split(", ");
  return labels.map((label, place) => ({ keys: keys.slice(2 * place, 2 * place + 2), label }));
}

function words(carrier) {
  const own = carrier.dataset.keyLabel ?? carrier.getAttribute("aria-label");
  if (own) return own;
  const copy = carrier.cloneNode(true);
  for (const part of copy.querySelectorAll("kbd, svg")) part.remove();
  return copy.textContent.trim();
}

function usable(carrier) {
  return !carrier.disabled && carrier.getClientRects().length > 0;
}

function singleKeysOn() {
  return localStorage.getItem(SWITCH) !== "off";
}

function dialog() {
  const pop = element("div", element("h2", gettext("Keys")), element("dl"), toggle());
  pop.id = "keys";
  pop.className = "pop";
  pop.setAttribute("popover", "");
  return pop;
}

function toggle() {
  const box = element("input");
  box.type = "checkbox";
  box.checked = singleKeysOn();
  box.addEventListener("change", () => localStorage.setItem(SWITCH, box.checked ? "on" : "off"));
  const label = element("label", box, gettext("Single keys work"));
  label.className = "switch";
  return label;
}

function opener(pop, parts) {
  const button = element("button", ...parts);
  button.type = "button";
  button.className = "button button--link";
  button.popoverTargetElement = pop;
  return button;
}

function item(keys, label) {
  return element("li", ...keys.map(cap), label);
}

function cap(key) {
  return element("kbd", SIGNS[key] ?? key);
}

function element(name, ...parts) {
  const made = document.createElement(name);
  made.append(...parts);
  return made;
}

customElements.define("key-bar", KeyBar);
