// The page's title begins with how full the window is, so that a tab tells it from afar.

function tell({ detail }) {
  const { used, limit } = detail.data;
  if (!limit) return;
  const name = document.title.replace(/^\d+% · /, "");
  document.title = `${Math.round((100 * used) / limit)}% · ${name}`;
}

document.addEventListener("session:turn_ended", tell);
document.addEventListener("session:compaction_ended", tell);
