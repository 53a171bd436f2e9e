// Decisions until the server has saved them: kept in the browser, sent in their order, sent again.
//
// An entry: key, id, kind, answer, unsure, note, seconds; seen: the version that was on the screen;
// after: the key of an entry that still waits and makes the version; card: what is shown if it
// comes back; trouble: why it was not taken. Sending twice is harmless, the key is the same.

import { Away, Refused } from "./ask.js";
import { t } from "./messages.js";

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
  #followed = new Map(); // key to what is called with the outcome, or with null while it waits
  #versions = new Map(); // id to the version that the last decision from here made
  away = null; // why the last attempt failed

  constructor(store, ask) {
    super();
    this.store = store;
    this.ask = ask;
    store.addEventListener("changed", () => {
      if (this.waiting.length) this.#later(); // the other tab may be closed before it sends
      this.#changed();
    });
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => document.hidden || this.send());
  }

  // All that is kept, in the order of deciding.
  #all() {
    return this.store.names("w:").map((name) => ({ ...this.store.get(name), name }));
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

  // Keep a decision on this browser's disk and send it. `outcome` resolves when the server has answered:
  // with null if it has to wait, or was not taken.
  add(given, card) {
    const seen = card ? Math.max(card.version, this.#versions.get(card.id) ?? 0) : null;
    const entry = { key: newKey(), ...given, seen };
    const before = this.waiting.filter((each) => each.id && each.id === entry.id).at(-1);
    if (before) entry.after = before.key;
    entry.card = small(card);
    this.#put(this.#next(entry.key), entry);
    const outcome = new Promise((resolve) => this.#followed.set(entry.key, resolve));
    if (this.away) {
      this.#give(entry.key, null);
      this.#later();
    } else {
      this.send();
    }
    this.#changed();
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
    await this.store.read(); // a tab that was closed may have left something
    try {
      for (let batch = this.#batch(); batch.length; batch = this.#batch()) await this.#post(batch);
      this.#alone = false;
      this.away = null; // another tab may have sent them
      this.#flight = null;
    } catch (error) {
      this.#flight = null;
      if (!(error instanceof Away)) throw error;
      this.away = error;
      this.#failures += 1;
      for (const key of this.#followed.keys()) this.#give(key, null);
      this.#later();
    }
    this.#changed();
  }

  async #post(batch) {
    try {
      const reply = await this.ask.post("decisions", { decisions: batch.map(sent) });
      const back = this.away !== null;
      this.away = null;
      this.#failures = 0;
      for (const outcome of reply.outcomes) this.#settle(batch, { ...outcome, feedback: reply.feedback?.[outcome.key] });
      if (reply.progress) this.dispatchEvent(new CustomEvent("progress", { detail: reply.progress }));
      if (back) this.dispatchEvent(new Event("back"));
      this.#changed();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.finished) { // what waits is kept, and sent if the person goes on
        this.dispatchEvent(new Event("finished"));
        throw new Away(error.message, true);
      }
      if (batch.length > 1) this.#alone = true; // to find the one
      else if (!this.#cancelled(batch[0])) this.#trouble(batch[0], { kind: "refused", why: error.message });
    }
  }

  #settle(batch, outcome) {
    const entry = batch.find((each) => each.key === outcome.key);
    if (!entry) return;
    const { status, standing } = outcome;
    const same = status === "stale" && standing.answer === entry.answer
      && standing.unsure === entry.unsure && standing.note === entry.note;
    if (["stale", "unknown"].includes(status) && this.#cancelled(entry)) {
      this.#give(entry.key, outcome);
    } else if (status === "unknown") {
      this.#trouble(entry, { kind: "refused", why: t("this card is not (or no longer) assigned to you") });
    } else if (status === "stale" && !same) {
      this.#trouble(entry, { kind: "stale", standing });
    } else {
      const made = ["saved", "repeated"].includes(status) && outcome.id === (entry.id || outcome.id);
      this.#release(entry, made && entry.kind !== "skip" ? outcome.entry : entry.seen);
      this.store.remove(entry.name);
      this.#versions.set(outcome.id, standing.version);
      if (made) this.dispatchEvent(new CustomEvent("settled", { detail: { id: outcome.id, kind: entry.kind } }));
      this.#give(entry.key, outcome);
    }
  }

  #give(key, outcome) {
    this.#followed.get(key)?.(outcome);
    this.#followed.delete(key);
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
    this.#give(entry.key, null);
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
    return this.store.set(name, entry);
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

function sent({ key, id, kind, answer, unsure, note, seconds, seen, suggested }) {
  const replaces = kind === "label" ? seen : null;
  return { key, id, kind, answer, unsure, note, seconds, replaces, ...(suggested ? { suggested } : {}) };
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
