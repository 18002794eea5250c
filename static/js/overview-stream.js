// <overview-stream>: hints that some session has news; the rows themselves come over HTTP.
//
// Dispatches session:news (bubbling, detail {session, seq}) for each hint and at each connection,
// since hints sent before it are lost.

import { LiveSocket } from "./live-socket.js";
import { showConnection } from "./connection.js";

class OverviewStream extends HTMLElement {
  #socket;

  connectedCallback() {
    this.#socket = new LiveSocket({
      path: () => "/ws/overview/",
      onFrame: (frame) => frame.session && this.#tell(frame),
      onState: (state) => this.#turn(state),
    });
    document.addEventListener("visibilitychange", this.#seen);
    this.#socket.open();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#seen);
    this.#socket.close();
  }

  #seen = () => {
    if (document.visibilityState === "visible" && this.#socket.isWaiting) this.#socket.open();
  };

  #turn(state) {
    showConnection(state);
    if (state === "live") this.#tell({});
  }

  #tell(detail) {
    this.dispatchEvent(new CustomEvent("session:news", { bubbles: true, detail }));
  }
}

customElements.define("overview-stream", OverviewStream);
