/* The search field, conditions, columns and buttons above a table of all rows. */
const Filters = (() => {
  "use strict";
  const MOST_LABELS = 60;
  const WAIT = 120;
  const { make, isNumber } = Values;

  function option(value, said) {
    return make("option", { value }, said);
  }

  function later(act) {
    let timer = 0;
    return (...values) => {
      clearTimeout(timer);
      timer = setTimeout(act, WAIT, ...values);
    };
  }

  function searching(set, changed) {
    const act = later((value) => {
      set.search = value;
      changed();
    });
    const field = make("input", { type: "search", placeholder: "words or parts of words", oninput: () => act(field.value) });
    return make("label", { class: "explorer-search" }, "Search ", field);
  }

  /** What a column of labels or of yes and no may be asked to be. */
  function choices(column) {
    const known = [option("", "any")];
    if (column.kind === "flag") known.push(option("1", "yes"), option("0", "no"));
    else column.texts.forEach((text, place) => known.push(option(String(place + 1), text)));
    return [...known, option("some", "not empty"), option("none", "empty")];
  }

  function picking(set, column, changed) {
    const select = make("select", {}, ...choices(column));
    select.addEventListener("change", () => {
      set.picks.set(column.name, select.value);
      changed();
    });
    return make("label", {}, `${column.heading} `, select);
  }

  /** One condition on a number: a column, at most or at least, a value. */
  function bound(set, columns, changed) {
    const update = () => {
      const value = parseFloat(limit.value) / (set.byName.get(which.value).kind === "share" ? 100 : 1);
      const mine = { name: which.value, most: side.value === "most", value, from: line };
      set.bounds = set.bounds.filter((other) => other.from !== line);
      if (!Number.isNaN(value)) set.bounds.push(mine);
      changed();
    };
    const which = make("select", { "aria-label": "Column", onchange: update },
      ...columns.map((column) => option(column.name, column.heading)));
    const side = make("select", { "aria-label": "Comparison", onchange: update },
      option("most", "at most"), option("least", "at least"));
    const limit = make("input", { type: "number", step: "any", "aria-label": "Value", oninput: later(update) });
    const line = make("span", { class: "explorer-bound" }, which, " ", side, " ", limit);
    return line;
  }

  function bounding(set, changed) {
    const numbers = set.columns.filter(isNumber);
    const ordered = [...numbers.filter((c) => c.kind === "rank"), ...numbers.filter((c) => c.kind !== "rank")];
    if (!ordered.length) return [];
    const lines = make("span", { class: "explorer-bounds" }, bound(set, ordered, changed));
    const more = make("button", { type: "button", onclick: () => {
      lines.append(bound(set, ordered, changed));
      lines.lastChild.firstChild.focus();
    } }, "Add condition");
    return [lines, more];
  }

  /** Which columns are shown, in a list that folds. */
  function columns(set, visible, changed) {
    const boxes = set.columns.map((column) => {
      const box = make("input", { type: "checkbox", onchange: () => {
        if (box.checked) visible.add(column.name);
        else visible.delete(column.name);
        changed();
      } });
      box.checked = visible.has(column.name);
      return make("label", {}, box, ` ${column.heading}`);
    });
    return make("details", { class: "explorer-columns" }, make("summary", {}, "Columns"),
      make("div", {}, ...boxes));
  }

  function buttons(actions) {
    return actions.map(([said, act]) => make("button", { type: "button", onclick: act }, said));
  }

  /** All that stands above the table. */
  function toolbar(set, { visible, changed, columnsChanged, actions }) {
    const labelled = set.columns.filter((column) =>
      column.kind === "flag" || (column.kind === "label" && column.texts && column.texts.length <= MOST_LABELS));
    const conditions = make("details", { class: "explorer-filters" }, make("summary", {}, "Filter"),
      make("div", {}, ...bounding(set, changed), ...labelled.map((column) => picking(set, column, changed))));
    return make("div", { class: "explorer-tools" }, searching(set, changed), conditions,
      columns(set, visible, columnsChanged), ...buttons(actions));
  }

  return { toolbar };
})();
