// <overview-stream>: hints that some session has news; the rows themselves come over HTTP.
//
// A hint is passed to its row (id session-<ID>) as the event "news", which does not bubble. When
// there is no such row, after each connection, and a while after any hint, since order, counts and
// the sentence follow from all rows, "wall:stale" is dispatched; it bubbles.

import { LiveSocket } from "./live-socket.js";
import { showConnection } from "./connection.js";

const WHOLE_AFTER = 5000;

class OverviewStream extends HTMLElement {
  #socket;
  #timer;

  connectedCallback() {
    this.#socket = new LiveSocket({
      path: () => "/ws/overview/",
      onFrame: (frame) => frame.session && this.#hear(frame.session),
      onState: (state) => this.#turn(state),
    });
    document.addEventListener("visibilitychange", this.#seen);
    window.addEventListener("online", this.#seen);
    this.#socket.open();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#seen);
    window.removeEventListener("online", this.#seen);
    clearTimeout(this.#timer);
    this.#socket.close();
  }

  #seen = () => {
    if (document.visibilityState === "visible" && this.#socket.isWaiting) this.#socket.open();
  };

  // Hints sent before the connection stood are lost.
  #turn(state) {
    showConnection(state);
    if (state === "live") this.#tellWhole();
  }

  #hear(session) {
    const row = document.getElementById(`session-${session}`);
    if (!row) return this.#tellWhole();
    row.dispatchEvent(new CustomEvent("news"));
    this.#timer ??= setTimeout(() => this.#tellWhole(), WHOLE_AFTER);
  }

  #tellWhole() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.dispatchEvent(new CustomEvent("wall:stale", { bubbles: true }));
  }
}

customElements.define("overview-stream", OverviewStream);
