// Requests to the annotation server.

import { t } from "./messages.js";

const TIMEOUT = 5000;
const FINAL_STATUSES = new Set([400, 409, 413, 415, 422]);

// No response, or one after which the request can be retried: the queue keeps its entries and sends them again.
export class ServerUnavailable extends Error {
  constructor(message, hasResponse = false) {
    super(message);
    this.hasResponse = hasResponse;
  }
}

// The server rejected the request; a retry would not help.
export class RefusedRequest extends Error {
  constructor(message, finished) {
    super(message);
    this.finished = finished; // the person's part has ended
  }
}

export class Client {
  constructor(work) {
    this.address = work.address;
    this.round = work.round === "annotation" ? {} : { round: work.round };
  }

  cards(limit) {
    return this.#get("cards", { most: limit });
  }

  async card(id) {
    return (await this.#get(`cards/${encodeURIComponent(id)}`)).card;
  }

  async recent(limit) {
    return (await this.#get("recent", { most: limit })).cards;
  }

  search(text) {
    return this.#get("search", { text });
  }

  training() {
    return this.#get("training");
  }

  post(path, body) {
    return this.#request(path, {}, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  #get(path, parameters = {}) {
    return this.#request(path, parameters, {});
  }

  async #request(path, parameters, options) {
    const query = new URLSearchParams({ ...parameters, ...this.round }).toString();
    const address = `${this.address}/${path}${query && `?${query}`}`;
    const { status, ok, body } = await sendRequest(address, options);
    if (ok && body) return body;
    const isOwn = typeof body?.error === "string";
    const message = isOwn ? t(body.error) : describeProxyError(status);
    throw isOwn && FINAL_STATUSES.has(status) ? new RefusedRequest(message.replace(/\.$/, ""), body.finished === true) : new ServerUnavailable(message, true);
  }
}

// The server reports all its errors as JSON; any other error response comes from a proxy or a firewall.
function describeProxyError(status) {
  if (status === 403) return t("A proxy or a firewall refused the request (403). Tell the coordinator.");
  if (status === 401 || status === 407) return t("A proxy asks for a login ({status}). Reload the page to log in.", { status });
  if ([502, 503, 504].includes(status)) return t("The proxy cannot reach the annotation server ({status}).", { status });
  return t("Unexpected answer with status {status}; a proxy may have sent it.", { status });
}

async function sendRequest(address, options) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  try {
    const response = await fetch(address, { ...options, cache: "no-store", signal: controller.signal });
    const body = await response.json().catch((error) => {
      if (controller.signal.aborted) throw error;
      return null;
    });
    return { status: response.status, ok: response.ok, body };
  } catch {
    throw new ServerUnavailable(controller.signal.aborted ? t("no answer within 5 seconds") : t("no connection"));
  } finally {
    clearTimeout(timer);
  }
}
