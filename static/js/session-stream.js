// <session-stream session="ID" after="SEQ">: the events of one session, each once and in order.
//
// Dispatches (they bubble): session:<kind> for each event, session:news once a frame,
// session:delta for streaming text, session:reload when too much was missed,
// session:state (live, reconnecting, refused).

import { LiveSocket, NOT_SIGNED_IN } from "./live-socket.js";
import { banner, showConnection } from "./connection.js";
import "./title.js";
import { gettext } from "./words.js";

// A short break mends itself before anyone reads about it.
const TRIES_BEFORE_BANNER = 3;

class SessionStream extends HTMLElement {
  #last;
  #socket;

  connectedCallback() {
    this.#last = Number(this.getAttribute("after"));
    this.#socket = new LiveSocket({
      path: () => `/ws/sessions/${this.getAttribute("session")}/?after=${this.#last}`,
      onFrame: (frame) => this.#take(frame),
      onState: (state, detail) => this.#tell(state, detail),
    });
    document.addEventListener("visibilitychange", this.#seen);
    window.addEventListener("online", this.#seen);
    this.#socket.open();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#seen);
    window.removeEventListener("online", this.#seen);
    this.#socket.close();
  }

  // The seq of the last event taken.
  get last() {
    return this.#last;
  }

  #seen = () => {
    if (document.visibilityState !== "visible") return;
    if (this.#socket.isWaiting) this.#socket.open();
    else this.#ask();
  };

  #ask() {
    this.#socket.send({ after: this.#last });
  }

  #take(frame) {
    if (frame.events) this.#replay(frame.events);
    else if (frame.cursor > this.#last) this.#ask();
    else if (frame.delta) this.#dispatch("delta", frame.delta);
    else if (frame.reload) this.#giveUp();
  }

  #replay(events) {
    const fresh = [];
    for (const event of events) {
      if (event.seq <= this.#last) continue;
      if (event.seq > this.#last + 1) {
        this.#socket.open();
        break;
      }
      this.#last = event.seq;
      fresh.push(event);
    }
    for (const event of fresh) this.#dispatch(event.kind, event);
    const kinds = fresh.map((event) => event.kind);
    if (kinds.length) this.#dispatch("news", { last: this.#last, kinds });
  }

  #giveUp() {
    this.#socket.close();
    this.#dispatch("reload", { last: this.#last });
    const text = gettext("More was missed than fits here. Nothing is lost: reload to catch up.");
    this.replaceChildren(banner(text, [gettext("Reload"), () => location.reload()]));
  }

  #tell(state, detail) {
    showConnection(state);
    this.#dispatch("state", { state, ...detail });
    if (state === "live") this.replaceChildren();
    else if (state === "refused") this.replaceChildren(banner(refusal(detail.code)));
    else if (detail.tries >= TRIES_BEFORE_BANNER) this.replaceChildren(this.#lost(detail));
  }

  #lost({ since, wait }) {
    const time = since.toLocaleTimeString(document.documentElement.lang);
    const event = this.#last.toLocaleString("en");
    const lost = gettext("Not live since %(time)s, at event %(event)s.", { time, event });
    const again = gettext("Trying again in %(seconds)s s.", { seconds: Math.ceil(wait / 1000) });
    return banner(`${lost} ${again}`, [gettext("Now"), () => this.#socket.open()]);
  }

  #dispatch(name, detail) {
    this.dispatchEvent(new CustomEvent(`session:${name}`, { bubbles: true, detail }));
  }
}

function refusal(code) {
  return code === NOT_SIGNED_IN
    ? gettext("Not live: you are signed out. Sign in again, then reload this page.")
    : gettext("Not live: this session is not shared with you.");
}

customElements.define("session-stream", SessionStream);
