/* Rows as CSV; what a spreadsheet would run is guarded as pipeline/formats/tables/formulas.py does. */
const Saving = (() => {
  "use strict";
  const FORMULA = /^([\t\r\n]|[\s\ufeff\u200b]*[=+@＝＋－＠−-].)/su;
  const NUMBER = /^[+-]?(\d+([.,]\d*)*|[.,]\d+|inf)([eE][+-]?\d+)?$/;
  const MARK = "\ufeff";

  function guarded(text) {
    const bare = text.replace(/^'+/, "");
    return FORMULA.test(bare) && !NUMBER.test(bare) ? `'${text}` : text;
  }

  function field(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Lines of texts as CSV, with a mark before it if a text is guarded; `isText` says which may be. */
  function csvOf(head, rows, isText) {
    let changed = false;
    const cell = (text, guard) => {
      const safe = guard ? guarded(text) : text;
      changed ||= safe !== text;
      return field(safe);
    };
    const lines = [head.map((text) => cell(text, true)).join(",")];
    for (const texts of rows) lines.push(texts.map((text, place) => cell(text, isText(place))).join(","));
    return `${changed ? MARK : ""}${lines.join("\n")}\n`;
  }

  /** The rows of an order as CSV. */
  function csv(columns, order) {
    const texts = Array.from(order, (row) => columns.map((column) => Values.plain(column, row)));
    return csvOf(columns.map((column) => column.heading), texts, (place) => !Values.isNumber(columns[place]));
  }

  function save(text, name, type = "text/csv") {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Values.make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  /** Copies a text; where the page may not, it is selected in a field to be copied by hand. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Values.make("textarea", { class: "explorer-copy" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  return { csv, csvOf, save, copy };
})();
