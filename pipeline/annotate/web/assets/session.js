// One card after another: what a decision, an undo, an opened card lead to.

import { Away } from "./ask.js";
import { Drafts } from "./drafts.js";
import { phrase, t } from "./messages.js";
import { isolated } from "./text.js";

const SEEN = 250; // milliseconds that a card must be in sight before it takes a decision
const LONGEST = 600;

// Seconds that a card is in sight; they stand still while the tab is hidden.
class Clock {
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
    return Math.min(LONGEST, Math.round(this.#before + now) / 1000);
  }

  #go() {
    this.#since ??= performance.now();
  }

  #pause() {
    if (this.#since !== null) this.#before += performance.now() - this.#since;
    this.#since = null;
  }
}

export class Session extends EventTarget {
  card = null;
  trouble = null; // the entry that this card was opened for
  busy = false;
  #teaching = false; // feedback is in sight
  #seen = null; // when the card was painted; null before that
  #done = []; // decisions of this page, to be taken back one by one: {id, card, given}
  #progress = null; // the last one of the server
  #clock = new Clock();

  constructor({ work, ask, queue, supply, view, store }) {
    super();
    Object.assign(this, { work, ask, queue, supply, view });
    this.drafts = new Drafts(store, view, work.kind === "keying");
    queue.addEventListener("progress", ({ detail }) => this.#far(detail));
    queue.addEventListener("back", () => this.#back());
    queue.addEventListener("change", () => this.#far());
    store.addEventListener("undone", ({ detail }) => this.#undoneElsewhere(detail));
    document.addEventListener("visibilitychange", () => document.hidden || this.#renew());
  }

  async start() {
    await this.queue.send();
    await this.next();
  }

  // Keep what is chosen for the card, and show the next one; the server hears of it meanwhile.
  decide(answer) {
    return this.#take(async () => {
      const { card, trouble } = this;
      const given = { id: card.id, kind: "label", answer, ...this.drafts.given, seconds: this.#clock.seconds };
      if (card.suggestion) given.suggested = card.suggestion;
      if (trouble) this.queue.drop(trouble);
      this.view.flash(answer);
      await (this.training ? this.#teach(given, card) : this.#keep(given, card));
    });
  }

  get training() {
    return this.work.round === "training";
  }

  // Save the note of a card that is decided, and stay.
  async saveNote() {
    const { card } = this;
    if (!card || card.answer === null || this.drafts.given.note === card.note) return;
    const { note } = this.drafts.given;
    const given = { id: card.id, kind: "label", answer: card.answer, unsure: card.unsure, note, seconds: null };
    const before = { ...card };
    const { outcome } = this.queue.add(given, before);
    this.#done.push({ id: card.id, card: before, given });
    card.note = note;
    this.drafts.forget(card.id);
    this.view.stands(card);
    const reply = await outcome;
    this.view.say(reply ? t("Note saved") : t("Note not saved yet"));
  }

  skip() {
    return this.#take(async () => {
      const { card } = this;
      if (this.training) this.view.say(t("The training round has no undo and no skip."));
      else if (this.trouble) this.view.say(t("Choose again, or leave it unchanged"));
      else if (card.answer !== null) await this.next(); // it stays as it stands
      else await this.#keep({ id: card.id, kind: "skip", answer: null, ...this.drafts.given, seconds: this.#clock.seconds }, card);
    });
  }

  undo() {
    return this.#take(async () => {
      if (this.training) return this.view.say(t("The training round has no undo and no skip."));
      const last = this.#done.pop() ?? lastOf(this.queue.standing);
      const given = { id: last?.id ?? "", kind: "undo", answer: null, unsure: false, note: "", seconds: null };
      const { entry, outcome } = this.queue.add(given, last?.card ?? null);
      if (last) {
        this.#takenBack(last.card, last.given);
        this.#followUndo(entry, outcome, last);
        return undefined;
      }
      const reply = await outcome;
      const refused = this.queue.troubles.find(({ key }) => key === entry.key);
      if (refused) this.#notTakenBack(refused);
      else if (reply?.status === "nothing") this.view.say(t("Nothing to undo"));
      else if (reply) await this.#undone(reply);
      else this.view.say(t("Undo will be sent when the server is back"));
      return undefined;
    }, false);
  }

  // Show a card that was chosen from a list.
  open(card) {
    if (this.busy) return;
    this.#aside();
    this.#show(card);
  }

  // Leave a card that another window has decided, or that was refused.
  async leave() {
    if (this.trouble) this.queue.drop(this.trouble);
    await this.next();
  }

  async next() {
    this.card = null;
    this.trouble = null;
    this.supply.shown = null;
    for (const each of this.queue.troubles.filter(({ kind }) => kind === "undo")) this.#notTakenBack(each);
    const trouble = this.queue.troubles[0];
    if (trouble) return this.#troubled(trouble);
    let card = this.supply.take();
    let away = "";
    if (!card) {
      if (!this.queue.away) await this.queue.send(); // what is next depends on what the server has
      try {
        this.#far(await this.supply.renew());
        card = this.supply.take();
      } catch (error) {
        away = error.message;
      }
    }
    if (card) this.#show(card);
    else if (this.training && !away && !this.queue.waiting.length) await this.#trained();
    else this.view.rest(this, away);
    if (away) setTimeout(() => this.#again(), 5000);
    return undefined;
  }

  // Do one thing at a time, and nothing to a card that nobody can have read.
  async #take(act, needsCard = true) {
    if (needsCard && !this.card && !this.busy) return;
    if (this.#teaching) {
      this.view.again();
      return;
    }
    if (this.busy || (this.card && !(performance.now() - (this.#seen ?? Infinity) >= SEEN))) {
      this.view.refuse();
      return;
    }
    this.busy = true;
    try {
      await act();
    } finally {
      this.busy = false;
    }
  }

  async #keep(given, card) {
    const { entry, outcome } = this.queue.add(given, card);
    this.#done.push({ id: card.id, card, given });
    this.drafts.forget(card.id);
    this.supply.act(card.id, { skipped: given.kind === "skip" });
    this.view.say("");
    if (given.kind === "label" && card.answer === null) this.dispatchEvent(new Event("decided"));
    this.#follow(entry, outcome, given);
    await this.next();
  }

  // In the training round: show what the answer should have been, until somebody has read it.
  async #teach(given, card) {
    const { outcome } = this.queue.add(given, card);
    this.drafts.forget(card.id);
    this.supply.act(card.id);
    const reply = await outcome;
    if (reply?.feedback) {
      this.#teaching = true;
      await this.view.feedback(given.answer, reply.feedback);
      this.#teaching = false;
    } else {
      this.view.say(t("Not saved yet: there is no feedback while the server is unreachable"));
    }
    await this.next();
  }

  // The end of the training round.
  async #trained() {
    const found = await this.ask.training();
    this.view.trained(found, async () => {
      if (!found.passed) await this.ask.post("training", {});
      location.reload();
    });
  }

  // Say what became of a decision.
  async #follow(entry, outcome, { kind, answer }) {
    const slow = setTimeout(() => this.view.say(t("Saving …")), 1000);
    const reply = await outcome;
    clearTimeout(slow);
    const said = { answer: isolated(this.drafts.keying && answer === "-" ? t("not found") : answer ?? "", "bdi", 80) };
    const waits = this.queue.waiting.some(({ key }) => key === entry.key);
    if (kind === "skip") this.view.say(waits ? t("Not saved yet: set aside") : t("Set aside"));
    else if (waits) this.view.say(...phrase("Not saved yet: {answer}", said));
    else if (reply && ["saved", "repeated"].includes(reply.status)) this.view.say(...phrase("Saved: {answer}", said));
  }

