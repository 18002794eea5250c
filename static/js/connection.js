// What the header and a banner say about the line to the server.

import { gettext } from "./words.js";

const LOOKS = {
  live: { kind: "run", icon: "live", text: gettext("Live") },
  reconnecting: { kind: "wait", icon: "wait", text: gettext("Reconnecting") },
  refused: { kind: "stop", icon: "err", text: gettext("Not live") },
};

export function showConnection(state) {
  const place = document.getElementById("connection");
  if (!place || place.dataset.state === state) return;
  const look = LOOKS[state];
  place.dataset.state = state;
  place.className = `top__live status status--${look.kind}`;
  const text = document.createElement("span");
  text.textContent = look.text;
  place.replaceChildren(icon(look.icon), text);
}

// `act` is a label and what its button does.
export function banner(text, act) {
  const box = document.createElement("div");
  box.className = "banner";
  box.setAttribute("role", "status");
  const words = document.createElement("span");
  words.className = "banner__text";
  words.textContent = text;
  box.append(icon("part"), words);
  if (act) box.append(button(...act));
  return box;
}

function button(label, run) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "button";
  element.textContent = label;
  element.addEventListener("click", run);
  return element;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}
