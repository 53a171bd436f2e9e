// The sequence of cards: handles decisions, undo, and cards opened from lists.

import { ServerUnavailable } from "./ask.js";
import { Drafts } from "./drafts.js";
import { phrase, t } from "./messages.js";
import { isolated } from "./text.js";

const MIN_VISIBLE = 250; // milliseconds that a card must be visible before it accepts a decision
const MAX_SECONDS = 600;

// Counts the seconds that a card is visible; pauses while the tab is hidden.
class Clock {
  #elapsed = 0;
  #startTime = null;

  constructor() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#pause() : this.#resume()));
  }

  start() {
    this.#elapsed = 0;
    this.#startTime = null;
    if (!document.hidden) this.#resume();
  }

  get seconds() {
    const now = this.#startTime === null ? 0 : performance.now() - this.#startTime;
    return Math.min(MAX_SECONDS, Math.round(this.#elapsed + now) / 1000);
  }

  #resume() {
    this.#startTime ??= performance.now();
  }

  #pause() {
    if (this.#startTime !== null) this.#elapsed += performance.now() - this.#startTime;
    this.#startTime = null;
  }
}

export class Session extends EventTarget {
  card = null;
  trouble = null; // the rejected entry that this card shows
  busy = false;
  #showsFeedback = false; // whether feedback is visible
  #paintTime = null; // when the card was painted; null before
  #history = []; // decisions of this page, for undo: {card, entry, isRejected}; card: as it was before
  #progress = null; // the latest progress from the server
  #run = 0; // the number of the last call of `next`
  #clock = new Clock();

