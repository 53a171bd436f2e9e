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

  /** The rows of an order as CSV, with a mark before it if a text is guarded. */
  function csv(columns, order) {
    let changed = false;
    const cell = (text, isText) => {
      const safe = isText ? guarded(text) : text;
      changed ||= safe !== text;
      return field(safe);
    };
    const lines = [columns.map((column) => cell(column.heading, true)).join(",")];
    for (const row of order) {
      const texts = columns.map((column) => cell(Values.plain(column, row), !Values.isNumber(column)));
      lines.push(texts.join(","));
    }
    return `${changed ? MARK : ""}${lines.join("\n")}\n`;
  }

  function save(text, name) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
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

  return { csv, save, copy };
})();