  async #followUndo(entry, outcome, last) {
    const reply = await outcome;
    const refused = this.queue.troubles.find(({ key }) => key === entry.key);
    if (refused) this.#notTakenBack(refused);
    else if (reply?.status === "nothing") this.view.say(t("Not undone: another window has decided since"));
    else if (reply) this.queue.store.tell({ kind: "undone", id: last.id, units: last.card?.units ?? [] });
    const undone = reply && reply.status !== "nothing" && !refused;
    if (this.card?.id !== last.id || !(reply || refused)) return;
    const standing = undone ? reply.standing : await this.ask.card(last.id).catch(() => null);
    if (this.card?.id !== last.id || !standing) return;
    Object.assign(this.card, standing);
    this.view.stands(this.card);
  }

  async #troubled(entry) {
    const there = entry.id && (await this.ask.card(entry.id).catch(() => null));
    const standing = entry.trouble.standing ?? {};
    const bare = { id: entry.id, units: [["id", entry.id]], answer: null, unsure: false, note: "", version: 0, examples: [] };
    const card = there || (entry.card && { ...entry.card, ...standing }) || bare;
    this.#show(card);
    this.drafts.set(entry);
    this.trouble = entry;
    this.queue.dispatchEvent(new Event("change")); // one less is to come
    this.view.trouble(entry, card);
    this.supply.renew().catch(() => {});
  }

  #show(card) {
    this.card = { answer: null, unsure: false, note: "", ...card };
    this.trouble = null;
    this.supply.shown = card.id;
    this.#seen = null;
    this.view.trouble(null);
    this.view.card(this.card);
    this.drafts.open(this.card);
    this.#clock.start();
    const mine = this.card;
    requestAnimationFrame(() => setTimeout(() => { // the frame with the card is painted by now
      if (this.card !== mine) return;
      this.#seen = performance.now();
      setTimeout(() => this.card === mine && this.view.ready(), SEEN);
    }));
  }

  // Progress with the decisions that are not saved yet.
  #far(progress = this.#progress) {
    if (!progress) return;
    this.#progress = progress;
    const open = this.queue.standing.filter(({ card }) => card && card.answer === null);
    const labels = new Set(open.filter(({ kind }) => kind === "label").map(({ id }) => id));
    const aside = new Set(open.filter(({ kind, id }) => kind === "skip" && !labels.has(id)).map(({ id }) => id));
    this.view.progress({ ...progress, done: progress.done + labels.size, aside: progress.aside + aside.size });
  }

  async #undone({ id, standing }) {
    const card = await this.ask.card(id).catch((error) => {
      if (!(error instanceof Away)) throw error;
      return null;
    });
    this.queue.store.tell({ kind: "undone", id, units: card?.units ?? [] });
    if (card) this.#takenBack({ ...card, ...standing }, null);
    else this.view.say(t("Undone; the card returns when the server is back"));
  }

  #undoneElsewhere({ id, units }) {
    this.#done = this.#done.filter((each) => each.id !== id);
    const pair = isolated(units.map(([, text]) => text).join(" · "), "bdi", 120);
    this.view.say(...phrase("Another window has undone: {pair}", { pair }));
    this.supply.renew().then((progress) => this.#far(progress)).catch(() => {});
  }

  // Nothing is lost with an undo that was refused: all stays as it stands.
  #notTakenBack(entry) {
    this.queue.drop(entry);
    this.view.say(...phrase("Not undone: {why}", { why: isolated(entry.trouble.why) }));
  }

  #takenBack(card, given) {
    this.supply.act(card.id, { undone: true });
    this.#aside();
    this.#show(card);
    if (given && card.answer === null) this.drafts.keep(given);
    const answer = given?.answer ?? null;
    const said = this.drafts.keying && answer === "-" ? t("not found") : answer;
    if (said === null) this.view.say(t("Undone"));
    else this.view.say(...phrase("Undone: {answer}", { answer: isolated(said, "bdi", 80) }));
  }

  // The card that is shown comes again after another one.
  #aside() {
    if (this.card && this.card.answer === null && !this.trouble) this.supply.putBack(this.card);
    this.card = null;
  }

  async #back() {
    this.view.say(t("All saved"));
    if (!this.card && !this.busy) await this.next();
  }

  // Look whether the server is back, when there is no card left.
  async #again() {
    if (this.card || this.busy) return;
    const there = await this.supply.renew().catch(() => null);
    if (this.card || this.busy) return;
    if (there) await this.next();
    else setTimeout(() => this.#again(), 5000);
  }

  #renew() {
    if (this.card) this.supply.renew().catch(() => {});
    else if (!this.busy) this.next();
  }
}

function lastOf(standing) {
  const last = standing.at(-1);
  return last?.card && { id: last.id, card: last.card, given: last };
}
