// The page's title and icon tell from afar how full the window is, and that a person is waited for.
//
// #pressure has data-pressure (percent, empty when unknown) and data-waiting ("yes" when an approval
// is wanted); the events of a session tell the same before the page was fetched anew.

import { onThemeChange, palette } from "./palette.js";
import { gettext } from "./words.js";

const SIZE = 32;
const WAITING = `${gettext("Approval wanted")} · `;

let told;

function show(percent, waiting) {
  const now = `${percent} ${waiting}`;
  if (now === told) return;
  told = now;
  const name = document.title.replace(WAITING, "").replace(/^\d+% · /, "");
  document.title = `${waiting ? WAITING : ""}${percent === "" ? "" : `${percent}% · `}${name}`;
  const icon = document.querySelector("link[rel=icon]");
  if (icon) icon.href = picture(percent === "" ? 0 : Number(percent), waiting);
}

// A vessel that fills; with a dot when someone is waited for.
function picture(percent, waiting) {
  const colours = palette(document.body);
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  const pen = canvas.getContext("2d");
  const level = (SIZE - 6) * Math.min(percent, 100) / 100;
  pen.fillStyle = colours.surface;
  pen.fillRect(2, 2, SIZE - 4, SIZE - 4);
  pen.fillStyle = percent >= 80 ? colours.danger : colours.categories.tool_results;
  pen.fillRect(3, SIZE - 3 - level, SIZE - 6, level);
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  pen.strokeRect(2, 2, SIZE - 4, SIZE - 4);
  if (waiting) {
    pen.fillStyle = colours.danger;
    pen.beginPath();
    pen.arc(SIZE - 9, 9, 8, 0, 2 * Math.PI);
    pen.fill();
  }
  return canvas.toDataURL();
}

function read() {
  const told = document.getElementById("pressure")?.dataset;
  if (told) show(told.pressure, told.waiting === "yes");
}

function tell({ detail }) {
  const { used, limit } = detail.data;
  if (limit) show(String(Math.round((100 * used) / limit)), document.title.startsWith(WAITING));
}

function repaint() {
  told = undefined;
  read();
}

read();
onThemeChange(repaint);
document.addEventListener("htmx:after:swap", read);
document.addEventListener("session:turn_ended", tell);
document.addEventListener("session:compaction_ended", tell);
