// <count-down role="timer" seconds="1780">29 min 40 s</count-down>: counts in whole seconds and says
// so when it is over. As a timer it is not read aloud at each of them.

const UNITS = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];

class CountDown extends HTMLElement {
  connectedCallback() {
    this.ends = performance.now() + 1000 * Number(this.getAttribute("seconds"));
    this.timer = setInterval(() => this.draw(), 1000);
    this.draw();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  draw() {
    const left = Math.max(0, Math.round((this.ends - performance.now()) / 1000));
    this.textContent = lasting(left);
    if (!left) clearInterval(this.timer);
  }
}

// The two largest units, as the filter of the pages.
function lasting(seconds) {
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  let rest = seconds;
  const said = [];
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    said.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return said.join(" ");
}

customElements.define("count-down", CountDown);
