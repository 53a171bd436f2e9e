// Seconds from a card's being shown; they stand still while the tab is hidden.

const MOST = 600;

export class Clock {
  #before = 0;
  #since = null;

  constructor() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#pause() : this.#go()));
  }

  start() {
    this.#before = 0;
    this.#since = null;
    if (!document.hidden) this.#go();
  }

  get seconds() {
    const now = this.#since === null ? 0 : performance.now() - this.#since;
    return Math.min(MOST, Math.round(this.#before + now) / 1000);
  }

  #go() {
    this.#since ??= performance.now();
  }

  #pause() {
    if (this.#since !== null) this.#before += performance.now() - this.#since;
    this.#since = null;
  }
}
