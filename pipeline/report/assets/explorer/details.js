/* The details of a row: contingency table, scores and ranks, further rows, all other values. */
const Details = (() => {
  "use strict";
  const { make, text, number, isNumber, grouped } = Values;

  function table(head, rows, { right = [], label = "" } = {}) {
    const cellAttributes = (index) => (right[index] ? { class: "right" } : {});
    const heads = head.map((name, index) => name ? make("th", { scope: "col", ...cellAttributes(index) }, name) : make("td"));
    const body = rows.map((cells) =>
      make("tr", {}, ...cells.map((cell, index) => make("td", { dir: "auto", ...cellAttributes(index) }, cell))));
    const node = make("table", { "aria-label": label || null }, make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...body));
    return make("div", { class: "scroll" }, node);
  }

  function section(heading, ...content) {
    return make("section", {}, make("h4", {}, heading), ...content);
  }

  function wideSection(heading, ...content) {
    return make("section", { class: "full-width" }, make("h4", {}, heading), ...content);
  }

  /** Returns the observed and expected frequencies of the two words, if all are known. */
  function contingency(set, cells, row) {
    const count = (name) => set.byName.get(name)?.keys?.[row] ?? NaN;
    const [f, f1, f2, total] = [cells.f, cells.f1, cells.f2, cells.N].map(count);
    if (![f, f1, f2, total].every(Number.isFinite) || total <= 0) return [];
    const wordOf = (name, fallback) => (set.byName.has(name) ? text(set.byName.get(name), row) : fallback);
    const first = wordOf(cells.first, "first"), second = wordOf(cells.second, "second");
    const sums = [[f1, total - f1], [f2, total - f2]];
    const observed = [[f, f1 - f], [f2 - f, total - f1 - f2 + f]];
    const cellOf = (i, j) =>
      make("span", {}, grouped(String(observed[i][j])), " ",
        make("small", {}, `(${number((sums[0][i] * sums[1][j]) / total)})`));
    const rowOf = (name, i) => [name, cellOf(i, 0), cellOf(i, 1), grouped(String(sums[0][i]))];
    const lastRow = ["total", grouped(String(f2)), grouped(String(total - f2)), grouped(String(total))];
    return [section("Contingency table, observed (expected)",
      table(["", second, `not ${second}`, "total"], [rowOf(first, 0), rowOf(`not ${first}`, 1), lastRow],
        { right: [false, true, true, true], label: "Contingency table" }))];
  }

  /** Returns a table of the columns that exist for each of several measures, with a row per measure. */
  function measures(set, row) {
    const measureColumns = set.columns.filter((column) => column.of);
    if (!measureColumns.length) return [];
    const parts = [...new Set(measureColumns.map((column) => column.part))];
    const names = [...new Set(measureColumns.map((column) => column.of))];
    const findColumn = (of, name) => measureColumns.find((column) => column.of === of && column.part === name);
    const cell = (column) => (column ? text(column, row) : "");
    const rows = names.map((of) => [of, ...parts.map((name) => cell(findColumn(of, name)))]);
    const right = [false, ...parts.map((name) => measureColumns.some((c) => c.part === name && isNumber(c)))];
    return [section(joinHeadings(parts), table(["", ...parts], rows, { right }))];
  }

  function joinHeadings(parts) {
    const text = `${parts.slice(0, -1).join(", ")}${parts.length > 1 ? " and " : ""}${parts.at(-1)}`;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  /** Returns all other columns of the row. */
  function others(set, row) {
    const list = make("dl");
    for (const column of set.columns.filter((each) => !each.of)) {
      const value = make("dd", { dir: "auto" }, text(column, row) || "–");
      list.append(make("div", {}, make("dt", {}, column.heading), value));
    }
    return [wideSection("All values", list)];
  }

  function furtherRows(details, row) {
    const { head, starts, columns } = details;
    const indices = [];
    for (let i = starts[row]; i < starts[row + 1]; i++) indices.push(i);
    if (!indices.length) return head.held < head.has ? [omissionNote(head)] : [];
    const isCut = indices.some((i) => columns.some((column) => text(column, i).length >= head.cut));
    const note = isCut ? [make("p", { class: "more" }, `Texts are truncated after ${head.cut} characters.`)] : [];
    if (head.kind === "concordance") {
      const lines = indices.map((i) => ({
        text: text(columns.at(-1), i),
        source: columns.slice(0, -1).map((column) => text(column, i)).filter(Boolean).join(", "),
      }));
      return [wideSection(head.heading, Concordance.concordance(lines), ...note)];
    }
    const rows = indices.map((i) => columns.map((column) => text(column, i)));
    const heads = columns.map((column) => column.heading);
    return [section(head.heading, table(heads, rows, { right: columns.map(isNumber) }), ...note)];
  }

  function omissionNote(head) {
    const counts = `${grouped(String(head.held))} of ${grouped(String(head.has))}`;
    return make("p", { class: "more" }, `${head.heading}: this page includes them for ${counts} rows.`);
  }

  /** Reads all details; `starts` has the index of the first detail row of each row. */
  async function read(id, heads, rows) {
    const reader = new Unpack.Reader(await Unpack.bytesOf(id));
    return heads.map((head) => {
      const counts = reader.whole(head.counts, rows);
      const starts = new Uint32Array(rows + 1);
      for (let i = 0; i < rows; i++) starts[i + 1] = starts[i] + counts[i];
      return { head, starts, columns: head.columns.map((column) => reader.column(column, head.rows)) };
    });
  }

  /** Returns all parts of the details of a row. */
  function contents(set, head, details, row) {
    return [
      ...details.filter((each) => each.head.kind === "concordance").flatMap((each) => furtherRows(each, row)),
      ...(head.cells ? contingency(set, head.cells, row) : []),
      ...measures(set, row),
      ...details.filter((each) => each.head.kind !== "concordance").flatMap((each) => furtherRows(each, row)),
      ...others(set, row),
    ];
  }

  return { read, contents };
})();
