// Cards to come, fetched ahead, without those that were decided here and are not saved yet.

const MOST = 40;
const LOW = 15;

export class Supply {
  #cards = [];
  #fetching = null;
  #acts = new Map(); // id to when it was decided here: a reply that was asked for before is older
  #now = 0;
  #whole = false; // the server has no more than what is here
  shown = null; // the id of the card on the screen
  passed = null; // ids that were set aside again while those set aside are gone through

  constructor(ask, queue) {
    this.ask = ask;
    this.queue = queue;
    queue.addEventListener("settled", ({ detail }) => this.#settle(detail));
  }

  get aside() {
    return this.#cards.filter((each) => each.aside);
  }

  // The next card, or null; those set aside only while they are gone through.
  take() {
    const waiting = new Set(this.queue.standing.map((each) => each.id)); // another tab's, too
    this.#cards = this.#cards.filter(({ id }) => !waiting.has(id));
    const place = this.#cards.findIndex((each) => !each.aside || (this.passed && !this.passed.has(each.id)));
    const card = place < 0 ? null : this.#cards.splice(place, 1)[0];
    if (this.#cards.length < LOW && !this.#whole) this.fetch().catch(() => {});
    return card;
  }

  putBack(card) {
    this.#cards = [card, ...this.#cards.filter((each) => each.id !== card.id)];
  }

  // This card was decided, or set aside, or taken back.
  act(id, { skipped = false, undone = false } = {}) {
    this.#now += 1;
    if (undone) this.#acts.delete(id);
    else this.#acts.set(id, this.#now);
    this.#cards = this.#cards.filter((each) => each.id !== id);
    if (skipped || undone) this.#whole = false;
    if (skipped) this.passed?.add(id);
  }

  // A reply that was asked for before the server saved a decision may still have its card.
  #settle({ id, kind }) {
    this.#now += 1;
    if (kind === "undo") this.#acts.delete(id);
    else this.#acts.set(id, this.#now);
  }

  // Ask anew for what is to come; at most one asks.
  fetch() {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null;
    });
    return this.#fetching;
  }

  // What is here may be old: another window has decided something.
  async renew() {
    this.#whole = false;
    await this.#fetching?.catch(() => {});
    return this.fetch();
  }

  async #fetch() {
    const begun = this.#now;
    const { cards, progress } = await this.ask.cards(MOST);
    const fresh = progress.asked - progress.done - progress.aside;
    const waiting = new Set(this.queue.standing.map((each) => each.id));
    this.#whole = cards.length < MOST && begun === this.#now;
    this.#cards = cards
      .map((each, place) => ({ ...each, aside: place >= fresh }))
      .filter(({ id }) => !waiting.has(id) && (this.#acts.get(id) ?? 0) <= begun && id !== this.shown);
    return progress;
  }
}
