// Prefetched cards, without those that were decided here and are not saved yet.

const BATCH_SIZE = 40;
const REFILL_BELOW = 15;

export class Supply {
  #cards = [];
  #fetching = null;
  #decidedAt = new Map(); // id to the clock of its decision; responses to earlier requests are out of date
  #clock = 0; // a logical clock, advanced by each decision
  #isComplete = false; // whether the server has no further cards
  shownId = null; // the id of the current card
  skippedAgain = null; // ids skipped again while cards set aside are shown; null at other times

  constructor(client, queue) {
    this.client = client;
    this.queue = queue;
    queue.addEventListener("settled", ({ detail }) => this.#recordSaved(detail));
  }

  get aside() {
    return this.#cards.filter((each) => each.aside);
  }

  // Return the next card, or null; cards set aside only while these are shown.
  take() {
    const queuedIds = new Set(this.queue.pendingDecisions.map((each) => each.id)); // also of other tabs
    this.#cards = this.#cards.filter(({ id }) => !queuedIds.has(id));
    const index = this.#cards.findIndex((each) => !each.aside || (this.skippedAgain && !this.skippedAgain.has(each.id)));
    const card = index < 0 ? null : this.#cards.splice(index, 1)[0];
    if (this.#cards.length < REFILL_BELOW && !this.#isComplete) this.fetch().catch(() => {});
    return card;
  }

  putBack(card) {
    this.#cards = [card, ...this.#cards.filter((each) => each.id !== card.id)];
  }

  // Record that a card was decided, skipped or undone.
  recordDecision(id, { skipped = false, undone = false } = {}) {
    this.#clock += 1;
    if (undone) this.#decidedAt.delete(id);
    else this.#decidedAt.set(id, this.#clock);
    this.#cards = this.#cards.filter((each) => each.id !== id);
    if (skipped || undone) this.#isComplete = false;
    if (skipped) this.skippedAgain?.add(id);
  }

  // A response to a request from before the server saved a decision may still contain its card.
  #recordSaved({ id, kind }) {
    this.#clock += 1;
    if (kind === "undo") this.#decidedAt.delete(id);
    else this.#decidedAt.set(id, this.#clock);
  }

  // Fetch cards; concurrent calls share one request.
  fetch() {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null;
    });
    return this.#fetching;
  }

  // Fetch cards again, since another window may have decided some.
  async refresh() {
    this.#isComplete = false;
    await this.#fetching?.catch(() => {});
    return this.fetch();
  }

  async #fetch() {
    const start = this.#clock;
    const { cards, progress } = await this.client.cards(BATCH_SIZE);
    const openCount = progress.asked - progress.done - progress.aside;
    const queuedIds = new Set(this.queue.pendingDecisions.map((each) => each.id));
    this.#isComplete = cards.length < BATCH_SIZE && start === this.#clock;
    this.#cards = cards
      .map((each, index) => ({ ...each, aside: index >= openCount }))
      .filter(({ id }) => !queuedIds.has(id) && (this.#decidedAt.get(id) ?? 0) <= start && id !== this.shownId);
    return progress;
  }
}
