// <text-search>: goes on with a search of whole texts until it is stopped, or has seen all.
//
// Its last row holds a link to the next part: data-part answers more rows and a row to go on from.

import { gettext, ngettext } from "./words.js";

class TextSearch extends HTMLElement {
  #ending;
  #looked = 0;
  #hits = 0;

  connectedCallback() {
    this.#ending = new AbortController();
    this.#run(this.#ending.signal);
  }

  disconnectedCallback() {
    this.#ending.abort();
  }

  async #run(signal) {
    while (this.#count() && !signal.aborted) {
      const part = await this.#fetch(signal);
      if (!part || signal.aborted) break;
      this.#rest.replaceWith(part);
      window.htmx?.process(this);
    }
  }

  get #rest() {
    return this.querySelector("[data-looked]:last-child");
  }

  // Says how far it is; whether there is more.
  #count() {
    const rest = this.#rest;
    if (!rest) return false;
    this.#looked += Number(rest.dataset.looked);
    this.#hits += Number(rest.dataset.hits);
    rest.querySelector("[role=status]").textContent =
      ngettext("%(hits)s found in %(messages)s message.", "%(hits)s found in %(messages)s messages.", this.#looked, {
        hits: this.#hits,
        messages: this.#looked.toLocaleString("en"),
      });
    const more = rest.querySelector("a[data-part]");
    if (more) rest.append(" ", this.#stopper());
    return Boolean(more);
  }

  #stopper() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button--link";
    button.textContent = gettext("Stop");
    button.addEventListener("click", () => {
      this.#ending.abort();
      button.remove();
    });
    return button;
  }

  async #fetch(signal) {
    const path = this.#rest.querySelector("a[data-part]").dataset.part;
    const answer = await fetch(path, { signal, headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer?.ok) return null;
    return document.createRange().createContextualFragment(await answer.text());
  }
}

customElements.define("text-search", TextSearch);
