/* Rows as CSV; cells that a spreadsheet would run as formulas are escaped as in pipeline/formats/tables/formulas.py. */
const Saving = (() => {
  "use strict";
  const FORMULA = /^([\t\r\n]|[\s\ufeff\u200b]*[=+@＝＋－＠−-].)/su;
  const NUMBER = /^[+-]?(\d+([.,]\d*)*|[.,]\d+|inf)([eE][+-]?\d+)?$/;
  const BYTE_ORDER_MARK = "\ufeff";

  function guard(text) {
    const bare = text.replace(/^'+/, "");
    return FORMULA.test(bare) && !NUMBER.test(bare) ? `'${text}` : text;
  }

  function quote(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Returns CSV, with a byte order mark if a cell was guarded; `isText` says which columns may be. */
  function csvOf(head, rows, isText) {
    let isChanged = false;
    const cell = (text, canGuard) => {
      const safe = canGuard ? guard(text) : text;
      isChanged ||= safe !== text;
      return quote(safe);
    };
    const lines = [head.map((text) => cell(text, true)).join(",")];
    for (const texts of rows) lines.push(texts.map((text, index) => cell(text, isText(index))).join(","));
    return `${isChanged ? BYTE_ORDER_MARK : ""}${lines.join("\n")}\n`;
  }

  /** Returns rows as CSV, in an order. */
  function csv(columns, order) {
    const texts = Array.from(order, (row) => columns.map((column) => Values.plain(column, row)));
    return csvOf(columns.map((column) => column.heading), texts, (index) => !Values.isNumber(columns[index]));
  }

  function save(text, name, type = "text/csv") {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Values.make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  /** Copies a text; if the clipboard API is not available, by way of a temporary text field. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Values.make("textarea", { class: "explorer-copy" });
      area.value = text;
      document.body.append(area);
      area.select();
      const isCopied = document.execCommand("copy");
      area.remove();
      return isCopied;
    }
  }

  return { csv, csvOf, save, copy };
})();
