// The server's answers; it is away if there is none in time, or if it says that it cannot.

const PATIENCE = 5000;

export class Away extends Error {}

// The server understood, and does not take it: sending it again would not help.
export class Refused extends Error {}

const FINAL = new Set([400, 409, 413, 415, 422]);

export class Ask {
  constructor(work) {
    this.address = work.address;
    this.round = work.round === "adjudication" ? { round: "adjudication" } : {};
  }

  cards(most) {
    return this.#get("cards", { most });
  }

  async card(id) {
    return (await this.#get(`cards/${encodeURIComponent(id)}`)).card;
  }

  async recent(most) {
    return (await this.#get("recent", { most })).cards;
  }

  async search(text) {
    return (await this.#get("search", { text })).cards;
  }

  post(decisions) {
    return this.#fetch("decisions", {}, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ decisions }),
    });
  }

  #get(path, given = {}) {
    return this.#fetch(path, given, {});
  }

  async #fetch(path, given, options) {
    const query = new URLSearchParams({ ...given, ...this.round }).toString();
    const address = `${this.address}/${path}${query && `?${query}`}`;
    const { status, ok, body } = await answer(address, options);
    if (ok && body) return body;
    const why = typeof body?.error === "string" ? body.error : `the server answered ${status}`;
    throw FINAL.has(status) ? new Refused(why) : new Away(why);
  }
}

async function answer(address, options) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  let reply;
  try {
    reply = await fetch(address, { ...options, cache: "no-store", signal: stop.signal });
    const body = await reply.json().catch((error) => {
      if (stop.signal.aborted) throw error;
      return null;
    });
    return { status: reply.status, ok: reply.ok, body };
  } catch {
    throw new Away(stop.signal.aborted ? "no answer within 5 seconds" : "it cannot be reached");
  } finally {
    clearTimeout(timer);
  }
}
