// <notice-list>: says, for a while and to screen readers, the occasions of a session as they happen.
// Which event is one stands in its `occasions`. A newer notice of an occasion takes the place of the last.

import { kilobytes, share } from "./turns.js";
import { gettext } from "./words.js";

const KINDS = ["turn_ended", "compaction_ended", "compaction_failed", "blocked", "approval_wanted", "run_ended"];
const SHOWN_FOR = 8_000;
const MOST = 3;
const ENDS = {
  answered: gettext("The run ended with an answer."),
  stopped: gettext("The run was stopped."),
  limit: gettext("The run ended at its limit."),
  failed: gettext("The run failed."),
};

// Of each occasion the words, none where another says it, and how it looks.
const WORDS = {
  near_threshold: ({ used, limit }) => [
    gettext("%(share)s full: a compaction is near.", { share: share(used, limit) }),
    "warn",
  ],
  compacted: ({ before, after }) => [
    gettext("Compacted: %(before)s before, %(after)s after.", { before: kilobytes(before), after: kilobytes(after) }),
    "ok",
  ],
  thrash: () => [gettext("Compacting no longer helps: automatic compaction has stopped."), "bad"],
  breaker_open: () => [gettext("Summaries failed too often: for a while none is asked for."), "bad"],
  blocked: () => [gettext("The next request does not fit the window: unpin something or choose a larger one."), "bad"],
  approval_wanted: ({ tool }) => [
    tool
      ? gettext("The run waits for you to allow %(tool)s.", { tool })
      : gettext("The run waits for you to allow a compaction."),
    "warn",
  ],
  run_ended: ({ end }) => [ENDS[end], end === "failed" ? "bad" : "ok"],
};

class NoticeList extends HTMLElement {
  #ending;

  connectedCallback() {
    this.setAttribute("role", "log");
    this.setAttribute("aria-label", gettext("Notices"));
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const hear = ({ detail }) => this.#hear(detail.data);
    for (const kind of KINDS) document.addEventListener(`session:${kind}`, hear, { signal });
  }

  disconnectedCallback() {
    this.#ending.abort();
    this.replaceChildren();
  }

  #hear(facts) {
    for (const occasion of facts.occasions ?? []) {
      const [text, look] = WORDS[occasion](facts);
      if (text) this.#tell(occasion, text, look);
    }
  }

  #tell(occasion, text, look) {
    const last = [...this.children].find((one) => one.dataset.occasion === occasion);
    const focused = last?.contains(document.activeElement);
    last?.remove();
    const note = noteOf(text, look);
    note.dataset.occasion = occasion;
    this.append(note);
    if (focused) note.querySelector("button").focus();
    if (this.children.length > MOST) (this.querySelector(":scope > :not([role=alert])") ?? this.firstChild).remove();
    if (look !== "bad") setTimeout(() => leave(note), SHOWN_FOR);
  }
}

// Not from under a hand.
function leave(note) {
  if (note.matches(":hover, :focus-within")) setTimeout(() => leave(note), SHOWN_FOR);
  else note.remove();
}

function noteOf(text, look) {
  const note = document.createElement("div");
  note.className = `note note--${look}`;
  if (look === "bad") note.setAttribute("role", "alert");
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--link";
  close.textContent = gettext("Close");
  close.addEventListener("click", () => note.remove());
  note.append(words, close);
  return note;
}

customElements.define("notice-list", NoticeList);
