/* The tables below the graph: its estimates, and the best for each value of a setting. */
const SweepTables = (() => {
  "use strict";
  const { make } = Values;
  const MAX_CELLS = 2400;
  const MAX_ROWS = 200;
  const MAX_NAMES = 8;

  function number(quantity, value) {
    if (Number.isNaN(value)) return "–";
    return quantity.share ? (100 * value).toFixed(1) : Values.number(value);
  }

  /** Returns an estimate with its limits as text. */
  function estimate(quantity, selection, at, withLimits = true) {
    const text = number(quantity, selection.value[at]);
    if (!withLimits || Number.isNaN(selection.lower[at])) return text;
    return `${text} [${number(quantity, selection.lower[at])}, ${number(quantity, selection.upper[at])}]`;
  }

  /** Yields the indices of each row, column and x value of the selection. */
  function* shownRows(view) {
    const [rows, cols, , points] = view.selection.sizes;
    for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) for (let x = 0; x < points; x++) yield [row, col, x];
  }

  function heads(view) {
    return [view.row, view.col, view.x].filter((each) => each.axis);
  }

  function texts(view, [row, col, x]) {
    const at = { row, col, x };
    return ["row", "col", "x"].filter((role) => view[role].axis).map((role) => view[role].axis.texts[view[role].places[at[role]]]);
  }

  function table(head, body, firstNumber, wrapped = -1) {
    const cellAttributes = (i) => (i >= firstNumber ? { class: "right" } : i === wrapped ? { class: "sweep-names" } : {});
    return make("table", {},
      make("thead", {}, make("tr", {}, ...head.map((text, i) => make("th", { scope: "col", ...cellAttributes(i) }, text)))),
      make("tbody", {}, ...body.map((cells) => make("tr", {}, ...cells.map((text, i) =>
        (i === 0 ? make("th", { scope: "row", ...cellAttributes(i) }, text) : make("td", cellAttributes(i), text)))))));
  }

  /** Returns the table of the estimates in the graph: a row for each x value of a panel, a column for each line. */
  function estimates(view) {
    const { quantity, selection } = view;
    const names = view.lines.map((line) => (view.line.axis ? view.line.axis.texts[view.line.places[line]] : view.yTitle));
    const head = [...heads(view).map((each) => each.axis.name), ...names];
    const places = [...shownRows(view)];
    const maxRows = Math.min(MAX_ROWS, Math.max(10, Math.floor(MAX_CELLS / Math.max(1, names.length))));
    const body = places.slice(0, maxRows).map((indices) => [
      ...texts(view, indices),
      ...view.lines.map((line) => estimate(quantity, selection, selection.at(indices[0], indices[1], line, indices[2]))),
    ]);
    const omitted = places.length - body.length;
    return { table: table(head, body, heads(view).length), omitted };
  }

  /** Returns whether an axis is something to choose, such as a setting or measure; n and category are not. */
  function isChoice(axis) {
    return axis.key.startsWith("setting:") || Boolean(axis.slots);
  }

  /** Returns the items with the highest keys, in descending order, without sorting all items. */
  function highest(items, key) {
    const result = [];
    for (const each of items) {
      if (result.length === MAX_NAMES && key(each) <= key(result.at(-1))) continue;
      let index = result.length;
      while (index > 0 && key(result[index - 1]) < key(each)) index--;
      result.splice(index, 0, each);
      if (result.length > MAX_NAMES) result.pop();
    }
    return result;
  }

  /** Returns the table of the best estimates, one row for each value of a role, and of n and category. */
  function best(view, role, lowest) {
    const { quantity, selection } = view;
    const roles = SweepCube.ROLES.filter((each) => view[each].axis);
    const keyRoles = roles.filter((each) => each === role || !isChoice(view[each].axis)).sort((a, b) => (b === role) - (a === role));
    const otherRoles = roles.filter((each) => !keyRoles.includes(each));
    const indexOf = (each, at) => Math.floor(at / selection.strides[each]) % view[each].places.length;
    const text = (each, at) => view[each].axis.texts[view[each].places[indexOf(each, at)]];
    const groups = new Map();
    for (let at = 0; at < selection.total; at++) {
      let group = 0;
      for (const each of keyRoles) group = group * view[each].places.length + indexOf(each, at);
      const cells = groups.get(group);
      if (cells) cells.push(at);
      else groups.set(group, [at]);
    }
    const name = (at) => otherRoles.map((role) =>
      (role === "line" ? text(role, at) : `${view[role].axis.name} = ${text(role, at)}`)).join(", ") || "–";
    const sign = lowest ? -1 : 1;
    const methods = new Set();
    const sortedGroups = [...groups].sort(([a], [b]) => a - b).map(([, cells]) => cells);
    const body = sortedGroups.slice(0, MAX_ROWS).map((cells) => {
      const result = SweepCube.best(quantity, selection, cells, lowest);
      const head = keyRoles.length ? keyRoles.map((each) => text(each, cells[0])) : ["all"];
      if (!result) return [...head, "–", "–", "–", "0"];
      methods.add(result.by);
      const { among, top } = result;
      const names = highest(among, (at) => sign * selection.value[at]).map((at) => `${name(at)} ${number(quantity, selection.value[at])}`);
      if (among.length > MAX_NAMES) names.push(`and ${Values.grouped(String(among.length - MAX_NAMES))} more`);
      const compared = Values.grouped(String(result.compared));
      return [...head, name(top), estimate(quantity, selection, top), names.join("; ") || "none", compared];
    });
    const allNear = methods.has("near") && methods.size === 1;
    const heads = keyRoles.length ? keyRoles.map((each) => view[each].axis.name) : [""];
    const head = [...heads, "best", view.yTitle, allNear ? "near the best" : "not significantly worse", "compared"];
    return { table: table(head, body, head.length - 1, head.length - 2), methods, omitted: sortedGroups.length - body.length };
  }

  /** Describes the methods behind the table of the best. */
  function method(quantity, methods) {
    const parts = [];
    if (methods.has("logit") || methods.has("plain")) {
      const scale = !methods.has("logit") ? "" : methods.has("plain") ? " on the logit scale (on the plain scale where an estimate or a limit is 0 or 100 %)" : " on the logit scale";
      parts.push(`Not significantly worse: one-sided z-tests against the best, from the ${100 * quantity.confidence} % limits${scale}, at 5 % in each row (Bonferroni). Estimates are taken as independent, which is conservative where they rest on the same sample.`);
    }
    if (methods.has("near")) {
      const range = quantity.share ? "1 point" : "1 % of the range of all estimates";
      const lead = methods.size > 1 ? "Where there are no limits" : "There are no limits here:";
      parts.push(`${lead} all within ${range} of the best are listed, without a test.`);
    }
    return parts.join(" ");
  }

  /** Returns the estimates in the graph as lines of a file: axes, estimate, limits, number averaged. */
  function rows(view) {
    const { quantity, selection } = view;
    const fixed = view.fixed.map(([axis, text]) => [axis.name, text]);
    const head = [...heads(view).map((each) => each.axis.name), ...(view.line.axis ? [view.line.axis.name] : []),
      ...fixed.map(([name]) => name), "estimate", "value", "lower", "upper", "averaged"];
    const format = (value) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(7))));
    const lines = [];
    for (const indices of shownRows(view)) for (const line of view.lines) {
      const at = selection.at(indices[0], indices[1], line, indices[2]);
      if (Number.isNaN(selection.value[at])) continue;
      lines.push([
        ...texts(view, indices), ...(view.line.axis ? [view.line.axis.texts[view.line.places[line]]] : []),
        ...fixed.map(([, text]) => text), quantity.name,
        format(selection.value[at]), format(selection.lower[at]), format(selection.upper[at]), String(selection.count[at]),
      ]);
    }
    return { head, lines };
  }

  return { estimates, best, method, estimate, rows };
})();
