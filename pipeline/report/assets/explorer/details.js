/* What a row opens to: its contingency table, scores and ranks, all else, and further rows. */
const Details = (() => {
  "use strict";
  const { make, text, number, isNumber, grouped } = Values;

  function table(head, rows, { right = [], label = "" } = {}) {
    const side = (place) => (right[place] ? { class: "right" } : {});
    const heads = head.map((name, place) => name ? make("th", { scope: "col", ...side(place) }, name) : make("td"));
    const body = rows.map((cells) =>
      make("tr", {}, ...cells.map((cell, place) => make("td", { dir: "auto", ...side(place) }, cell))));
    const made = make("table", { "aria-label": label || null }, make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...body));
    return make("div", { class: "scroll" }, made);
  }

  function part(heading, ...content) {
    return make("section", {}, make("h4", {}, heading), ...content);
  }

  function whole(heading, ...content) {
    return make("section", { class: "whole" }, make("h4", {}, heading), ...content);
  }

  /** Observed and expected frequencies of the two words, if all are known. */
  function contingency(set, cells, row) {
    const of = (name) => set.byName.get(name)?.keys?.[row] ?? NaN;
    const [f, f1, f2, all] = [cells.f, cells.f1, cells.f2, cells.N].map(of);
    if (![f, f1, f2, all].every(Number.isFinite) || all <= 0) return [];
    const named = (name, other) => (set.byName.has(name) ? text(set.byName.get(name), row) : other);
    const first = named(cells.first, "first"), second = named(cells.second, "second");
    const sums = [[f1, all - f1], [f2, all - f2]];
    const observed = [[f, f1 - f], [f2 - f, all - f1 - f2 + f]];
    const shown = (i, j) =>
      make("span", {}, grouped(String(observed[i][j])), " ",
        make("small", {}, `(${number((sums[0][i] * sums[1][j]) / all)})`));
    const line = (name, i) => [name, shown(i, 0), shown(i, 1), grouped(String(sums[0][i]))];
    const last = ["total", grouped(String(f2)), grouped(String(all - f2)), grouped(String(all))];
    return [part("Contingency table, observed (expected)",
      table(["", second, `not ${second}`, "total"], [line(first, 0), line(`not ${first}`, 1), last],
        { right: [false, true, true, true], label: "Contingency table" }))];
  }

  /** Columns that tell of several things alike, a line for each of them. */
  function measures(set, row) {
    const alike = set.columns.filter((column) => column.of);
    if (!alike.length) return [];
    const parts = [...new Set(alike.map((column) => column.part))];
    const names = [...new Set(alike.map((column) => column.of))];
    const found = (of, name) => alike.find((column) => column.of === of && column.part === name);
    const cell = (column) => (column ? text(column, row) : "");
    const rows = names.map((of) => [of, ...parts.map((name) => cell(found(of, name)))]);
    const right = [false, ...parts.map((name) => alike.some((c) => c.part === name && isNumber(c)))];
    return [part(heading(parts), table(["", ...parts], rows, { right }))];
  }

  function heading(parts) {
    const said = `${parts.slice(0, -1).join(", ")}${parts.length > 1 ? " and " : ""}${parts.at(-1)}`;
    return said.charAt(0).toUpperCase() + said.slice(1);
  }

  /** All other columns of the row. */
  function others(set, row) {
    const list = make("dl");
    for (const column of set.columns.filter((each) => !each.of)) {
      const value = make("dd", { dir: "auto" }, text(column, row) || "–");
      list.append(make("div", {}, make("dt", {}, column.heading), value));
    }
    return [whole("All values", list)];
  }

  function further(details, row) {
    const { head, starts, columns } = details;
    const places = [];
    for (let i = starts[row]; i < starts[row + 1]; i++) places.push(i);
    if (!places.length) return head.held < head.has ? [left(head)] : [];
    const cut = places.some((i) => columns.some((column) => text(column, i).length >= head.cut));
    const note = cut ? [make("p", { class: "more" }, `Texts are truncated after ${head.cut} characters.`)] : [];
    if (head.kind === "concordance") {
      const lines = places.map((i) => ({
        text: text(columns.at(-1), i),
        source: columns.slice(0, -1).map((column) => text(column, i)).filter(Boolean).join(", "),
      }));
      return [whole(head.heading, Concordance.concordance(lines), ...note)];
    }
    const rows = places.map((i) => columns.map((column) => text(column, i)));
    const heads = columns.map((column) => column.heading);
    return [part(head.heading, table(heads, rows, { right: columns.map(isNumber) }), ...note)];
  }

  function left(head) {
    const many = `${grouped(String(head.held))} of ${grouped(String(head.has))}`;
    return make("p", { class: "more" }, `${head.heading}: this page includes them for ${many} rows.`);
  }

  /** Reads all details, once: for each kind where the rows of each row begin. */
  async function read(id, heads, rows) {
    const reader = new Unpack.Reader(await Unpack.bytesOf(id));
    return heads.map((head) => {
      const counts = reader.whole(head.counts, rows);
      const starts = new Uint32Array(rows + 1);
      for (let i = 0; i < rows; i++) starts[i + 1] = starts[i] + counts[i];
      return { head, starts, columns: head.columns.map((column) => reader.column(column, head.rows)) };
    });
  }

  /** All parts of an opened row. */
  function contents(set, head, details, row) {
    return [
      ...details.filter((each) => each.head.kind === "concordance").flatMap((each) => further(each, row)),
      ...(head.cells ? contingency(set, head.cells, row) : []),
      ...measures(set, row),
      ...details.filter((each) => each.head.kind !== "concordance").flatMap((each) => further(each, row)),
      ...others(set, row),
    ];
  }

  return { read, contents };
})();
