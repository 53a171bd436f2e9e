// What this browser keeps of one person and round, item by item, so that two tabs lose nothing.

// Tells people apart without keeping the secret; a page on a plain address has no digests to use.
export function digest(text) {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const char of text) {
    const code = char.codePointAt(0);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (two >>> 0).toString(36) + (one >>> 0).toString(36);
}

export class Store {
  #prefix;
  #memory = new Map(); // what the browser did not take

  constructor(address, round) {
    this.#prefix = `lexassay:${digest(address)}:${round}:`;
  }

  // False: something is kept in memory alone, and goes with this page.
  get lasting() {
    return this.#memory.size === 0;
  }

  set(name, value) {
    try {
      localStorage.setItem(this.#prefix + name, JSON.stringify(value));
      this.#memory.delete(name);
    } catch {
      // An older state must not come back after a reload.
      this.#forget(name);
      this.#memory.set(name, value);
    }
  }

  get(name) {
    if (this.#memory.has(name)) return this.#memory.get(name);
    try {
      return JSON.parse(localStorage.getItem(this.#prefix + name));
    } catch {
      return null;
    }
  }

  remove(name) {
    this.#memory.delete(name);
    this.#forget(name);
  }

  // Names that begin so, in their order.
  names(beginning) {
    const found = new Set([...this.#memory.keys()].filter((name) => name.startsWith(beginning)));
    const whole = this.#prefix + beginning;
    try {
      for (let place = 0; place < localStorage.length; place += 1) {
        const name = localStorage.key(place);
        if (name.startsWith(whole)) found.add(name.slice(this.#prefix.length));
      }
    } catch {
      // Forbidden: there is the memory.
    }
    return [...found].sort();
  }

  // Call when another tab has changed something.
  watch(changed) {
    addEventListener("storage", (event) => {
      if (event.key === null || event.key.startsWith(this.#prefix)) changed();
    });
  }

  #forget(name) {
    try {
      localStorage.removeItem(this.#prefix + name);
    } catch {
      // Forbidden: nothing is there.
    }
  }
}
