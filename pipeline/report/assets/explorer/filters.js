/* The toolbar above a table of all rows: search field, filter conditions, columns, buttons. */
const Filters = (() => {
  "use strict";
  const MAX_LABELS = 60;
  const DELAY = 120;
  const { make, isNumber } = Values;

  function option(value, text) {
    return make("option", { value }, text);
  }

  function debounce(action) {
    let timer = 0;
    return (...values) => {
      clearTimeout(timer);
      timer = setTimeout(action, DELAY, ...values);
    };
  }

  function searchField(set, onChange) {
    const update = debounce((value) => {
      set.search = value;
      onChange();
    });
    const input = make("input", { type: "search", placeholder: "words or parts of words", oninput: () => update(input.value) });
    return make("label", { class: "explorer-search" }, "Search ", input);
  }

  /** Returns the filter options of a column of labels or flags. */
  function labelOptions(column) {
    const options = [option("", "any")];
    if (column.kind === "flag") options.push(option("1", "yes"), option("0", "no"));
    else column.texts.forEach((text, index) => options.push(option(String(index + 1), text)));
    return [...options, option("some", "not empty"), option("none", "empty")];
  }

  function labelSelect(set, column, onChange) {
    const select = make("select", {}, ...labelOptions(column));
    select.addEventListener("change", () => {
      set.picks.set(column.name, select.value);
      onChange();
    });
    return make("label", {}, `${column.heading} `, select);
  }

  /** Returns the controls of one numeric condition: a column, at most or at least, a value. */
  function conditionControls(set, columns, onChange) {
    const update = () => {
      const value = parseFloat(valueInput.value) / (set.byName.get(columnSelect.value).kind === "share" ? 100 : 1);
      const condition = { name: columnSelect.value, most: comparisonSelect.value === "most", value, from: controls };
      set.bounds = set.bounds.filter((other) => other.from !== controls);
      if (!Number.isNaN(value)) set.bounds.push(condition);
      onChange();
    };
    const columnSelect = make("select", { "aria-label": "Column", onchange: update },
      ...columns.map((column) => option(column.name, column.heading)));
    const comparisonSelect = make("select", { "aria-label": "Comparison", onchange: update },
      option("most", "at most"), option("least", "at least"));
    const valueInput = make("input", { type: "number", step: "any", "aria-label": "Value", oninput: debounce(update) });
    const controls = make("span", { class: "explorer-condition" }, columnSelect, " ", comparisonSelect, " ", valueInput);
    return controls;
  }

  function allConditions(set, onChange) {
    const numbers = set.columns.filter(isNumber);
    const ranksFirst = [...numbers.filter((c) => c.kind === "rank"), ...numbers.filter((c) => c.kind !== "rank")];
    if (!ranksFirst.length) return [];
    const container = make("span", { class: "explorer-conditions" }, conditionControls(set, ranksFirst, onChange));
    const addButton = make("button", { type: "button", onclick: () => {
      container.append(conditionControls(set, ranksFirst, onChange));
      container.lastChild.firstChild.focus();
    } }, "Add condition");
    return [container, addButton];
  }

  /** Returns the menu of visible columns. */
  function columnMenu(set, visible, onChange) {
    const checkboxes = set.columns.map((column) => {
      const checkbox = make("input", { type: "checkbox", onchange: () => {
        if (checkbox.checked) visible.add(column.name);
        else visible.delete(column.name);
        onChange();
      } });
      checkbox.checked = visible.has(column.name);
      return make("label", {}, checkbox, ` ${column.heading}`);
    });
    return make("details", { class: "explorer-columns" }, make("summary", {}, "Columns"),
      make("div", {}, ...checkboxes));
  }

  function buttons(actions) {
    return actions.map(([text, onClick]) => make("button", { type: "button", onclick: onClick }, text));
  }

  /** Returns the toolbar. */
  function toolbar(set, { visible, onChange, onColumnsChange, actions }) {
    const labelled = set.columns.filter((column) =>
      column.kind === "flag" || (column.kind === "label" && column.texts && column.texts.length <= MAX_LABELS));
    const conditions = make("details", { class: "explorer-filters" }, make("summary", {}, "Filter"),
      make("div", {}, ...allConditions(set, onChange), ...labelled.map((column) => labelSelect(set, column, onChange))));
    return make("div", { class: "explorer-tools" }, searchField(set, onChange), conditions,
      columnMenu(set, visible, onColumnsChange), ...buttons(actions));
  }

  return { toolbar };
})();