  constructor({ work, client, queue, supply, view, store }) {
    super();
    Object.assign(this, { work, client, queue, supply, view });
    this.drafts = new Drafts(store, view, work.kind === "keying");
    queue.addEventListener("progress", ({ detail }) => this.#showProgress(detail));
    queue.addEventListener("reconnected", () => this.#handleReconnect());
    queue.addEventListener("change", () => this.#handleChange());
    store.addEventListener("undone", ({ detail }) => this.#handleRemoteUndo(detail));
    document.addEventListener("visibilitychange", () => document.hidden || this.#refresh());
  }

  async start() {
    await this.queue.send();
    if (!this.card) await this.next();
  }

  // Save the answer for the card and show the next card at once; the server is notified in the background.
  decide(answer) {
    return this.#runExclusively(async () => {
      const { card, trouble } = this;
      const decision = { id: card.id, kind: "label", answer, ...this.drafts.values, seconds: this.#clock.seconds };
      if (card.suggestion) decision.suggested = card.suggestion;
      if (trouble) this.queue.drop(trouble);
      this.view.flash(answer);
      await (this.training ? this.#giveFeedback(decision, card) : this.#enqueue(decision, card));
    });
  }

  get training() {
    return this.work.round === "training";
  }

  // Save the note of a card that already has an answer, and stay on the card. The note of a rejected
  // decision is saved when the user chooses again.
  async saveNote() {
    const { card } = this;
    if (!card || this.trouble || card.answer === null || this.drafts.values.note === card.note) return;
    const { note } = this.drafts.values;
    const decision = { id: card.id, kind: "label", answer: card.answer, unsure: card.unsure, note, seconds: null };
    const previous = { ...card };
    const { entry, outcome } = this.queue.add(decision, previous);
    this.#history.push({ card: previous, entry });
    card.note = note;
    this.drafts.discard(card.id);
    this.drafts.showHint(card);
    this.view.showAnswer(card);
    const response = await outcome;
    if (this.card === card) this.view.say(response ? t("Note saved") : t("Note not saved yet"));
  }

  skip() {
    return this.#runExclusively(async () => {
      const { card } = this;
      if (this.training) this.view.say(t("The training round has no undo and no skip."));
      else if (this.trouble) this.view.say(t("Choose again, or leave it unchanged"));
      else if (card.answer !== null) await this.#leaveCard(); // its answer does not change
      else await this.#enqueue({ id: card.id, kind: "skip", answer: null, ...this.drafts.values, seconds: this.#clock.seconds }, card);
    });
  }

  undo() {
    return this.#runExclusively(async () => {
      if (this.training) return this.view.say(t("The training round has no undo and no skip."));
      const count = this.#history.length;
      this.drafts.leaveNote();
      if (this.#history.length > count) return undefined; // a note was saved, which nobody meant to undo
      const last = this.#takeLast();
      const trouble = this.queue.troubles.find(({ key }) => key === last?.entry.key);
      if (trouble) { // the server does not have this decision
        const card = await this.#fetchCard(trouble);
        this.queue.drop(trouble);
        this.#restoreCard(card, trouble);
        return undefined;
      }
      const decision = { id: last?.card.id ?? "", kind: "undo", answer: null, unsure: false, note: "", seconds: null };
      const { entry, outcome } = this.queue.add({ ...decision, undoes: last?.entry.kind }, last?.card ?? null, last?.entry.key);
      if (last) {
        this.#restoreCard(last.card, last.entry);
        this.#reportUndo(entry, outcome, last);
        return undefined;
      }
      const response = await outcome;
      const refusal = this.queue.troubles.find(({ key }) => key === entry.key);
      if (refusal) this.#reportRefusedUndo(refusal);
      else if (response?.status === "nothing") this.view.say(t("Nothing to undo"));
      else if (response) await this.#restoreUndone(response);
      else this.view.say(t("Undo will be sent when the server is back"));
      return undefined;
    }, false);
  }

  // Show a card that the user selected in a list.
  open(card) {
    if (this.busy) return;
    this.#putCardBack();
    this.view.say("");
    this.#showCard(card);
  }

  // Leave a rejected card unchanged.
  async leave() {
    if (this.trouble) this.queue.drop(this.trouble);
    await this.#leaveCard();
  }

  async #leaveCard() {
    this.drafts.leaveNote();
    this.view.say("");
    await this.next();
  }

  // Show the next card, unless the user opens one meanwhile; a later call replaces an earlier one.
  async next() {
    const run = (this.#run += 1);
    const isCurrent = () => run === this.#run && !this.card;
    this.card = null;
    this.trouble = null;
    this.supply.shownId = null;
    this.drafts.close();
    let trouble = this.#nextTrouble();
    let card = trouble ? null : this.supply.take();
    let failure = "";
    if (!trouble && !card) {
      if (!this.queue.connectionError) await this.queue.send(); // the next card depends on the decisions that the server has saved
      try {
        this.#showProgress(await this.supply.refresh());
      } catch (error) {
        failure = error.message;
      }
      if (!isCurrent()) return;
      trouble = this.#nextTrouble();
      card = trouble || failure ? null : this.supply.take();
    }
    if (trouble) {
      card = await this.#fetchCard(trouble);
      if (isCurrent()) this.#showTrouble(trouble, card);
    } else if (card) this.#showCard(card);
    else if (this.training && !failure && !this.queue.waiting.length) await this.#finishTraining();
    else this.view.showNoCard(this, failure);
    if (failure) setTimeout(() => this.#retry(), 5000);
  }

  // Return the first rejected entry that the user has to look at.
  #nextTrouble() {
    for (const undo of this.queue.troubles.filter(({ kind }) => kind === "undo")) this.#reportRefusedUndo(undo);
    return this.queue.troubles[0];
  }

  // Run one action at a time, and none on a card that appeared too recently to have been read.
  async #runExclusively(action, needsCard = true) {
    if (needsCard && !this.card && !this.busy) return;
    if (this.#showsFeedback) {
      this.view.focusContinue();
      return;
    }
    if (this.busy || (this.card && !(performance.now() - (this.#paintTime ?? Infinity) >= MIN_VISIBLE))) {
      this.view.showRefusal();
      return;
    }
    this.busy = true;
    try {
      await action();
    } finally {
      this.busy = false;
    }
  }

  async #enqueue(decision, card) {
    const { entry, outcome } = this.queue.add(decision, card);
    this.#history.push({ card, entry });
    this.drafts.discard(card.id);
    this.supply.recordDecision(card.id, { skipped: decision.kind === "skip" });
    this.#reportOutcome(entry, outcome, decision);
    await this.next();
  }

  // In the training round: show the correct answer until the user continues.
  async #giveFeedback(decision, card) {
    const { outcome } = this.queue.add(decision, card);
    this.drafts.discard(card.id);
    this.supply.recordDecision(card.id);
    const response = await outcome;
    if (response?.feedback) {
      this.#showsFeedback = true;
      await this.view.showFeedback(decision.answer, response.feedback);
      this.#showsFeedback = false;
    } else {
      this.view.say(t("Not saved yet: there is no feedback while the server is unreachable"));
    }
    await this.next();
  }

  // Show the result of the training round.
  async #finishTraining() {
    const result = await this.client.training();
    this.view.showTrainingResult(result, async () => {
      if (!result.passed) await this.client.post("training", {});
      location.reload();
    });
  }

  // Report the outcome of a decision, unless there is a later message.
  async #reportOutcome(entry, outcome, { kind, answer }) {
    let messageNumber = this.view.say("");
    const say = (...children) => {
      if (this.view.messageNumber === messageNumber) messageNumber = this.view.say(...children);
    };
    const timer = setTimeout(() => say(t("Saving …")), 1000);
    const response = await outcome;
    clearTimeout(timer);
    const values = { answer: isolated(this.drafts.keying && answer === "-" ? t("not found") : answer ?? "", "bdi", 80) };
    const isWaiting = this.queue.waiting.some(({ key }) => key === entry.key);
    if (kind === "skip") say(isWaiting ? t("Not saved yet: set aside") : t("Set aside"));
    else if (isWaiting) say(...phrase("Not saved yet: {answer}", values));
    else if (response && ["saved", "repeated"].includes(response.status)) say(...phrase("Saved: {answer}", values));
  }

