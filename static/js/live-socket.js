// A websocket that comes back by itself, unless the server says that coming back is no use.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;
// The server sends a cursor every 15 s: silence for this long is a dead line.
const SILENCE = 40_000;

export const NOT_SIGNED_IN = 4401;
export const NOT_YOURS = 4403;

export class LiveSocket {
  #path;
  #onFrame;
  #onState;
  #socket;
  #timer;
  #silence;
  #tries = 0;
  #lostAt;

  // `path()` is asked at every try. `onState(name, detail)` hears "live", "reconnecting"
  // (wait in ms, tries, since) and "refused" (code).
  constructor({ path, onFrame, onState }) {
    this.#path = path;
    this.#onFrame = onFrame;
    this.#onState = onState;
  }

  open() {
    this.close();
    const socket = new WebSocket(this.#address());
    socket.onopen = () => this.#opened();
    socket.onmessage = (message) => this.#received(message.data);
    socket.onclose = (closing) => this.#closed(closing.code);
    this.#socket = socket;
    this.#expectFrame();
  }

  // Ends the connection for good, until open() is called.
  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }

  send(value) {
    if (this.isOpen) this.#socket.send(JSON.stringify(value));
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  get isWaiting() {
    return this.#socket === null && this.#tries > 0;
  }

  #address() {
    const address = new URL(this.#path(), location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    return address;
  }

  #opened() {
    this.#tries = 0;
    this.#lostAt = undefined;
    this.#onState("live", {});
  }

  #received(text) {
    this.#expectFrame();
    this.#onFrame(JSON.parse(text));
  }

  #closed(code) {
    this.close();
    if (code === NOT_SIGNED_IN || code === NOT_YOURS) {
      this.#tries = 0;
      this.#onState("refused", { code });
      return;
    }
    this.#tries += 1;
    this.#lostAt ??= new Date();
    const wait = pause(this.#tries);
    this.#timer = setTimeout(() => this.open(), wait);
    this.#onState("reconnecting", { wait, tries: this.#tries, since: this.#lostAt });
  }

  #expectFrame() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#closed(), SILENCE);
  }
}

// Doubles with each try; the random half keeps a hundred browsers from returning in one instant.
export function pause(tries, random = Math.random()) {
  const longest = Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT);
  return longest / 2 + (longest / 2) * random;
}
