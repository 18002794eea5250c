// The address of the page says what it shows: the turn under the cursor, the message that is open.

export function asked(name) {
  return new URL(location.href).searchParams.get(name);
}

// An empty value takes the name out.
export function note(name, value) {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
}

document.addEventListener("click", ({ target }) => {
  const row = target.closest?.("a.row__text")?.closest(".entry");
  if (row) note("message", row.id.replace("message-", ""));
});
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.body") && !target.open) note("message", "");
}, true);
