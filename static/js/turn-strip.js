// <turn-strip data="ID" unit="bytes" threshold="0.8" name="snip">: the context by turn, live.
//
// `data` is the id of a json_script that holds rows as columns (turns.js says what a row is);
// `threshold` is the fraction of the limit at which the next compaction starts, `name` its stage.
// Hears session:turn_ended and session:compaction_ended; hears "key" from the key bar
// (ArrowLeft ArrowRight Home End c C f) and turn:selected {turn} from the chart. Tells turn:shown
// (bubbling) when the cursor was moved.

import { asked, note } from "./address.js";
import { onThemeChange, palette } from "./palette.js";
import { binned, ceiling, kilobytes, quantity, rowOf, share, stack, unpacked, withRow } from "./turns.js";
import { gettext, ngettext } from "./words.js";

const HEAD = 22; // room above the bars for the words on the limit and the cuts
const GAP = 9; // of a compaction
const NARROWEST = 2; // pixels of a column, before neighbours are drawn as one
const WIDEST = 40;
const FONT = "14px system-ui, sans-serif";

class TurnStrip extends HTMLElement {
  #rows;
  #current;
  #following = true;
  #compacted = false;
  #colours;
  #columns = [];
  #width = 0;
  #height = 0;
  #canvas = document.createElement("canvas");
  #readout = document.createElement("p");
  #behind = document.createElement("button");
  #ending;

  connectedCallback() {
    this.#rows = unpacked(JSON.parse(document.getElementById(this.getAttribute("data")).textContent));
    this.#current = this.#rows.length - 1;
    this.#recall();
    this.#ending = new AbortController();
    this.#furnish();
    this.#listen(this.#ending.signal);
    this.#colours = palette(this);
    this.#measure();
  }

  disconnectedCallback() {
    this.#ending.abort();
    this.replaceChildren();
  }

  // The turn under the cursor, or undefined before the first.
  get turn() {
    return this.#rows[this.#current]?.turn;
  }

  // Whether the cursor is on the newest turn and goes on with it.
  get following() {
    return this.#following;
  }

  #furnish() {
    this.#canvas.className = "strip__canvas";
    this.#canvas.setAttribute("role", "img");
    this.#readout.className = "readout";
    this.#behind.type = "button";
    this.#behind.className = "chip";
    this.#behind.hidden = true;
    this.replaceChildren(this.#canvas, this.#readout, this.#behind);
  }

  #listen(signal) {
    const options = { signal };
    document.addEventListener("session:turn_ended", (event) => this.#add(event.detail.data), options);
    document.addEventListener("session:compaction_ended", (event) => this.#cut(event.detail.data), options);
    document.addEventListener("turn:selected", (event) => this.#show(event.detail.turn), options);
    this.addEventListener("key", (event) => this.#press(event.detail), options);
    this.#canvas.addEventListener("click", (event) => this.#point(event.offsetX), options);
    this.#behind.addEventListener("click", () => this.#follow(), options);
    onThemeChange(() => this.#repaint(), signal);
    const resizing = new ResizeObserver(() => this.#measure());
    resizing.observe(this.#canvas);
    signal.addEventListener("abort", () => resizing.disconnect());
  }

  #cut(facts) {
    if (facts.state === "applied") this.#compacted = true;
  }

  #add(facts) {
    this.#rows = withRow(this.#rows, rowOf(facts, this.#compacted));
    this.#compacted = false;
    if (this.#following) this.#current = this.#rows.length - 1;
    this.#draw();
  }

  #press(key) {
    const last = this.#rows.length - 1;
    const places = {
      ArrowLeft: this.#current - 1,
      ArrowRight: this.#current + 1,
      Home: 0,
      End: last,
      f: last,
      c: this.#rows.findIndex((row, place) => place > this.#current && row.compacted_before),
      C: this.#rows.findLastIndex((row, place) => place < this.#current && row.compacted_before),
    };
    this.#select(places[key]);
  }

  #point(x) {
    const column = this.#columns.find((drawn) => x < drawn.x + drawn.width);
    if (column) this.#select(column.row.to);
  }

  #show(turn) {
    this.#select(this.#rows.findLastIndex((row) => row.turn <= turn));
  }

  // The turn that the address names.
  #recall() {
    const turn = Number(asked("turn"));
    const place = this.#rows.findLastIndex((row) => row.turn <= turn);
    if (!turn || place < 0) return;
    this.#current = place;
    this.#following = place === this.#rows.length - 1;
  }

  #follow() {
    this.#select(this.#rows.length - 1);
  }

  #select(place) {
    if (!(place >= 0 && place < this.#rows.length)) return;
    this.#current = place;
    this.#following = place === this.#rows.length - 1;
    note("turn", this.#following ? "" : this.turn);
    this.dispatchEvent(new CustomEvent("turn:shown", { bubbles: true }));
    this.#draw();
  }

  #repaint() {
    this.#colours = palette(this);
    this.#draw();
  }

  // Asked for once, and when it changes: to ask at each draw would lay out the whole page.
  #measure() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (width === this.#width && height === this.#height) return;
    this.#width = width;
    this.#height = height;
    this.#draw();
  }

