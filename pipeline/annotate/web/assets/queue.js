// The queue of decisions that the server has not saved yet: stored in the browser, sent in order, retried.
//
// Fields of an entry: key, id, kind, answer, unsure, note, seconds; seen: the version that the user
// saw; after: the key of the queued entry that will create this version, or that this entry undoes; card: the
// card to show if the entry is rejected; trouble: why it was rejected. Sending an entry twice is harmless: the
// key is the same.

import { ServerUnavailable, RefusedRequest } from "./ask.js";
import { t } from "./messages.js";

const RETRY_SECONDS = [1, 2, 4, 8, 15, 30, 60];
const MAX_BATCH = 100;
const MAX_BATCH_LENGTH = 500_000;
const MAX_CARD_LENGTH = 2000;

export class Queue extends EventTarget {
  #sending = null;
  #retryTimer = null;
  #failures = 0;
  #oneByOne = false;
  #lastTime = 0;
  #callbacks = new Map(); // entry key to a function called with the outcome, or with null if the entry has to wait
  #lastVersions = new Map(); // card id to the version created by the last decision of this tab
  #ownKeys = new Set(); // keys of the entries that this tab made
  connectionError = null; // the error of the last attempt; null if it succeeded

  constructor(store, client) {
    super();
    this.store = store;
    this.client = client;
    store.addEventListener("changed", () => {
      if (this.waiting.length) this.#scheduleRetry(); // the other tab may close before it has sent its entries
      this.#dispatchChange();
    });
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => document.hidden || this.send());
  }

  // All stored entries, in the order of the decisions.
  #entries() {
    return this.store.names("w:").map((name) => ({ ...this.store.get(name), name }));
  }

  get waiting() {
    return this.#entries().filter((each) => !each.trouble);
  }

  get troubles() {
    return this.#entries().filter((each) => each.trouble);
  }

  // Queued decisions without those that a queued undo cancels.
  get pendingDecisions() {
    let stack = [];
    for (const each of this.waiting) {
      if (each.kind !== "undo") stack.push(each);
      else stack = stack.filter(({ key }) => key !== each.after);
    }
    return stack;
  }

  // Queued undos of decisions that the server has saved.
  get pendingUndos() {
    return this.waiting.filter(({ kind, after }) => kind === "undo" && !after);
  }

  // Store a decision in this browser and send it. It follows an entry of this tab, or the queued one that
  // the card shows; the user has not seen other ones. An undo follows what it undoes. `outcome` resolves to
  // the outcome from the server, or to null if the entry has to wait or was rejected.
  add(decision, card, undoneKey = null) {
    const seen = card ? Math.max(card.version, this.#lastVersions.get(card.id) ?? 0) : null;
    const entry = { key: newKey(), ...decision, seen };
    const isPrevious = decision.kind === "undo" ? ({ key }) => key === undoneKey
      : ({ id, key }) => id === entry.id && (this.#ownKeys.has(key) || key === card?.queuedKey);
    const previous = this.waiting.filter(isPrevious).at(-1);
    if (previous) entry.after = previous.key;
    this.#ownKeys.add(entry.key);
    entry.card = compactCard(card);
    this.#write(this.#newName(entry.key), entry);
    const outcome = new Promise((resolve) => this.#callbacks.set(entry.key, resolve));
    if (this.connectionError) {
      this.#resolve(entry.key, null);
      this.#scheduleRetry();
    } else {
      this.send();
    }
    this.#dispatchChange();
    return { entry, outcome };
  }

  // Send the queue; concurrent calls in this tab share one run.
  send() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    this.#sending ??= this.#sendAll();
    return this.#sending;
  }

  // Remove a rejected entry that the user has dealt with.
  drop(entry) {
    this.store.remove(entry.name);
    this.#dispatchChange();
  }

  async #sendAll() {
    await this.store.read(); // a closed tab may have left entries
    try {
      for (let batch = this.#nextBatch(); batch.length; batch = this.#nextBatch()) await this.#sendBatch(batch);
      this.#oneByOne = false;
      this.connectionError = null; // another tab may have sent the entries
      this.#sending = null;
    } catch (error) {
      this.#sending = null;
      if (!(error instanceof ServerUnavailable)) throw error;
      this.connectionError = error;
      this.#failures += 1;
      for (const key of this.#callbacks.keys()) this.#resolve(key, null);
      this.#scheduleRetry();
    }
    this.#dispatchChange();
  }

  async #sendBatch(batch) {
    try {
      const response = await this.client.post("decisions", { decisions: batch.map(toPayload) });
      const isReconnected = this.connectionError !== null;
      this.connectionError = null;
      this.#failures = 0;
      for (const outcome of response.outcomes) this.#applyOutcome(batch, { ...outcome, feedback: response.feedback?.[outcome.key] });
      if (response.progress) this.dispatchEvent(new CustomEvent("progress", { detail: response.progress }));
      if (isReconnected) this.dispatchEvent(new Event("reconnected"));
      this.#dispatchChange();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      if (error.finished) { // queued entries stay, and are sent if the person resumes
        this.dispatchEvent(new Event("finished"));
        throw new ServerUnavailable(error.message, true);
      }
      if (batch.length > 1) this.#oneByOne = true; // find the rejected entry
      else if (!this.#cancelIfUndone(batch[0])) this.#markTrouble(batch[0], { kind: "refused", why: error.message });
    }
  }

  #applyOutcome(batch, outcome) {
    const entry = batch.find((each) => each.key === outcome.key);
    if (!entry) return;
    const { status, standing } = outcome;
    const isSame = status === "stale" && standing.answer === entry.answer
      && standing.unsure === entry.unsure && standing.note === entry.note;
    if (["stale", "unknown"].includes(status) && this.#cancelIfUndone(entry)) {
      this.#resolve(entry.key, outcome);
    } else if (status === "unknown") {
      this.#markTrouble(entry, { kind: "refused", why: t("this card is not (or no longer) assigned to you") });
    } else if (status === "stale" && !isSame) {
      this.#markTrouble(entry, { kind: "stale", standing });
    } else {
      const isSaved = ["saved", "repeated"].includes(status) && outcome.id === (entry.id || outcome.id);
      this.#releaseDependents(entry, isSaved && entry.kind !== "skip" ? outcome.entry : entry.seen);
      this.store.remove(entry.name);
      if (this.#ownKeys.has(entry.key)) this.#lastVersions.set(outcome.id, standing.version);
      if (isSaved) this.dispatchEvent(new CustomEvent("settled", { detail: { id: outcome.id, kind: entry.kind } }));
      this.#resolve(entry.key, outcome);
    }
  }

  #resolve(key, outcome) {
    this.#callbacks.get(key)?.(outcome);
    this.#callbacks.delete(key);
  }

  // If a queued undo follows a rejected entry, remove both: the undo must not revert an earlier decision.
  #cancelIfUndone(entry) {
    const undo = this.waiting.find((each) => each.kind === "undo" && each.after === entry.key);
    if (!undo) return false;
    for (const each of [entry, undo]) {
      this.#releaseDependents(each, entry.seen);
      this.store.remove(each.name);
    }
    return true;
  }

  #markTrouble(entry, trouble) {
    this.#releaseDependents(entry, entry.seen);
    this.#write(entry.name, { ...entry, after: undefined, trouble });
    this.#resolve(entry.key, null);
  }

  // Entries that depend on this one now have the version that it created.
  #releaseDependents(entry, version) {
    for (const each of this.waiting.filter(({ after }) => after === entry.key)) {
      this.#write(each.name, { ...each, after: undefined, seen: version });
    }
  }

  // The first entries of the queue, up to one that depends on another entry of the batch.
  #nextBatch() {
    const keys = new Set();
    const batch = [];
    let length = 0;
    for (const each of this.waiting) {
      if (keys.has(each.after) || batch.length === (this.#oneByOne ? 1 : MAX_BATCH)) break;
      length += JSON.stringify(toPayload(each)).length;
      if (batch.length && length > MAX_BATCH_LENGTH) break;
      keys.add(each.key);
      batch.push(each);
    }
    return batch;
  }

  #write(name, { name: _, ...entry }) {
    return this.store.set(name, entry);
  }

  // Names sort after all stored ones, even if the system clock is set back.
  #newName(key) {
    const previous = Number(this.store.names("w:").at(-1)?.slice(2, 17) ?? 0);
    this.#lastTime = Math.max(Date.now() * 10, this.#lastTime + 1, previous + 1);
    return `w:${String(this.#lastTime).padStart(15, "0")}:${key}`;
  }

  #scheduleRetry() {
    if (this.#retryTimer !== null) return;
    const pause = RETRY_SECONDS[Math.min(this.#failures, RETRY_SECONDS.length) - 1] ?? 1;
    this.#retryTimer = setTimeout(() => this.send(), pause * 1000 * (0.8 + 0.4 * Math.random()));
  }

  #dispatchChange() {
    this.dispatchEvent(new Event("change"));
  }
}

function toPayload({ key, id, kind, answer, unsure, note, seconds, seen, suggested }) {
  const replaces = kind === "label" ? seen : null;
  return { key, id, kind, answer, unsure, note, seconds, replaces, ...(suggested ? { suggested } : {}) };
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

// Return what is needed to recognize a card; null if that is too large.
function compactCard(card) {
  if (!card) return null;
  const { id, place, units, answer, unsure, note, version } = card;
  const compact = { id, place, units, answer, unsure, note, version, examples: [], lexicon_forms: null };
  return JSON.stringify(compact).length <= MAX_CARD_LENGTH ? compact : null;
}