  async #reportUndo(entry, outcome, last) {
    const response = await outcome;
    const refusal = this.queue.troubles.find(({ key }) => key === entry.key);
    if (refusal) this.#reportRefusedUndo(refusal);
    else if (response?.status === "nothing") this.view.say(t("Not undone: another window has decided since"));
    else if (response) this.queue.store.broadcast({ kind: "undone", id: last.card.id, units: last.card.units });
    const isUndone = response && response.status !== "nothing" && !refusal;
    if (this.card?.id !== last.card.id || !(response || refusal)) return;
    const standing = isUndone ? response.standing : await this.client.card(last.card.id).catch(() => null);
    if (this.card?.id !== last.card.id || !standing) return;
    Object.assign(this.card, standing);
    this.view.showAnswer(this.card);
  }

  // Take the last decision of this page that can be undone, or the last queued one, from the history.
  #takeLast() {
    const rejectedKeys = this.queue.troubles.map(({ key }) => key);
    this.#history = this.#history.filter(({ entry, isRejected }) => !isRejected || rejectedKeys.includes(entry.key));
    return this.#history.pop() ?? lastDecision(this.queue.pendingDecisions);
  }

  // A rejected decision cannot be undone once the user has dealt with it, in this window or another.
  #markRejected() {
    const rejectedKeys = this.queue.troubles.map(({ key }) => key);
    for (const each of this.#history) each.isRejected ||= rejectedKeys.includes(each.entry.key);
  }

  // Return the card of a rejected entry.
  async #fetchCard(entry) {
    const serverCard = entry.id && (await this.client.card(entry.id).catch(() => null));
    const standing = entry.trouble.standing ?? {};
    const placeholder = { id: entry.id, units: [["id", entry.id]], answer: null, unsure: false, note: "", version: 0, examples: [] };
    return serverCard || (entry.card && { ...entry.card, ...standing }) || placeholder;
  }

  #showTrouble(entry, card) {
    this.#showCard(card);
    this.drafts.fill(entry);
    this.trouble = entry;
    this.queue.dispatchEvent(new Event("change")); // the page counts one rejected entry less
    this.view.showTrouble(entry, card);
    this.#update();
  }

  #showCard(card) {
    this.drafts.close();
    this.card = { answer: null, unsure: false, ...card, note: (card.note ?? "").replace(/\r\n?/g, "\n") }; // as in the field
    this.trouble = null;
    this.supply.shownId = card.id;
    this.#paintTime = null;
    this.view.showTrouble(null);
    this.view.showCard(this.card);
    this.drafts.open(this.card);
    this.#clock.start();
    const shownCard = this.card;
    requestAnimationFrame(() => setTimeout(() => { // the frame with the card has been painted
      if (this.card !== shownCard) return;
      this.#paintTime = performance.now();
      setTimeout(() => this.card === shownCard && this.view.markReady(), MIN_VISIBLE);
    }));
  }

  // Show the progress, including decisions that are not saved yet.
  #showProgress(progress = this.#progress) {
    if (!progress) return;
    this.#progress = progress;
    const isOpen = ({ card }) => card && card.answer === null;
    const open = this.queue.pendingDecisions.filter(isOpen);
    const undone = this.queue.pendingUndos.filter(isOpen);
    const labels = new Set(open.filter(({ kind }) => kind === "label").map(({ id }) => id));
    const aside = new Set(open.filter(({ kind, id }) => kind === "skip" && !labels.has(id)).map(({ id }) => id));
    const count = (kind) => undone.filter(({ undoes }) => undoes === kind).length;
    const { asked } = progress;
    const done = progress.done + labels.size - count("label");
    this.view.showProgress({ asked, done, aside: Math.max(0, progress.aside + aside.size - count("skip")) });
    this.dispatchEvent(new CustomEvent("progress", { detail: done }));
  }

  async #restoreUndone({ id, standing }) {
    const card = await this.client.card(id).catch((error) => {
      if (!(error instanceof ServerUnavailable)) throw error;
      return null;
    });
    this.queue.store.broadcast({ kind: "undone", id, units: card?.units ?? [] });
    if (card) this.#restoreCard({ ...card, ...standing }, null);
    else this.view.say(t("Undone; the card returns when the server is back"));
  }

  #handleRemoteUndo({ id, units }) {
    this.#history = this.#history.filter(({ card }) => card.id !== id);
    const pair = isolated(units.map(([, text]) => text).join(" · "), "bdi", 120);
    this.view.say(...phrase("Another window has undone: {pair}", { pair }));
    this.#update();
  }

  // A rejected undo changes nothing, so it is dropped.
  #reportRefusedUndo(entry) {
    this.queue.drop(entry);
    this.view.say(...phrase("Not undone: {why}", { why: isolated(entry.trouble.why) }));
  }

  // Show a card again after its last decision, if known, was undone.
  #restoreCard(card, decision) {
    this.supply.recordDecision(card.id, { undone: true });
    this.#putCardBack();
    this.#showCard(card);
    if (decision && card.answer === null) this.drafts.restore(decision);
    const answer = decision?.answer ?? null;
    const text = this.drafts.keying && answer === "-" ? t("not found") : answer;
    if (text === null) this.view.say(t("Undone"));
    else this.view.say(...phrase("Undone: {answer}", { answer: isolated(text, "bdi", 80) }));
  }

  // Put the current card back, so that it is shown again after the next one.
  #putCardBack() {
    this.drafts.leaveNote();
    if (this.card && this.card.answer === null && !this.trouble) this.supply.putBack(this.card);
    this.card = null;
  }

  // Fetch the progress and the cards to come.
  #update() {
    this.supply.refresh().then((progress) => this.#showProgress(progress)).catch(() => {});
  }

  // A rejected decision is shown at once if no card is open.
  #handleChange() {
    this.#markRejected();
    this.#showProgress();
    if (!this.card && !this.busy && this.queue.troubles.some(({ kind }) => kind !== "undo")) this.next();
  }

  async #handleReconnect() {
    this.view.say(t("All saved"));
    if (!this.card && !this.busy) await this.next();
  }

  // Without a card, check every few seconds whether the server is reachable again.
  async #retry() {
    if (this.card || this.busy) return;
    const progress = await this.supply.refresh().catch(() => null);
    if (this.card || this.busy) return;
    if (progress) await this.next();
    else setTimeout(() => this.#retry(), 5000);
  }

  #refresh() {
    if (this.card) this.#update();
    else if (!this.busy) this.next();
  }
}

function lastDecision(decisions) {
  const last = decisions.at(-1);
  return last?.card && { card: last.card, entry: last };
}
