/* Filters and sorts rows: an index over columns, without copying data. */
const Rows = (() => {
  "use strict";

  /** Returns a text without case and diacritics, for searching. */
  function fold(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  }

  class RowSet {
    constructor(columns, rows) {
      this.columns = columns;
      this.rows = rows;
      this.byName = new Map(columns.map((column) => [column.name, column]));
      this.orders = new Map();
      this.search = "";
      this.picks = new Map();
      this.bounds = [];
      this.sorted = { name: "", falling: false };
      this.order = this.originalOrder();
    }

    originalOrder() {
      return Uint32Array.from({ length: this.rows }, (_, i) => i);
    }

    /** Returns the rows in ascending order of a column; `back` has those without a value. */
    ascending(column) {
      let order = this.orders.get(column.name);
      if (!order) {
        const keys = column.texts
          ? Float64Array.from(column.keys, (key) => (key === 0 ? Infinity : key))
          : Float64Array.from(column.keys, (key) => (Number.isNaN(key) ? Infinity : key));
        const known = [], unknown = [];
        for (let i = 0; i < this.rows; i++) (Values.missing(column, i) ? unknown : known).push(i);
        const front = Uint32Array.from(known).sort((a, b) => keys[a] - keys[b] || a - b);
        order = { front, back: Uint32Array.from(unknown) };
        this.orders.set(column.name, order);
      }
      return order;
    }

    update() {
      const mask = this.mask();
      const order = new Uint32Array(this.rows);
      let count = 0;
      const add = (row) => {
        if (!mask || mask[row]) order[count++] = row;
      };
      const column = this.byName.get(this.sorted.name);
      if (!column) {
        for (let row = 0; row < this.rows; row++) add(row);
      } else {
        const { front, back } = this.ascending(column);
        if (this.sorted.falling) for (let i = front.length - 1; i >= 0; i--) add(front[i]);
        else for (const row of front) add(row);
        for (const row of back) add(row);
      }
      this.order = order.subarray(0, count);
    }

    /** Returns an array with 1 for each row that meets all conditions; null if there are none. */
    mask() {
      const tests = [...this.searchTests(), ...this.pickTests(), ...this.boundTests()];
      if (!tests.length) return null;
      const mask = new Uint8Array(this.rows).fill(1);
      for (const test of tests) for (let i = 0; i < this.rows; i++) if (mask[i] && !test(i)) mask[i] = 0;
      return mask;
    }

    /** Yields a test for each word of the search: whether some text column contains it. */
    *searchTests() {
      const columns = this.columns.filter((column) => column.kind === "text");
      for (const word of this.search.trim().split(/\s+/).filter(Boolean)) {
        const tests = columns.map((column) => this.wordTest(column, word));
        yield (row) => tests.some((test) => test(row));
      }
    }

    wordTest(column, word) {
      const lower = word.toLowerCase();
      const hasMarks = fold(word) !== lower;
      const needle = hasMarks ? lower : fold(word);
      const matches = (text) => text != null && text.includes(needle);
      if (column.listed) {
        const texts = this.searchTexts(column, hasMarks);
        return (row) => matches(texts[row]);
      }
      const hits = Uint8Array.from(this.searchTexts(column, hasMarks), (text) => (matches(text) ? 1 : 0));
      return (row) => column.keys[row] !== 0 && hits[column.keys[row] - 1] === 1;
    }

    /** Returns the normalized texts of a column; the result is cached. */
    searchTexts(column, hasMarks) {
      const name = hasMarks ? "lower" : "plain";
      column.searchCache ??= {};
      const normalize = hasMarks ? (text) => text.toLowerCase() : fold;
      column.searchCache[name] ??= (column.listed ?? column.texts).map((text) => text && normalize(text));
      return column.searchCache[name];
    }

    *pickTests() {
      for (const [name, value] of this.picks) {
        const column = this.byName.get(name);
        if (value === "") continue;
        if (value === "none") yield (row) => Values.missing(column, row);
        else if (value === "some") yield (row) => !Values.missing(column, row);
        else yield (row) => column.keys[row] === Number(value);
      }
    }

    *boundTests() {
      for (const { name, most, value } of this.bounds) {
        const keys = this.byName.get(name).keys;
        if (most) yield (row) => keys[row] <= value;
        else yield (row) => keys[row] >= value;
      }
    }
  }

  return { RowSet };
})();
