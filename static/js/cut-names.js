// What the chart writes over its compactions: [{x, text, end}], as many as have room.
//
// `marks` are {x, compactions: {first, last, freed}}, oldest first, x on the chart's axis; `place`
// turns such an x into pixels. `end` says whether the words end at the mark or begin there.

import { kilobytes } from "./turns.js";
import { gettext } from "./words.js";

const CHARACTER = 8; // pixels, at 14 px
const APART = 8;

export function cutNames(marks, place) {
  const told = fitting(marks, place, (mark) => sentence(mark.compactions));
  return told.length === marks.length ? told : fitting(marks, place, (mark) => short(mark.compactions));
}

// The newest has its name first: it is the one that is asked about.
function fitting(marks, place, words) {
  const names = [];
  let free = Infinity;
  for (const mark of marks.toReversed()) {
    const text = words(mark);
    const [at, width] = [place(mark.x), text.length * CHARACTER];
    const end = at >= width;
    if ((end ? at : at + width) > free) continue;
    free = (end ? at - width : at) - APART;
    names.unshift({ x: mark.x, text, end });
  }
  return names;
}

function sentence({ first, last, freed }) {
  const name = short({ first, last });
  if (freed < 0) return gettext("%(name)s added %(size)s", { name, size: kilobytes(-freed) });
  return gettext("%(name)s freed %(size)s", { name, size: kilobytes(freed) });
}

function short({ first, last }) {
  return first === last ? `C${last}` : `C${first}–${last}`;
}
