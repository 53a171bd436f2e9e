// What this browser keeps of one person and round: waiting decisions and drafts, in IndexedDB.
//
// All is read once and mirrored in memory, so that a card can change at once; each change is written
// through. Tabs tell each other of their changes.

const TABLE = "kept";

export class Store extends EventTarget {
  #mirror = new Map();
  #unsaved = new Set(); // names whose last value is in memory alone
  #changes = new Map(); // name to the number of its last change here
  #count = 0;
  #base = null;
  #tabs = null;

  // Return a store when it is read; without IndexedDB it keeps all in memory.
  static async open(name) {
    const store = new Store();
    try {
      store.#base = await opened(`lexassay:${name}`);
      await store.read();
      store.#tabs = new BroadcastChannel(`lexassay:${name}`);
      store.#tabs.addEventListener("message", ({ data }) => store.#hear(data));
    } catch {
      store.#base = null;
    }
    return store;
  }

  // False: something is in memory alone, and goes with this page.
  get lasting() {
    return this.#unsaved.size === 0;
  }

  get(name) {
    return this.#mirror.get(name) ?? null;
  }

  // Names that begin so, in their order.
  names(beginning) {
    return [...this.#mirror.keys()].filter((name) => name.startsWith(beginning)).sort();
  }

  // Keep a value; resolves when it is on the disk, or cannot be.
  async set(name, value) {
    this.#mirror.set(name, value);
    this.#changes.set(name, (this.#count += 1));
    try {
      await this.#write((table) => table.put(value, name), name.startsWith("w:"));
      if (this.#mirror.get(name) === value) this.#unsaved.delete(name);
    } catch {
      this.#unsaved.add(name);
    }
    this.tell({ kind: "changed" });
  }

  async remove(name) {
    this.#mirror.delete(name);
    this.#changes.set(name, (this.#count += 1));
    this.#unsaved.delete(name);
    await this.#write((table) => table.delete(name)).catch(() => {});
    this.tell({ kind: "changed" });
  }

  // Send a message to the other tabs of this person.
  tell(message) {
    this.#tabs?.postMessage(message);
  }

  async #hear(message) {
    if (message.kind === "changed") await this.read().catch(() => {});
    this.dispatchEvent(new CustomEvent(message.kind, { detail: message }));
  }

  // Read all anew; what changes here meanwhile is newer, and so is what could not be written.
  async read() {
    if (!this.#base) return;
    const begun = this.#count;
    const table = this.#base.transaction(TABLE).objectStore(TABLE);
    const [names, values] = await Promise.all([done(table.getAllKeys()), done(table.getAll())]);
    const fresh = new Map(names.map((name, place) => [name, values[place]]));
    const newer = [...this.#changes].filter(([, count]) => count > begun).map(([name]) => name);
    for (const name of [...newer, ...this.#unsaved]) {
      if (this.#mirror.has(name)) fresh.set(name, this.#mirror.get(name));
      else fresh.delete(name);
    }
    this.#mirror = fresh;
  }

  #write(change, strict = false) {
    if (!this.#base) return Promise.reject(new Error("no IndexedDB"));
    return new Promise((resolve, reject) => {
      const durability = strict ? "strict" : "relaxed";
      const transaction = this.#base.transaction(TABLE, "readwrite", { durability });
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
      change(transaction.objectStore(TABLE));
      transaction.commit();
    });
  }
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function opened(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  return done(request);
}
