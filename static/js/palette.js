// Colours for what CSS cannot reach (canvas, Plotly), read from the custom properties in force.

import { CATEGORIES, UNSEEN } from "./categories.js";

const INTERFACE = ["ink", "ink-2", "line", "surface", "sunken", "focus", "danger", "pattern", "cat-edge"];

// {ink: "rgb(...)", ..., categories: {user: "rgb(...)", ...}}
export function palette(host) {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  // light-dark() is resolved only in a real property, so each colour is tried on.
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(INTERFACE.map((name) => [name, read(name)]));
  colours.categories = Object.fromEntries([UNSEEN, ...CATEGORIES].map(({ name }) => [name, read(`c-${name}`)]));
  probe.remove();
  return colours;
}

// Calls `run` whenever the theme changes, until `signal` is aborted.
export function onThemeChange(run, signal) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", run, { signal });
  document.addEventListener("change", (event) => event.target.name === "theme" && run(), { signal });
}
