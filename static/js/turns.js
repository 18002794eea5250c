// Rows of the turn strip and the turn chart: {turn, bytes, used, limit, unseen, breakdown,
// compacted_before}, unseen (of what is used) only of recordings; those of the chart have `stable` (share of the request that was as before),
// `estimate` and `compactions` ({first, last, freed in bytes} of those before it, or null) too. `used` and `limit` are in the limit's unit, breakdown in bytes.

import { CATEGORIES, UNSEEN } from "./categories.js";

// A row of the facts of a turn_ended event.
export function rowOf(facts, compactedBefore) {
  const { turn, bytes, used, limit, breakdown } = facts;
  return { turn, bytes, used, limit, breakdown, compacted_before: compactedBefore };
}

// The rows that come to a page as columns: {turn: [...], ..., breakdown: {category: [...]}}.
export function unpacked({ breakdown, ...columns }) {
  return columns.turn.map((_, place) => ({
    ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[place]])),
    breakdown: Object.fromEntries(Object.entries(breakdown).map(([name, sizes]) => [name, sizes[place]])),
  }));
}

// Rows with the event's row added, or put in place of the one with its turn number.
export function withRow(rows, row) {
  const place = rows.findIndex((other) => other.turn === row.turn);
  return place < 0 ? [...rows, row] : rows.with(place, row);
}

// The height of the scale: the limit, or what passes it.
export function ceiling(rows) {
  return Math.max(1, ...rows.map((row) => Math.max(row.used, row.limit ?? 0)));
}

// At most `most` rows: of neighbours the fullest stands for all, so that no peak is lost.
// Each keeps the places it stands for as `from` and `to`.
export function binned(rows, most) {
  const size = Math.max(1, Math.ceil(rows.length / Math.max(most, 1)));
  const bins = [];
  for (let from = 0; from < rows.length; from += size) {
    const part = rows.slice(from, from + size);
    const peak = part.reduce((fullest, row) => (row.used > fullest.used ? row : fullest));
    const compacted = part.some((row) => row.compacted_before);
    bins.push({ ...peak, compacted_before: compacted, from, to: from + part.length - 1 });
  }
  return bins;
}

// [name, height] from the bottom up; heights sum to `used`.
export function stack(row) {
  const total = CATEGORIES.reduce((sum, { name }) => sum + (row.breakdown[name] ?? 0), 0);
  const unseen = row.unseen ?? 0;
  const held = CATEGORIES.flatMap(({ name }) => {
    const bytes = row.breakdown[name] ?? 0;
    return bytes ? [[name, ((row.used - unseen) * bytes) / total]] : [];
  });
  return unseen ? [[UNSEEN.name, unseen], ...held] : held;
}

// `69%`; a half goes up, and the division comes first, as in the filter `percent` of the pages.
export function share(part, whole) {
  return `${Math.round((part / whole) * 100)}%`;
}

export function unitWord(unit) {
  return unit === "tokens" ? "tok" : unit;
}

export function quantity(count, unit) {
  return `${count.toLocaleString("en")} ${unitWord(unit)}`;
}

// As the pages write it.
export function kilobytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999_950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
}
