// Browser storage of one person and round, in IndexedDB: queued decisions, drafts, the goal.
//
// All entries are mirrored in memory, so that reads are synchronous; every change is written through.
// Tabs notify each other of changes.

const TABLE = "kept";

export class Store extends EventTarget {
  #mirror = new Map();
  #unwritten = new Set(); // names whose last value could not be written and is only in memory
  #changeNumbers = new Map(); // name to the number of its last change in this tab
  #changeCount = 0;
  #database = null;
  #channel = null;

  // Open a store and read it; without IndexedDB, entries are only kept in memory.
  static async open(name) {
    const store = new Store();
    try {
      store.#database = await openDatabase(`lexassay:${name}`);
      await store.read();
      store.#channel = new BroadcastChannel(`lexassay:${name}`);
      store.#channel.addEventListener("message", ({ data }) => store.#receive(data));
    } catch {
      store.#database = null;
    }
    return store;
  }

  // False if some entry is only in memory and would be lost with the page.
  get isPersistent() {
    return this.#unwritten.size === 0;
  }

  get(name) {
    return this.#mirror.get(name) ?? null;
  }

  // Sorted names with a prefix.
  names(prefix) {
    return [...this.#mirror.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  // Store a value; resolves when it is written, or when writing failed.
  async set(name, value) {
    this.#mirror.set(name, value);
    this.#changeNumbers.set(name, (this.#changeCount += 1));
    try {
      await this.#write((table) => table.put(value, name), name.startsWith("w:"));
      if (this.#mirror.get(name) === value) this.#unwritten.delete(name);
    } catch {
      this.#unwritten.add(name);
    }
    this.broadcast({ kind: "changed" });
  }

  async remove(name) {
    this.#mirror.delete(name);
    this.#changeNumbers.set(name, (this.#changeCount += 1));
    this.#unwritten.delete(name);
    await this.#write((table) => table.delete(name)).catch(() => {});
    this.broadcast({ kind: "changed" });
  }

  // Send a message to the other tabs of this person.
  broadcast(message) {
    this.#channel?.postMessage(message);
  }

  async #receive(message) {
    if (message.kind === "changed") await this.read().catch(() => {});
    this.dispatchEvent(new CustomEvent(message.kind, { detail: message }));
  }

  // Reload all entries. Changes of this tab during the read are newer, and so are values that could not
  // be written.
  async read() {
    if (!this.#database) return;
    const start = this.#changeCount;
    const table = this.#database.transaction(TABLE).objectStore(TABLE);
    const [names, values] = await Promise.all([resultOf(table.getAllKeys()), resultOf(table.getAll())]);
    const entries = new Map(names.map((name, index) => [name, values[index]]));
    const changedNames = [...this.#changeNumbers].filter(([, number]) => number > start).map(([name]) => name);
    for (const name of [...changedNames, ...this.#unwritten]) {
      if (this.#mirror.has(name)) entries.set(name, this.#mirror.get(name));
      else entries.delete(name);
    }
    this.#mirror = entries;
  }

  #write(change, strict = false) {
    if (!this.#database) return Promise.reject(new Error("no IndexedDB"));
    return new Promise((resolve, reject) => {
      const durability = strict ? "strict" : "relaxed";
      const transaction = this.#database.transaction(TABLE, "readwrite", { durability });
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
      change(transaction.objectStore(TABLE));
      transaction.commit();
    });
  }
}

function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function openDatabase(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  return resultOf(request);
}
