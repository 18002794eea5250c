// An answer that was led to the sign-in page is for the whole page, not for the part that asked.

const SIGN_IN = document.querySelector('meta[name="sign-in"]').content;

document.addEventListener("htmx:before:response", (event) => {
  const { raw } = event.detail.ctx.response;
  if (!raw.redirected || new URL(raw.url).pathname !== SIGN_IN) return;
  event.preventDefault();
  const next = encodeURIComponent(location.pathname + location.search);
  location.assign(`${SIGN_IN}?next=${next}`);
});
