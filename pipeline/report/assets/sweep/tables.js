/* The tables below the graph: the estimates that it shows, and the best for each value of a setting. */
const SweepTables = (() => {
  "use strict";
  const { make } = Values;
  const MOST_CELLS = 2400;
  const MOST_ROWS = 200;
  const MOST_NAMED = 8;

  function number(quantity, value) {
    if (Number.isNaN(value)) return "–";
    return quantity.share ? (100 * value).toFixed(1) : Values.number(value);
  }

  /** An estimate with its limits. */
  function estimate(quantity, selection, at, withLimits = true) {
    const text = number(quantity, selection.value[at]);
    if (!withLimits || Number.isNaN(selection.lower[at])) return text;
    return `${text} [${number(quantity, selection.lower[at])}, ${number(quantity, selection.upper[at])}]`;
  }

  /** Every place of the selection that is shown: rows, columns, places at the x axis. */
  function* shownRows(view) {
    const [rows, cols, , xs] = view.selection.sizes;
    for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) for (let x = 0; x < xs; x++) yield [row, col, x];
  }

  function heads(view) {
    return [view.row, view.col, view.x].filter((each) => each.axis);
  }

  function texts(view, [row, col, x]) {
    const at = { row, col, x };
    return ["row", "col", "x"].filter((role) => view[role].axis).map((role) => view[role].axis.texts[view[role].places[at[role]]]);
  }

  function table(head, body, right, wraps = -1) {
    const side = (i) => (i >= right ? { class: "right" } : i === wraps ? { class: "sweep-names" } : {});
    return make("table", {},
      make("thead", {}, make("tr", {}, ...head.map((text, i) => make("th", { scope: "col", ...side(i) }, text)))),
      make("tbody", {}, ...body.map((cells) => make("tr", {}, ...cells.map((text, i) =>
        (i === 0 ? make("th", { scope: "row", ...side(i) }, text) : make("td", side(i), text)))))));
  }

  /** The estimates that the graph shows: a row for each place, a column for each line. */
  function estimates(view) {
    const { quantity, selection } = view;
    const names = view.lines.map((line) => (view.line.axis ? view.line.axis.texts[view.line.places[line]] : view.yTitle));
    const head = [...heads(view).map((each) => each.axis.name), ...names];
    const all = [...shownRows(view)];
    const most = Math.min(MOST_ROWS, Math.max(10, Math.floor(MOST_CELLS / Math.max(1, names.length))));
    const body = all.slice(0, most).map((place) => [
      ...texts(view, place),
      ...view.lines.map((line) => estimate(quantity, selection, selection.at(place[0], place[1], line, place[2]))),
    ]);
    const left = all.length - body.length;
    return { table: table(head, body, heads(view).length), left };
  }

  /** Whether an axis is a choice, such as a setting or a measure; n and a category are questions. */
  function isChoice(axis) {
    return axis.key.startsWith("setting:") || Boolean(axis.slots);
  }

  /** The few of many with the highest keys, in falling order: to sort all would take long. */
  function firsts(many, key) {
    const found = [];
    for (const each of many) {
      if (found.length === MOST_NAMED && key(each) <= key(found.at(-1))) continue;
      let place = found.length;
      while (place > 0 && key(found[place - 1]) < key(each)) place--;
      found.splice(place, 0, each);
      if (found.length > MOST_NAMED) found.pop();
    }
    return found;
  }

  /** The best for each value of one role, and of all questions, among the estimates of all other choices. */
  function best(view, role, lowest) {
    const { quantity, selection } = view;
    const used = SweepCube.ROLES.filter((each) => view[each].axis);
    const by = used.filter((each) => each === role || !isChoice(view[each].axis)).sort((a, b) => (b === role) - (a === role));
    const others = used.filter((each) => !by.includes(each));
    const place = (each, at) => Math.floor(at / selection.strides[each]) % view[each].places.length;
    const text = (each, at) => view[each].axis.texts[view[each].places[place(each, at)]];
    const groups = new Map();
    for (let at = 0; at < selection.total; at++) {
      let group = 0;
      for (const each of by) group = group * view[each].places.length + place(each, at);
      const cells = groups.get(group);
      if (cells) cells.push(at);
      else groups.set(group, [at]);
    }
    const name = (at) => others.map((each) =>
      (each === "line" ? text(each, at) : `${view[each].axis.name} = ${text(each, at)}`)).join(", ") || "–";
    const sign = lowest ? -1 : 1;
    const ways = new Set();
    const ordered = [...groups].sort(([a], [b]) => a - b).map(([, cells]) => cells);
    const body = ordered.slice(0, MOST_ROWS).map((cells) => {
      const found = SweepCube.best(quantity, selection, cells, lowest);
      const head = by.length ? by.map((each) => text(each, cells[0])) : ["all"];
      if (!found) return [...head, "–", "–", "–", "0"];
      ways.add(found.by);
      const { among, top } = found;
      const named = firsts(among, (at) => sign * selection.value[at]).map((at) => `${name(at)} ${number(quantity, selection.value[at])}`);
      if (among.length > MOST_NAMED) named.push(`and ${Values.grouped(String(among.length - MOST_NAMED))} more`);
      const compared = Values.grouped(String(found.compared));
      return [...head, name(top), estimate(quantity, selection, top), named.join("; ") || "none", compared];
    });
    const near = ways.has("near") && ways.size === 1;
    const heads = by.length ? by.map((each) => view[each].axis.name) : [""];
    const head = [...heads, "best", view.yTitle, near ? "near the best" : "not significantly worse", "compared"];
    return { table: table(head, body, head.length - 1, head.length - 2), ways, left: ordered.length - body.length };
  }

  /** What the table of the best rests on, in words. */
  function method(quantity, ways) {
    const parts = [];
    if (ways.has("logit") || ways.has("plain")) {
      const scale = !ways.has("logit") ? "" : ways.has("plain") ? " on the logit scale (on the plain scale where an estimate or a limit is 0 or 100 %)" : " on the logit scale";
      parts.push(`Not significantly worse: one-sided z-tests against the best, from the ${100 * quantity.confidence} % limits${scale}, at 5 % in each row (Bonferroni). Estimates are taken as independent, which is conservative where they rest on the same sample.`);
    }
    if (ways.has("near")) {
      const near = quantity.share ? "1 point" : "1 % of the range of all estimates";
      const mean = ways.size > 1 ? "Where there are no limits" : "There are no limits here:";
      parts.push(`${mean} all within ${near} of the best are named, without a test.`);
    }
    return parts.join(" ");
  }

  /** What the graph shows as lines of a file: the axes, the estimate, its limits, how many it averages. */
  function rows(view) {
    const { quantity, selection } = view;
    const fixed = view.fixed.map(([axis, text]) => [axis.name, text]);
    const head = [...heads(view).map((each) => each.axis.name), ...(view.line.axis ? [view.line.axis.name] : []),
      ...fixed.map(([name]) => name), "estimate", "value", "lower", "upper", "averaged"];
    const plain = (value) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(7))));
    const lines = [];
    for (const place of shownRows(view)) for (const line of view.lines) {
      const at = selection.at(place[0], place[1], line, place[2]);
      if (Number.isNaN(selection.value[at])) continue;
      lines.push([
        ...texts(view, place), ...(view.line.axis ? [view.line.axis.texts[view.line.places[line]]] : []),
        ...fixed.map(([, text]) => text), quantity.name,
        plain(selection.value[at]), plain(selection.lower[at]), plain(selection.upper[at]), String(selection.count[at]),
      ]);
    }
    return { head, lines };
  }

  return { estimates, best, method, estimate, rows };
})();
