// <turn-chart src="/sessions/ID/chart.json" name="snip" plotly="/static/plotly/plotly.min.js">: the context by
// turn for analysis, drawn when it comes into view.
//
// `src` answers {unit, threshold, name, turns: [rows], forecast: {turns, pace} or null} (turns.js
// says what a row is, turn-strip.js what the others are), at most 1,000 rows. While it follows a run it draws again at most once in 2 s.
// Dispatches turn:selected {turn} (bubbling) when a bar is clicked.

import { CATEGORIES, label, UNSEEN } from "./categories.js";
import { cutNames } from "./cut-names.js";
import { onThemeChange, palette } from "./palette.js";
import { ceiling, quantity, stack, unitWord } from "./turns.js";
import { gettext } from "./words.js";

const AT_MOST_EVERY = 2000;
// Plotly writes its own rules and those of its maps into inline style sheets, which our policy
// refuses, unless elements with these ids are there; css/plot.css holds what a chart needs. The
// second id changes with the bundle: the test of the policy then names the new one.
const STAND_INS = [
  { id: "plotly.js-style-global", className: "no-inline-styles" },
  { id: "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53" },
];
const TICK_WIDTH = 70;
const MARGIN = { l: 64, r: 16, t: 28, b: 36 };
// It fills its panel, which is as high as what stands beside it, within these.
const [LOWEST, HIGHEST] = [340, 560];
const MOST_GHOSTS = 12;
// More turns are stacked areas with steps: one shape a category instead of one a turn.
const MOST_BARS = 100;
const PATTERN = { size: 8, solidity: 0.15 };
// As Plotly fills it in.
const TURN = gettext("turn %(turn)s", { turn: "%{customdata}" });
const AFTER = gettext("after turn %(turn)s", { turn: "%{customdata}" });
const CONFIG = { displayModeBar: false, responsive: true };

class TurnChart extends HTMLElement {
  #data;
  #place = document.createElement("div");
  #state = document.createElement("p");
  #ending;
  #timer;

  connectedCallback() {
    this.#place.className = "plot";
    this.#state.className = "plot__state";
    this.#state.setAttribute("role", "status");
    this.append(this.#state, this.#place);
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      seen.disconnect();
      this.#begin(signal);
    });
    seen.observe(this);
    signal.addEventListener("abort", () => seen.disconnect());
  }

  disconnectedCallback() {
    this.#ending.abort();
    clearTimeout(this.#timer);
    window.Plotly?.purge(this.#place);
    this.replaceChildren();
  }

  async #begin(signal) {
    this.#state.textContent = gettext("The chart is being loaded…");
    let isBehind = false;
    const follow = () => (this.#place.data ? this.#refreshSoon(signal) : (isBehind = true));
    document.addEventListener("session:turn_ended", follow, { signal });
    try {
      await Promise.all([loadPlotly(this.getAttribute("plotly")), this.#fetch(signal)]);
    } catch {
      this.#state.textContent = gettext("The chart could not be loaded; the table below holds the figures.");
      return;
    }
    if (signal.aborted) return;
    this.#state.remove();
    this.#draw();
    if (isBehind) this.#refreshSoon(signal); // A turn ended while it was being loaded.
    this.#place.on("plotly_click", (click) => this.#select(click.points[0].customdata));
    onThemeChange(() => this.#draw(), signal);
  }

  async #fetch(signal) {
    const answer = await fetch(this.getAttribute("src"), { signal });
    if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}`);
    const data = await answer.json();
    this.#data = { ...data, name: this.getAttribute("name") ?? data.name };
  }

  #refreshSoon(signal) {
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      await this.#fetch(signal);
      this.#draw();
    }, AT_MOST_EVERY);
  }

  #draw() {
    const colours = palette(this);
    const looks = layout(this.#data, colours, this.clientWidth, this.clientHeight);
    window.Plotly.react(this.#place, traces(this.#data, colours), looks, CONFIG);
  }

  #select(turn) {
    this.dispatchEvent(new CustomEvent("turn:selected", { bubbles: true, detail: { turn } }));
  }
}

let loading;

function loadPlotly(address) {
  loading ??= new Promise((resolve, reject) => {
    const nonce = document.querySelector("script[nonce]")?.nonce;
    const element = (name, facts) => Object.assign(document.createElement(name), { nonce, ...facts });
    const styles = STAND_INS.map((names) => element("style", names));
    const script = element("script", { src: address });
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${address} could not be loaded`));
    document.head.append(...styles, script);
  });
  return loading;
}

