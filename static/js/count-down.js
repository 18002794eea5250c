// <count-down seconds="27">27 s</count-down>: counts in whole seconds and says so when it is over.

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
    this.textContent = `${left} s`;
    if (!left) clearInterval(this.timer);
  }
}

customElements.define("count-down", CountDown);
