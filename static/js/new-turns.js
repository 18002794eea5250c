// <new-turns>: while the viewer looks back, counts the turns that end and leads to the newest.
//
// One looks back with a turn chosen in <turn-strip>, or inside #messages with its end not in view.
// The list then stays as it is: what is said is told to it as messages:said (on document) at once
// while its end is followed, else when one is back. #messages follows where it has data-follows;
// its [data-newest] link leads to the page that does.

import { ngettext } from "./words.js";

// Pixels that the end may lie below the window and still be seen.
const SLACK = 48;

class NewTurns extends HTMLElement {
  #count = 0;
  #held = false;
  #atEnd = false;
  #going = false;
  #ending;
  #button = document.createElement("button");
  #said = document.createElement("span");

  connectedCallback() {
    this.#ending = new AbortController();
    this.#furnish();
    const { signal } = this.#ending;
    const on = (name, hear) => document.addEventListener(name, hear, { signal, passive: true });
    on("session:message_added", () => this.#spoken());
    on("session:turn_ended", () => this.#ended());
    on("turn:shown", () => this.#look());
    on("scroll", () => this.#look());
    on("htmx:before:swap", () => (this.#atEnd = isInside(panel()) && !isListBack()));
    on("htmx:after:swap", () => this.#stay());
    this.addEventListener("key", () => this.#jump(), { signal });
    this.#button.addEventListener("click", () => this.#jump(), { signal });
  }

  disconnectedCallback() {
    this.#ending.abort();
    this.replaceChildren();
  }

  #furnish() {
    this.#button.type = "button";
    this.#button.className = "button new-turns__button";
    this.#button.hidden = true;
    this.#said.className = "visually-hidden";
    this.#said.setAttribute("role", "status");
    this.replaceChildren(this.#button, this.#said);
  }

  #spoken() {
    if (isListBack()) this.#held = true;
    else this.#tellList();
  }

  #ended() {
    if (!isListBack() && !isStripBack()) return;
    this.#count += 1;
    this.#show();
  }

  // Whether one is back at the newest.
  #look() {
    if (!this.#count && !this.#held) return;
    if (this.#held && !isListBack()) this.#tellList();
    if (this.#count && !isListBack() && !isStripBack()) this.#clear();
  }

  #tellList() {
    this.#held = false;
    document.dispatchEvent(new CustomEvent("messages:said"));
  }

  // The end of the list stays in view where it was, and comes into view where one goes to it.
  #stay() {
    const arrived = this.#going && panel()?.hasAttribute("data-follows");
    if (arrived || this.#atEnd) showEnd();
    if (arrived) this.#going = false;
    this.#look();
  }

  #jump() {
    const wasBack = isListBack();
    this.#clear();
    document.querySelector("turn-strip")?.dispatchEvent(new CustomEvent("key", { detail: "f" }));
    if (!wasBack) return;
    this.#going = true;
    if (panel().hasAttribute("data-follows")) this.#tellList();
    else panel().querySelector("[data-newest]").click();
    showEnd();
  }

  #clear() {
    this.#count = 0;
    this.#show();
  }

  // Said once, not with each turn.
  #show() {
    const text = ngettext("%(count)s new turn", "%(count)s new turns", this.#count);
    if (this.#button.hidden && this.#count) this.#said.textContent = text;
    if (!this.#count) this.#said.textContent = "";
    this.#button.textContent = text;
    this.#button.hidden = !this.#count;
  }
}

function panel() {
  return document.getElementById("messages");
}

function isStripBack() {
  return document.querySelector("turn-strip")?.following === false;
}

function isListBack() {
  const list = panel();
  if (!isInside(list)) return false;
  return !list.hasAttribute("data-follows") || list.getBoundingClientRect().bottom > floor() + SLACK;
}

// Whether one reads in the list: it takes the window's upper part.
function isInside(list) {
  const box = list?.getBoundingClientRect();
  return Boolean(box) && box.top < innerHeight / 3 && box.bottom > 0;
}

// Where the dock begins.
function floor() {
  return document.querySelector(".dock")?.getBoundingClientRect().top || innerHeight;
}

function showEnd() {
  scrollBy(0, panel().getBoundingClientRect().bottom - floor() + SLACK / 4);
}

customElements.define("new-turns", NewTurns);