export function traces(data, colours) {
  const stacked = data.turns.length > MOST_BARS ? areas : bars;
  const made = [...stacked(data, colours), stable(data, colours)];
  return data.forecast && data.turns.length ? [...made, ghosts(data, colours)] : made;
}

// One trace a category that occurs, in the order of a request; what is estimated is hatched.
function bars({ turns, unit }, colours) {
  return layers(turns, unit).map(({ category: { name, letter, shape }, ...rest }) => ({
    ...rest,
    name: `${letter} ${label(name)}`.trim(),
    type: "bar",
    marker: {
      color: colours.categories[name],
      line: { color: colours["cat-edge"], width: 0.5 },
      pattern: { shape: turns.map((row) => (row.estimate ? "/" : shape)), bgcolor: colours.categories[name], fgcolor: colours.pattern, ...PATTERN },
    },
  }));
}

function areas({ turns, unit }, colours) {
  return layers(turns, unit).map(({ category: { name, letter, shape }, ...rest }) => ({
    ...rest,
    name: `${letter} ${label(name)}`.trim(),
    type: "scatter",
    mode: "lines",
    stackgroup: "list",
    line: { shape: "hvh", color: colours["cat-edge"], width: 0 },
    fillcolor: colours.categories[name],
    fillpattern: { shape, bgcolor: colours.categories[name], fgcolor: colours.pattern, ...PATTERN },
  }));
}

// What every trace of a category has.
function layers(turns, unit) {
  const stacks = turns.map((row) => new Map(stack(row)));
  const x = positions(turns);
  const customdata = turns.map((row) => row.turn);
  const present = [UNSEEN, ...CATEGORIES].filter(({ name }) => stacks.some((heights) => heights.has(name)));
  return present.map((category) => ({
    category,
    x,
    y: stacks.map((heights) => heights.get(category.name) ?? 0),
    customdata,
    hovertemplate: `${AFTER}<br>${label(category.name)} %{y:,.0f} ${unitWord(unit)}<extra></extra>`,
  }));
}

// How much of each request was as in the one before, as a step line; it drops where that broke.
function stable({ turns }, colours) {
  return {
    type: "scatter",
    mode: "lines",
    name: gettext("stable prefix of the request"),
    x: positions(turns),
    y: turns.map((row) => (row.stable == null ? null : row.used * row.stable)),
    customdata: turns.map((row) => row.turn),
    line: { shape: "hvh", color: colours.ink, width: 1.5 },
    hovertemplate: `${TURN}<br>${gettext("stable prefix of the request")} %{y:,.0f}<extra></extra>`,
  };
}

// The turns to come at the pace of the newest, up to the next compaction.
function ghosts({ turns, unit, forecast }, colours) {
  const last = turns.at(-1);
  const start = positions(turns).at(-1);
  const ahead = Array.from({ length: Math.min(forecast.turns, MOST_GHOSTS) }, (_, place) => place + 1);
  return {
    type: "bar",
    name: gettext("forecast"),
    x: ahead.map((step) => start + step),
    y: ahead.map((step) => last.used + step * forecast.pace),
    customdata: ahead.map((step) => last.turn + step),
    marker: {
      color: "rgba(0,0,0,0)",
      line: { color: colours["ink-2"], width: 1 },
      pattern: { shape: "/", bgcolor: "rgba(0,0,0,0)", fgcolor: colours["ink-2"], ...PATTERN },
    },
    hovertemplate: `${TURN}, ${gettext("forecast")}<br>%{y:,.0f} ${unitWord(unit)}<extra></extra>`,
  };
}

