/* Formats values as pipeline/report/page/cells.py does; creates elements. */
const Values = (() => {
  "use strict";
  const MISSING = "–";
  const NUMBERS = new Set(["count", "rank", "share", "number"]);

  function grouped(text) {
    return text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  }

  function number(value) {
    if (Number.isNaN(value)) return MISSING;
    const sign = value < 0 ? "−" : "";
    const size = Math.abs(value);
    if (size === Infinity) return `${sign}∞`;
    if (size !== 0 && (size < 1e-3 || size >= 1e7) && !Number.isSafeInteger(value)) {
      return sign + exponential(size);
    }
    return sign + (size >= 1000 ? grouped(size.toFixed(0)) : String(Number(size.toPrecision(4))));
  }

  function exponential(size) {
    const [head, power] = size.toExponential(2).split("e");
    const digits = power.slice(1).padStart(2, "0");
    return `${String(Number(head))}e${power[0]}${digits}`;
  }

  /** Returns the text of a cell. */
  function text(column, row) {
    if (column.listed) return column.listed[row] ?? "";
    const key = column.keys[row];
    if (column.texts) return key === 0 ? "" : column.texts[key - 1];
    if (column.kind === "flag") return Number.isNaN(key) ? "" : key ? "yes" : "no";
    if (column.kind === "share") return Number.isNaN(key) ? MISSING : (100 * key).toFixed(2);
    return number(key);
  }

  /** Returns the text of a cell for a file: numbers are not formatted. */
  function plain(column, row) {
    if (column.listed || column.texts || column.kind === "flag") return text(column, row);
    const key = column.keys[row];
    return Number.isNaN(key) ? "" : String(key).replace("Infinity", "inf");
  }

  /** Returns whether a cell has no value. */
  function missing(column, row) {
    if (column.listed) return column.listed[row] == null;
    return column.texts ? column.keys[row] === 0 : Number.isNaN(column.keys[row]);
  }

  const isNumber = (column) => NUMBERS.has(column.kind);

  /** Creates an element; strings among its children become text, never markup. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  return { text, plain, missing, isNumber, number, grouped, make };
})();
