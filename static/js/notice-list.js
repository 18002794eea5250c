// <notice-list threshold="0.8">: says, for a while and to screen readers, what happens in a session:
// near the threshold, compacted, blocked, no longer helped by compacting, summaries given up, ended.

import { kilobytes } from "./turns.js";

const NEAR = 0.9; // of the threshold
const SHOWN_FOR = 12_000;
const ENDS = {
  answered: "The run ended with an answer.",
  stopped: "The run was stopped.",
  limit: "The run ended at its limit.",
  failed: "The run failed.",
};

class NoticeList extends HTMLElement {
  #ending;
  #near = false;

  connectedCallback() {
    this.setAttribute("role", "log");
    this.setAttribute("aria-label", "Notices");
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const on = (kind, hear) =>
      document.addEventListener(`session:${kind}`, ({ detail }) => hear(detail.data), { signal });
    on("turn_ended", (facts) => this.#measure(facts));
    on("compaction_ended", (facts) => this.#compacted(facts));
    on("compaction_failed", (facts) => this.#failed(facts));
    on("blocked", () => this.#tell("The next request does not fit the window: unpin something or choose a larger one.", "bad"));
    on("run_ended", ({ end }) => ENDS[end] && this.#tell(ENDS[end], end === "failed" ? "bad" : "ok"));
  }

  disconnectedCallback() {
    this.#ending.abort();
    this.replaceChildren();
  }

  // Once, until it is below again.
  #measure({ used, limit }) {
    const threshold = Number(this.getAttribute("threshold"));
    const near = Boolean(limit && threshold) && used >= NEAR * threshold * limit;
    if (near && !this.#near) this.#tell(`${Math.round((100 * used) / limit)}% full: a compaction is near.`, "warn");
    this.#near = near;
  }

  #compacted({ state, before, after, thrash }) {
    this.#near = false;
    if (state === "applied") this.#tell(`Compacted: ${kilobytes(before)} before, ${kilobytes(after)} after.`, "ok");
    if (thrash) this.#tell("Compacting no longer helps: automatic compaction has stopped.", "bad");
  }

  #failed({ breaker }) {
    if (breaker?.open) this.#tell("Summaries failed too often: for a while none is asked for.", "bad");
  }

  #tell(text, look) {
    const note = document.createElement("div");
    note.className = `note note--${look}`;
    if (look === "bad") note.setAttribute("role", "alert");
    const words = document.createElement("p");
    words.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.className = "button button--link";
    close.textContent = "Close";
    close.addEventListener("click", () => note.remove());
    note.append(words, close);
    this.append(note);
    if (look !== "bad") setTimeout(() => note.remove(), SHOWN_FOR);
  }
}

customElements.define("notice-list", NoticeList);
