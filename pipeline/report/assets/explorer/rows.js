/* Which rows are seen and in which order: an index over columns, nothing is copied. */
const Rows = (() => {
  "use strict";

  /** A text as it is searched: without case, and without marks unless marks are asked for. */
  function folded(text) {
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
      this.order = this.asGiven();
    }

    asGiven() {
      return Uint32Array.from({ length: this.rows }, (_, i) => i);
    }

    /** Rows by a column, smallest first, what is missing last. */
    rising(column) {
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
      const kept = this.mask();
      const chosen = new Uint32Array(this.rows);
      let count = 0;
      const take = (row) => {
        if (!kept || kept[row]) chosen[count++] = row;
      };
      const column = this.byName.get(this.sorted.name);
      if (!column) {
        for (let row = 0; row < this.rows; row++) take(row);
      } else {
        const { front, back } = this.rising(column);
        if (this.sorted.falling) for (let i = front.length - 1; i >= 0; i--) take(front[i]);
        else for (const row of front) take(row);
        for (const row of back) take(row);
      }
      this.order = chosen.subarray(0, count);
    }

    /** 1 for each row that all conditions keep; null if there is no condition. */
    mask() {
      const tests = [...this.searches(), ...this.picked(), ...this.bounded()];
      if (!tests.length) return null;
      const kept = new Uint8Array(this.rows).fill(1);
      for (const test of tests) for (let i = 0; i < this.rows; i++) if (kept[i] && !test(i)) kept[i] = 0;
      return kept;
    }

    /** A test for each word that is searched: it stands in some column of text. */
    *searches() {
      const columns = this.columns.filter((column) => column.kind === "text");
      for (const word of this.search.trim().split(/\s+/).filter(Boolean)) {
        const tests = columns.map((column) => this.holds(column, word));
        yield (row) => tests.some((test) => test(row));
      }
    }

    holds(column, word) {
      const lower = word.toLowerCase();
      const marked = folded(word) !== lower;
      const wanted = marked ? lower : folded(word);
      const fits = (text) => text != null && text.includes(wanted);
      if (column.listed) {
        const all = this.searched(column, marked);
        return (row) => fits(all[row]);
      }
      const hit = Uint8Array.from(this.searched(column, marked), (text) => (fits(text) ? 1 : 0));
      return (row) => column.keys[row] !== 0 && hit[column.keys[row] - 1] === 1;
    }

    /** The texts of a column as they are searched, made once. */
    searched(column, marked) {
      const name = marked ? "lower" : "plain";
      column.ready ??= {};
      const as = marked ? (text) => text.toLowerCase() : folded;
      column.ready[name] ??= (column.listed ?? column.texts).map((text) => text && as(text));
      return column.ready[name];
    }

    *picked() {
      for (const [name, value] of this.picks) {
        const column = this.byName.get(name);
        if (value === "") continue;
        if (value === "none") yield (row) => Values.missing(column, row);
        else if (value === "some") yield (row) => !Values.missing(column, row);
        else yield (row) => column.keys[row] === Number(value);
      }
    }

    *bounded() {
      for (const { name, most, value } of this.bounds) {
        const keys = this.byName.get(name).keys;
        if (most) yield (row) => keys[row] <= value;
        else yield (row) => keys[row] >= value;
      }
    }
  }

  return { RowSet };
})();
