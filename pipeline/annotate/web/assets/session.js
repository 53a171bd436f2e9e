// One card after another: what a decision, an undo, an opened card lead to.

import { Away } from "./ask.js";
import { Clock } from "./clock.js";
import { Drafts } from "./drafts.js";
import { rest } from "./rest.js";
import { isolated } from "./text.js";
import { troubled } from "./troubles.js";

export class Session {
  card = null;
  trouble = null; // the entry that this card was opened for
  busy = false;
  #known = new Map(); // cards that were shown here, as they stood
  #clock = new Clock();
  #noting = null; // a note that is being saved; what is pressed meanwhile comes after it

  constructor({ work, ask, queue, supply, view, store }) {
    Object.assign(this, { work, ask, queue, supply, view });
    this.drafts = new Drafts(store, view, work.kind === "keying");
    queue.addEventListener("progress", ({ detail }) => view.progress(detail));
    queue.addEventListener("back", () => this.#back());
    document.addEventListener("visibilitychange", () => document.hidden || this.#renew());
  }

  async start() {
    await this.queue.send();
    await this.next();
  }

  // Save what is chosen for the card, and go on.
  async decide(answer) {
    await this.#alone(async () => {
      const { card, trouble } = this;
      const given = { id: card.id, kind: "label", answer, ...this.drafts.given, seconds: this.#clock.seconds };
      const { entry, outcome } = await this.queue.add(given, card);
      if (trouble) this.queue.drop(trouble);
      this.drafts.forget(card.id);
      this.#keep({ ...card, answer, unsure: given.unsure, note: given.note }, entry, outcome);
      this.supply.act(card.id);
      await this.#on(entry, outcome, answer === "-" && this.drafts.keying ? "not found" : answer);
    });
  }

  // Save the note of a card that is decided, and stay.
  saveNote() {
    const { card } = this;
    if (!card || this.busy || card.answer === null || this.drafts.given.note === card.note) return;
    this.#noting = this.#alone(async () => {
      const { note } = this.drafts.given;
      const given = { id: card.id, kind: "label", answer: card.answer, unsure: card.unsure, note, seconds: null };
      const { entry, outcome } = await this.queue.add(given, card);
      if (outcome?.status === "stale") return this.next();
      this.#keep({ ...card, note }, entry, outcome);
      this.card = this.#known.get(card.id);
      this.drafts.forget(card.id);
      this.view.stands(this.card);
      this.view.say(outcome ? "Note saved" : "Note not saved yet");
      return undefined;
    }).finally(() => {
      this.#noting = null;
    });
  }

  async skip() {
    await this.#alone(async () => {
      const { card } = this;
      if (this.trouble) return this.view.say("Choose again, or leave it unchanged");
      if (card.answer !== null) return this.next(); // it stays as it stands
      const given = { id: card.id, kind: "skip", answer: null, unsure: false, note: "", seconds: this.#clock.seconds };
      const { entry, outcome } = await this.queue.add(given, card);
      this.supply.act(card.id, { skipped: true });
      return this.#on(entry, outcome, null);
    });
  }

  async undo() {
    await this.#alone(async () => {
      const target = this.queue.standing.at(-1);
      const given = { id: target?.id ?? "", kind: "undo", answer: null, unsure: false, note: "", seconds: null };
      const before = target && (this.#known.get(target.id)?.was ?? target.card);
      const { entry, outcome } = await this.queue.add(given, target?.card ?? null);
      const refused = this.queue.troubles.find(({ key }) => key === entry.key);
      if (refused) this.#notTakenBack(refused);
      else if (outcome?.status === "nothing") this.view.say("Nothing to undo");
      else if (outcome) await this.#undone(outcome);
      else if (before) this.#takenBack(before, target.answer, target);
      else this.view.say("Undo will be sent when the server is back");
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
    this.trouble = null;
    this.card = null;
    await this.next();
  }

  async next() {
    this.card = null;
    this.supply.shown = null;
    for (const each of this.queue.troubles.filter(({ kind }) => kind === "undo")) this.#notTakenBack(each);
    const trouble = this.queue.troubles[0];
    if (trouble) return this.#troubled(trouble);
    let card = this.supply.take();
    let away = "";
    if (!card) {
      try {
        this.view.progress(await this.supply.renew());
        card = this.supply.take();
      } catch (error) {
        away = error.message;
      }
    }
    if (card) this.#show(card);
    else rest(this, away);
    if (away) setTimeout(() => this.#again(), 5000);
    return undefined;
  }

  async #troubled(entry) {
    const there = entry.id && (await this.ask.card(entry.id).catch(() => null));
    const standing = entry.trouble.standing ?? {};
    const card = there || (entry.card && { ...entry.card, ...standing }) || { id: entry.id, units: [["id", entry.id]], answer: null, unsure: false, note: "", version: 0, examples: [] };
    this.#show(card);
    this.drafts.set(entry);
    this.trouble = entry;
    this.queue.dispatchEvent(new Event("change")); // one less is to come
    this.view.trouble(troubled(entry, card, this.drafts.keying));
    this.supply.renew().catch(() => {});
  }

  #show(card) {
    this.card = { answer: null, unsure: false, note: "", ...card };
    this.trouble = null;
    this.supply.shown = card.id;
    this.view.trouble(null);
    this.view.card(this.card);
    this.drafts.open(this.card);
    this.#clock.start();
  }

  // Do one thing at a time; without a card only what needs none.
  async #alone(act, needsCard = true) {
    await this.#noting;
    if (this.busy || (needsCard && !this.card)) return;
    this.busy = true;
    const slow = setTimeout(() => this.view.say("Saving …"), 300);
    this.view.busy(true);
    try {
      await act();
    } finally {
      clearTimeout(slow);
      this.busy = false;
      this.view.busy(false);
    }
  }

  // Remember how a card stands, and how it stood before.
  #keep(card, entry, outcome) {
    const version = outcome?.standing?.version ?? card.version;
    this.#known.set(card.id, { ...card, version, was: this.card });
  }

  #on(entry, outcome, answer) {
    const what = answer === null ? ["Set aside"] : ["Saved: ", isolated(answer, "bdi", 80)];
    const waits = this.queue.waiting.some(({ key }) => key === entry.key);
    if (waits) this.view.say("Not saved yet: ", answer === null ? "set aside" : isolated(answer, "bdi", 80));
    else if (outcome && ["saved", "repeated"].includes(outcome.status)) this.view.say(...what);
    else this.view.say("");
    return this.next();
  }

  async #undone({ id, standing }) {
    const known = this.#known.get(id);
    const fetched = await this.ask.card(id).catch((error) => {
      if (!(error instanceof Away)) throw error;
      return known ? { ...known, ...standing } : null;
    });
    if (fetched) this.#takenBack(fetched, known?.answer ?? null, known);
    else this.view.say("Undone; the card returns when the server is back");
  }

  // Nothing is lost with an undo that was refused: all stays as it stands.
  #notTakenBack(entry) {
    this.queue.drop(entry);
    this.view.say("Not undone: ", isolated(entry.trouble.why));
  }

  #takenBack(card, answer, given) {
    this.supply.act(card.id, { undone: true });
    this.#known.delete(card.id);
    this.#aside();
    this.#show(card);
    if (given && card.answer === null) this.drafts.keep(given);
    const said = this.drafts.keying && answer === "-" ? "not found" : answer;
    this.view.say("Undone", ...(said === null || said === undefined ? [] : [": ", isolated(said, "bdi", 80)]));
  }

  // The card that is shown comes again after another one.
  #aside() {
    if (this.card && this.card.answer === null && !this.trouble) this.supply.putBack(this.card);
    this.card = null;
  }

  async #back() {
    this.view.say("All saved");
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