export function layout({ turns, unit, threshold, name, forecast }, colours, width, height) {
  const limit = turns.at(-1)?.limit;
  const places = positions(turns);
  const marks = cuts(turns, places);
  const next = limit && threshold ? limit * threshold : undefined;
  const axis = { gridcolor: colours.line, linecolor: colours.line, zeroline: false, fixedrange: true };
  return {
    barmode: "stack",
    bargap: 0.08,
    height: Math.min(Math.max(height, LOWEST), HIGHEST),
    margin: MARGIN,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { size: 14, color: colours["ink-2"], family: getComputedStyle(document.body).fontFamily },
    showlegend: false,
    xaxis: { ...axis, ...turnTicks(turns, places, Math.ceil(width / TICK_WIDTH)), showgrid: false },
    yaxis: { ...axis, range: [0, ceiling(turns) * 1.12], tickformat: "~s" },
    shapes: [
      ...(limit ? [level(limits(turns, places), colours.danger)] : []),
      ...(next ? [across(next, colours.ink, "dash")] : []),
      ...marks.map(({ x }) => upright(x, colours.ink)),
    ],
    annotations: [
      ...(limit ? [words(limit, gettext("limit %(limit)s", { limit: quantity(limit, unit) }), colours)] : []),
      ...(next ? [words(next, gettext("%(stage)s at %(size)s", { stage: name, size: quantity(Math.round(next), unit) }), colours, "top")] : []),
      ...(forecast && turns.length ? [due(turns, places, forecast, colours)] : []),
      ...cutNames(marks, scale(places, forecast, width)).map((one) => above(one, colours)),
    ],
  };
}

// A place of its own for each compaction, so that the bars leave a gap there.
function positions(turns) {
  let gaps = 0;
  return turns.map((row, place) => {
    if (row.compacted_before) gaps += 1;
    return place + gaps;
  });
}

function cuts(turns, places) {
  return turns.flatMap(({ compacted_before, compactions }, place) => (compacted_before ? [{ x: places[place] - 1, compactions }] : []));
}

// From a place on the axis to pixels from its beginning.
function scale(places, forecast, width) {
  const ahead = forecast ? Math.min(forecast.turns, MOST_GHOSTS) : 0;
  const step = (width - MARGIN.l - MARGIN.r) / ((places.at(-1) ?? 0) + 1 + ahead);
  return (x) => (x + 0.5) * step;
}

function turnTicks(turns, places, most) {
  const step = Math.max(1, Math.ceil(turns.length / most));
  const shown = turns.map((_, place) => place).filter((place) => place % step === 0);
  const ticktext = shown.map((place) => String(turns[place].turn));
  return { tickvals: shown.map((place) => places[place]), ticktext, tickangle: 0 };
}

// The limit in force at each turn, as a step line: editing a profile never redraws the past.
function limits(turns, places) {
  const steps = turns.flatMap((row, place) => (row.limit ? [[places[place], row.limit]] : []));
  return steps.map(([x, limit], place) => `${place ? "L" : "M"}${x - 0.5},${limit}L${x + 0.5},${limit}`).join("");
}

function level(path, color) {
  return { type: "path", path, line: { color, width: 1.5 } };
}

function across(y, color, dash) {
  return { type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color, width: 1.5, dash } };
}

function upright(x, color) {
  return { type: "line", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color, width: 1.5 } };
}

function words(y, text, colours, yanchor = "bottom") {
  const place = { y, xref: "paper", x: 0, xanchor: "left", yanchor };
  const clear = { bgcolor: colours.surface, borderpad: 0, yshift: yanchor === "top" ? -2 : 2 };
  return { text, ...place, ...clear, showarrow: false, font: { color: colours.ink } };
}

function due(turns, places, { turns: left, pace }, colours) {
  const shown = Math.min(left, MOST_GHOSTS);
  const place = { x: places.at(-1) + shown, y: turns.at(-1).used + shown * pace };
  const text = gettext("≈ turn %(turn)s", { turn: turns.at(-1).turn + left });
  const clear = { bgcolor: colours.surface, borderpad: 0 };
  return { text, ...place, ...clear, xanchor: "right", yanchor: "bottom", showarrow: false, font: { color: colours.ink } };
}

function above({ x, text, end }, colours) {
  const place = { x, xanchor: end ? "right" : "left", yref: "paper", y: 1, yanchor: "bottom" };
  return { text, ...place, showarrow: false, font: { color: colours.ink } };
}

customElements.define("turn-chart", TurnChart);
