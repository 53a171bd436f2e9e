// The server's answers.

import { t } from "./messages.js";

const PATIENCE = 5000;
const FINAL = new Set([400, 409, 413, 415, 422]);

// No answer, or one that says "later": what was sent is kept and sent again.
export class Away extends Error {
  constructor(why, answered = false) {
    super(why);
    this.answered = answered;
  }
}

// The server understood, and does not take it: sending it again would not help.
export class Refused extends Error {
  constructor(why, finished) {
    super(why);
    this.finished = finished; // the person's part has ended
  }
}

export class Ask {
  constructor(work) {
    this.address = work.address;
    this.round = work.round === "annotation" ? {} : { round: work.round };
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

  search(text) {
    return this.#get("search", { text });
  }

  training() {
    return this.#get("training");
  }

  post(path, body) {
    return this.#fetch(path, {}, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
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
    const own = typeof body?.error === "string";
    const why = own ? t(body.error) : foreign(status);
    throw own && FINAL.has(status) ? new Refused(why, body.finished === true) : new Away(why, true);
  }
}

// Every error of the server itself is JSON: any other comes from a proxy or a firewall between.
function foreign(status) {
  if (status === 403) return t("A proxy or a firewall refused the request (403). Tell the coordinator.");
  if (status === 401 || status === 407) return t("A proxy asks for a login ({status}). Reload the page to log in.", { status });
  if ([502, 503, 504].includes(status)) return t("The proxy cannot reach the annotation server ({status}).", { status });
  return t("Unexpected answer with status {status}; a proxy may have sent it.", { status });
}

async function answer(address, options) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  try {
    const reply = await fetch(address, { ...options, cache: "no-store", signal: stop.signal });
    const body = await reply.json().catch((error) => {
      if (stop.signal.aborted) throw error;
      return null;
    });
    return { status: reply.status, ok: reply.ok, body };
  } catch {
    throw new Away(stop.signal.aborted ? t("no answer within 5 seconds") : t("no connection"));
  } finally {
    clearTimeout(timer);
  }
}