  #draw() {
    const [width, height] = [this.#width, this.#height];
    if (!width) return;
    const pen = this.#sharpPen(width, height);
    const top = ceiling(this.#rows);
    const y = (value) => height - ((height - HEAD) * value) / top;
    this.#columns = columns(binned(this.#rows, Math.floor(width / NARROWEST)), width);
    for (const column of this.#columns) this.#drawColumn(pen, column, y);
    this.#drawLines(pen, width, y);
    this.#drawCursor(pen, y);
    this.#say();
  }

  #sharpPen(width, height) {
    const ratio = devicePixelRatio;
    this.#canvas.width = width * ratio;
    this.#canvas.height = height * ratio;
    const pen = this.#canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = FONT;
    return pen;
  }

  #drawColumn(pen, { x, width, row }, y) {
    let level = 0;
    for (const [name, height] of stack(row)) {
      pen.fillStyle = this.#colours.categories[name];
      pen.fillRect(x, y(level + height), width - (width > 4 ? 1 : 0), y(level) - y(level + height));
      level += height;
    }
    if (!row.compacted_before) return;
    pen.fillStyle = this.#colours.ink;
    pen.fillRect(Math.round(x - GAP / 2) - 0.75, 0, 1.5, y(0));
  }

  #drawLines(pen, width, y) {
    const limit = this.#rows.at(-1)?.limit;
    if (!limit) return;
    this.#line(pen, y(limit), width, "danger", []);
    const unit = this.getAttribute("unit");
    this.#words(pen, gettext("limit %(limit)s", { limit: quantity(limit, unit) }), 2, y(limit) - 5, "ink-2");
    const threshold = limit * Number(this.getAttribute("threshold"));
    if (!threshold) return;
    this.#line(pen, y(threshold), width, "ink", [6, 4]);
    const [stage, size] = [this.getAttribute("name") ?? "", quantity(Math.round(threshold), unit)];
    const words = gettext("%(stage)s at %(size)s", { stage, size }).trim();
    this.#words(pen, words, 2, y(threshold) + 16, "ink");
  }

  #line(pen, y, width, colour, dash) {
    pen.strokeStyle = this.#colours[colour];
    pen.lineWidth = 1.5;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(width, y);
    pen.stroke();
    pen.setLineDash([]);
  }

  #words(pen, text, x, y, colour) {
    pen.strokeStyle = this.#colours.surface;
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    pen.strokeText(text, x, y);
    pen.fillStyle = this.#colours[colour];
    pen.fillText(text, x, y);
  }

  #drawCursor(pen, y) {
    const column = this.#columns.find(({ row }) => row.from <= this.#current && this.#current <= row.to);
    if (!column) return;
    const top = Math.min(y(column.row.used), y(0) - 4);
    pen.strokeStyle = this.#colours.focus;
    pen.lineWidth = 2;
    pen.strokeRect(column.x - 0.5, top - 1, Math.max(column.width, 3), y(0) - top);
  }

  #say() {
    const row = this.#rows[this.#current];
    const newer = this.#rows.length - 1 - this.#current;
    this.#behind.hidden = newer === 0;
    this.#behind.textContent = ngettext("%(count)s newer turn", "%(count)s newer turns", newer);
    this.#readout.replaceChildren(...(row ? this.#facts(row) : [part(gettext("No turn yet."))]));
    this.#canvas.setAttribute("aria-label", this.#summary());
  }

  #facts(row) {
    const unit = this.getAttribute("unit");
    const before = this.#rows[this.#current - 1];
    const facts = [part(gettext("After turn %(turn)s", { turn: row.turn }), "strong"), part(quantity(row.used, unit))];
    if (unit !== "bytes") facts.push(part(kilobytes(row.bytes)));
    if (row.limit) facts.push(part(share(row.used, row.limit)));
    if (before) facts.push(part(change(row.used - before.used, unit)));
    if (row.compacted_before) facts.push(part(gettext("compacted before it")));
    return facts;
  }

  #summary() {
    const last = this.#rows.at(-1);
    if (!last) return gettext("Context by turn: no turn yet");
    const cuts = this.#rows.filter((row) => row.compacted_before).length;
    const used = quantity(last.used, this.getAttribute("unit"));
    return gettext(
      "Context by turn: %(turns)s turns, %(used)s after the last, %(cuts)s compactions. The table below holds the figures.",
      { turns: this.#rows.length, used, cuts },
    );
  }
}

// Where each row is drawn: {x, width, row}, with a gap where a compaction stands.
function columns(rows, width) {
  const cuts = rows.filter((row) => row.compacted_before).length;
  const step = Math.min((width - cuts * GAP) / Math.max(rows.length, 1), WIDEST);
  let x = 0;
  return rows.map((row) => {
    if (row.compacted_before) x += GAP;
    const column = { x, width: step, row };
    x += step;
    return column;
  });
}

function change(by, unit) {
  return `${by < 0 ? "−" : "+"}${quantity(Math.abs(by), unit)}`;
}

function part(text, name = "span") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

customElements.define("turn-strip", TurnStrip);
