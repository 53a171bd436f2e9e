// Decisions until the server has saved them: kept in the browser, sent in their order, sent again.
//
// An entry: key, id, kind, answer, unsure, note, seconds; seen: the version that was on the screen;
// after: the key of an entry that still waits and makes the version; card: what is shown if it
// comes back; trouble: why it was not taken. Sending twice is harmless, the key is the same.

import { Away, Refused } from "./ask.js";

const PAUSES = [1, 2, 4, 8, 15, 30, 60];
const MOST = 100;
const LONGEST = 500_000;
const SMALL = 2000;

export class Queue extends EventTarget {
  #flight = null;
  #timer = null;
  #failures = 0;
  #alone = false;
  #last = 0;
  #outcomes = new Map(); // of decisions that somebody here waits for
  why = ""; // the server is away, and this is how

  constructor(store, ask) {
    super();
    this.store = store;
    this.ask = ask;
    store.watch(() => this.#changed());
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => document.hidden || this.send());
  }

  // All that is kept, in the order of deciding.
  #all() {
    return this.store.names("w:").map((name) => ({ ...this.store.get(name), name })).filter((each) => each.key);
  }

  get waiting() {
    return this.#all().filter((each) => !each.trouble);
  }

  get troubles() {
    return this.#all().filter((each) => each.trouble);
  }

  // What waits and is not taken back by an undo that waits too.
  get standing() {
    const stack = [];
    for (const each of this.waiting) {
      if (each.kind !== "undo") stack.push(each);
      else if (stack.length && stack.at(-1).id === each.id) stack.pop();
    }
    return stack;
  }

  // Add a decision; its outcome, or null if it has to wait, or if it is in trouble.
  async add(given, card) {
    const entry = { key: newKey(), ...given, seen: card?.version ?? null };
    const before = this.waiting.filter((each) => each.id && each.id === entry.id).at(-1);
    if (before) entry.after = before.key;
    entry.card = small(card);
    this.#put(this.#next(entry.key), entry);
    if (this.why) {
      this.#changed();
      this.#later();
      return { entry, outcome: null };
    }
    this.#outcomes.set(entry.key, null);
    await this.send();
    const outcome = this.#outcomes.get(entry.key);
    this.#outcomes.delete(entry.key);
    return { entry, outcome };
  }

  // Send what waits; at most one sends in this tab.
  send() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#flight ??= this.#run();
    return this.#flight;
  }

  // Forget an entry in trouble: somebody has seen it and decided anew.
  drop(entry) {
    this.store.remove(entry.name);
    this.#changed();
  }

  async #run() {
    await null; // whoever called has noted the flight
    try {
      for (let batch = this.#batch(); batch.length; batch = this.#batch()) await this.#post(batch);
      this.#alone = false;
      if (!this.waiting.length) this.why = ""; // another tab may have sent them
      this.#flight = null;
    } catch (error) {
      this.#flight = null;
      if (!(error instanceof Away)) throw error;
      this.why = error.message;
      this.#failures += 1;
      this.#later();
    }
    this.#changed();
  }

  async #post(batch) {
    try {
      const reply = await this.ask.post(batch.map(sent));
      const wasAway = this.why !== "";
      this.why = "";
      this.#failures = 0;
      for (const outcome of reply.outcomes) this.#settle(batch, outcome);
      if (reply.progress) this.dispatchEvent(new CustomEvent("progress", { detail: reply.progress }));
      if (wasAway) this.dispatchEvent(new Event("back"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (batch.length > 1) this.#alone = true; // to find the one
      else if (!this.#cancelled(batch[0])) this.#trouble(batch[0], { kind: "refused", why: error.message });
    }
  }

  #settle(batch, outcome) {
    const entry = batch.find((each) => each.key === outcome.key);
    if (!entry) return;
    if (this.#outcomes.has(entry.key)) this.#outcomes.set(entry.key, outcome);
    const { status, standing } = outcome;
    const same = status === "stale" && standing.answer === entry.answer
      && standing.unsure === entry.unsure && standing.note === entry.note;
    if (["stale", "unknown"].includes(status) && this.#cancelled(entry)) return;
    if (status === "unknown") {
      this.#trouble(entry, { kind: "refused", why: "this card is not (or no longer) assigned to you" });
    } else if (status === "stale" && !same) {
      this.#trouble(entry, { kind: "stale", standing });
    } else {
      const made = ["saved", "repeated"].includes(status) && outcome.id === (entry.id || outcome.id);
      this.#release(entry, made && entry.kind !== "skip" ? outcome.entry : entry.seen);
      this.store.remove(entry.name);
    }
  }

  // What was not taken and is taken back is done with: the undo must not reach what was before.
  #cancelled(entry) {
    const undo = this.waiting.find((each) => each.kind === "undo" && each.after === entry.key);
    if (!undo) return false;
    for (const each of [entry, undo]) {
      this.#release(each, entry.seen);
      this.store.remove(each.name);
    }
    return true;
  }

  #trouble(entry, trouble) {
    this.#release(entry, entry.seen);
    this.#put(entry.name, { ...entry, after: undefined, trouble });
  }

  // What was decided upon an entry has seen the version that it made.
  #release(entry, version) {
    for (const each of this.waiting.filter(({ after }) => after === entry.key)) {
      this.#put(each.name, { ...each, after: undefined, seen: version });
    }
  }

  // From the first on, up to what rests on something that is still to be sent.
  #batch() {
    const keys = new Set();
    const batch = [];
    let length = 0;
    for (const each of this.waiting) {
      if (keys.has(each.after) || batch.length === (this.#alone ? 1 : MOST)) break;
      length += JSON.stringify(sent(each)).length;
      if (batch.length && length > LONGEST) break;
      keys.add(each.key);
      batch.push(each);
    }
    return batch;
  }

  #put(name, { name: _, ...entry }) {
    this.store.set(name, entry);
    if (entry.card && !this.store.lasting) this.store.set(name, { ...entry, card: null });
  }

  // Later than all that is kept, whatever the clock does.
  #next(key) {
    const before = Number(this.store.names("w:").at(-1)?.slice(2, 17) ?? 0);
    this.#last = Math.max(Date.now() * 10, this.#last + 1, before + 1);
    return `w:${String(this.#last).padStart(15, "0")}:${key}`;
  }

  #later() {
    if (this.#timer !== null) return;
    const pause = PAUSES[Math.min(this.#failures, PAUSES.length) - 1] ?? 1;
    this.#timer = setTimeout(() => this.send(), pause * 1000 * (0.8 + 0.4 * Math.random()));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function sent({ key, id, kind, answer, unsure, note, seconds, seen }) {
  const undo = kind === "undo";
  return { key, id: undo ? "" : id, kind, answer, unsure, note, seconds, replaces: kind === "label" ? seen : null };
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

// Enough to know a card by, if it is small.
function small(card) {
  if (!card) return null;
  const { id, place, units, answer, unsure, note, version } = card;
  const kept = { id, place, units, answer, unsure, note, version, examples: [], lexicon_forms: null };
  return JSON.stringify(kept).length <= SMALL ? kept : null;
}
