/* The controls of a sweep: they set the role of each setting in the graph, and keep the address up to date. */
(() => {
  "use strict";
  const { make, grouped } = Values;
  const { ROLES } = SweepCube;
  const PREFIX = "#sweep?";
  const MAX_SHOWN = { line: 8, row: 4, col: 4, x: Infinity };  // values shown until the user chooses some
  const CURVE_LENGTH = 12;  // if n has more values, it is the x axis by default
  const PRINTED_ROWS = 20;  // rows of a printed table, as in sweep.css
  const ROLE_NAMES = { x: "x axis", line: "lines", row: "rows of panels", col: "columns of panels", all: "mean of all values" };
  const LIGHT = { "--ink": "#1a1a1a", "--faint": "#595959", "--line": "#d5d5d5" };
  const section = document.getElementById("sweep");
  if (!section) return;
  const head = JSON.parse(document.getElementById("sweep-head").textContent);
  let data = null;
  let state = null;
  let drawing = null;  // the current view, its SVG and marks

  // --- default roles ---

  const isVaried = (axis) => axis.texts.length > 1;
  const isSeed = (axis) => /(^|\.)seed$/.test(axis.key);

  /** Preference for the x axis: numbers other than seeds first, then axes with many values. */
  function rank(axis) {
    return (axis.numbers && axis.texts.length > 2 && !isSeed(axis) ? 1e6 : 0) + axis.texts.length;
  }

  function defaults(quantity) {
    const roles = {};
    const free = quantity.axes.filter(isVaried);
    const assignRole = (role, axis) => { if (axis && !(axis.key in roles)) roles[axis.key] = role; };
    const settings = head.settings.filter(isVaried);
    const n = free.find((axis) => axis.key === "column:n");
    const pointAxis = head.complete ? null : settings.find((axis) => axis.key === "setting:point");
    const namedAxis = free.find((axis) => axis.slots);
    const byRank = [...settings].sort((a, b) => rank(b) - rank(a));
    const curveAxis = n && n.texts.length > CURVE_LENGTH ? n : null;
    assignRole("x", curveAxis ?? pointAxis ?? byRank[0] ?? n ?? free.find((axis) => axis !== namedAxis));
    assignRole("line", namedAxis ?? byRank.find((axis) => !(axis.key in roles)));
    if (head.complete) {
      const smallAxes = byRank.filter((axis) => !(axis.key in roles) && axis.texts.length <= 4);
      const hasLine = Object.values(roles).includes("line");
      assignRole(hasLine ? "col" : "line", smallAxes[0]);
    }
    for (const axis of quantity.axes) {
      const isSetting = axis.key.startsWith("setting:");
      const middle = axis === n ? Math.floor(axis.texts.length / 2) : 0;
      if (!(axis.key in roles)) roles[axis.key] = isSetting && !head.complete ? "all" : middle;
    }
    return roles;
  }

  /** Returns the roles of all axes: the wanted ones if they are valid, else the default ones. */
  function completeRoles(quantity, wantedRoles) {
    const roles = {};
    const defaultRoles = defaults(quantity);
    const usedRoles = new Set();
    const isValid = (axis, role) => (typeof role === "number" ? role < axis.texts.length : role in ROLE_NAMES && !usedRoles.has(role));
    const set = (axis, role) => {
      roles[axis.key] = role;
      if (ROLES.includes(role)) usedRoles.add(role);
    };
    for (const axis of quantity.axes) if (axis.key in wantedRoles && isValid(axis, wantedRoles[axis.key])) set(axis, wantedRoles[axis.key]);
    for (const axis of quantity.axes) {
      if (axis.key in roles) continue;
      const defaultRole = defaultRoles[axis.key];
      set(axis, isValid(axis, defaultRole) ? defaultRole : 0);
    }
    return roles;
  }

  // --- the address ---

  function writeAddress() {
    const quantity = data.quantities[state.quantity];
    const parameters = new URLSearchParams({ show: `${quantity.name} / ${quantity.table}`, as: state.as });
    for (const axis of quantity.axes.filter(isVaried)) {
      const role = state.roles[axis.key];
      parameters.append(axis.key, typeof role === "number" ? `=${axis.texts[role]}` : role);
      for (const text of state.chosen[axis.key] ?? []) parameters.append(`only ${axis.key}`, text);
    }
    for (const name of ["limits", "zero", "lowest"]) parameters.append(name, state[name] ? "yes" : "no");
    parameters.append("by", state.by);
    try {
      history.replaceState(null, "", `${PREFIX}${parameters}`);
    } catch { /* a frame without its own address */ }
  }

  /** Returns the state in the address; missing or unknown values have their defaults. */
  function readAddress() {
    const result = { quantity: 0, as: "lines", roles: {}, chosen: {}, limits: true, zero: false, lowest: false, by: "" };
    if (location.hash.startsWith(PREFIX)) {
      const parameters = new URLSearchParams(location.hash.slice(PREFIX.length));
      const index = data.quantities.findIndex((one) => `${one.name} / ${one.table}` === parameters.get("show"));
      result.quantity = Math.max(0, index);
      if (parameters.get("as") === "heat") result.as = "heat";
      for (const axis of data.quantities[result.quantity].axes) {
        const role = parameters.get(axis.key);
        if (role?.startsWith("=")) {
          const valueIndex = axis.texts.indexOf(role.slice(1));
          if (valueIndex >= 0) result.roles[axis.key] = valueIndex;
        } else if (role !== null && role in ROLE_NAMES) result.roles[axis.key] = role;
        const names = parameters.getAll(`only ${axis.key}`).filter((text) => axis.texts.includes(text));
        if (names.length) result.chosen[axis.key] = names;
      }
      for (const name of ["limits", "zero", "lowest"]) if (parameters.has(name)) result[name] = parameters.get(name) === "yes";
      if (ROLES.includes(parameters.get("by"))) result.by = parameters.get("by");
    }
    result.roles = completeRoles(data.quantities[result.quantity], result.roles);
    return result;
  }

  // --- what is shown ---

  function buildView() {
    const quantity = data.quantities[state.quantity];
    const view = { head, quantity, zero: state.zero, limits: state.limits && Boolean(quantity.lower) };
    const [lists, allPlaces] = [{}, {}];
    for (const role of ROLES) {
      const axis = quantity.axes.find((each) => state.roles[each.key] === role) ?? null;
      const all = axis ? SweepCube.indicesOf(axis, state.chosen[axis.key]) : [0];
      // All lines are selected: the heat map shows them all, and the graph the best eight.
      const selected = axis && !state.chosen[axis.key] && role !== "line" ? all.slice(0, MAX_SHOWN[role]) : all;
      view[role] = { axis, places: selected };
      lists[role] = selected;
      allPlaces[role] = all;
    }
    view.selection = SweepCube.select(data, quantity, state.roles, lists);
    const ranked = SweepCube.rankLines(view.selection, state.lowest);
    const showsAllLines = state.chosen[view.line.axis?.key] || state.as === "heat";
    view.lines = showsAllLines ? ranked : ranked.slice(0, MAX_SHOWN.line);
    if (state.as !== "heat") view.lines.sort((a, b) => a - b);
    view.fixed = quantity.axes.filter((axis) => !ROLES.includes(state.roles[axis.key]) && isVaried(axis))
      .map((axis) => [axis, state.roles[axis.key] === "all" ? "mean" : axis.texts[state.roles[axis.key]]]);
    view.yTitle = `${quantity.name}${quantity.share ? " (%)" : ""}`;
    view.caption = caption(view);
    const isSame = ROLES.every((role) => lists[role].length === allPlaces[role].length);
    view.all = isSame ? view : {
      ...view, selection: SweepCube.select(data, quantity, state.roles, allPlaces),
      ...Object.fromEntries(ROLES.map((role) => [role, { axis: view[role].axis, places: allPlaces[role] }])),
    };
    return view;
  }

  function caption(view) {
    const { quantity, selection } = view;
    const single = quantity.axes.filter((axis) => !isVaried(axis) && axis.key.startsWith("column:"));
    const fixed = view.fixed.filter(([, text]) => text !== "mean").map(([axis, text]) => `${axis.name} = ${text}`);
    const means = view.fixed.filter(([, text]) => text === "mean").map(([axis]) => axis.name);
    const against = view.x.axis ? ` against ${view.x.axis.name}` : "";
    const conditions = [...fixed, ...single.map((axis) => `${axis.name} = ${axis.texts[0]}`)];
    const sentences = [`${quantity.table}: ${quantity.name}${against}${conditions.length ? `; ${conditions.join(", ")}` : ""}.`];
    // With named points, each setting may have a single value per point: then nothing is averaged.
    if (selection.maxCount > 1) sentences.push(`Each value is a mean over ${means.join(" and ")}, of at most ${grouped(String(selection.maxCount))} estimates and without limits.`);
    if (view.limits && state.as !== "heat" && selection.lower.some((each) => !Number.isNaN(each))) {
      sentences.push(`${view.x.places.length > 12 ? "Bands" : "Bars"} are ${Number((100 * quantity.confidence).toPrecision(4))} % confidence limits.`);
    }
    for (const role of ROLES) {
      const { axis } = view[role];
      const count = role === "line" ? view.lines.length : view[role].places.length;
      if (axis && !state.chosen[axis.key] && count < axis.texts.length) {
        const which = role === "line" ? `the ${count} with the ${state.lowest ? "lowest" : "highest"} means` : `the first ${count}`;
        sentences.push(`Of ${grouped(String(axis.texts.length))} values of ${axis.name}, ${which} are drawn.`);
      }
    }
    sentences.push(quantity.share ? "Values on this page are rounded by less than 0.001 points."
      : `Values on this page are rounded by at most ${Values.number(quantity.step / 2)}.`);
    return sentences.join(" ");
  }

  function draw() {
    const view = buildView();
    const { graph } = parts;
    const width = Math.max(280, graph.clientWidth);
    const graphic = state.as === "heat" ? SweepGraph.heat(view, width) : SweepGraph.lines(view, width);
    graph.replaceChildren(graphic ? graphic.svg : make("p", { class: "kind" }, "There are no estimates with these settings."));
    drawing = { view, width, marks: graphic?.marks ?? [], svg: graphic?.svg ?? null };
    parts.caption.textContent = view.caption;
    const estimates = SweepTables.estimates(view);
    parts.table.replaceChildren(estimates.table, printNote(estimates.table));
    parts.more.textContent = estimates.omitted ? `${grouped(String(estimates.omitted))} more rows: save them as CSV.` : "";
    const by = view[state.by]?.axis ? state.by : defaultBy(view);
    updateBySelect(view, by);
    const best = SweepTables.best(view.all, by, state.lowest);
    parts.best.replaceChildren(best.table, printNote(best.table));
    const omission = best.omitted ? `The first ${best.table.tBodies[0].rows.length} of ${grouped(String(best.table.tBodies[0].rows.length + best.omitted))} rows. ` : "";
    parts.method.textContent = omission + SweepTables.method(view.quantity, best.methods);
    for (const button of parts.saves) button.disabled = !graphic;
    updateBoxes(view);
    section.dataset.drawn = String(Number(section.dataset.drawn ?? 0) + 1);
  }

  /** Returns the note below a printed table of which only the first rows are printed. */
  function printNote(table) {
    const omitted = table.tBodies[0].rows.length - PRINTED_ROWS;
    return omitted > 0 ? make("p", { class: "sweep-print-note" }, `${omitted} more rows are on the page.`) : "";
  }

  /** Returns the role of a setting, preferably the x axis; else any role in use. */
  function defaultBy(view) {
    const roles = ["x", "col", "row", "line"].filter((role) => view[role].axis);
    return roles.find((role) => view[role].axis.key.startsWith("setting:")) ?? roles[0] ?? "x";
  }

  function update() {
    parts.tip.hidden = true;
    draw();
    writeAddress();
  }

  // --- the controls ---

  const parts = {
    controls: make("div", { class: "sweep-controls" }),
    graph: make("div", { class: "sweep-graph" }),
    caption: make("figcaption", { id: "sweep-caption", "aria-live": "polite" }),
    best: make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "The best" }),
    table: make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Estimates" }),
    more: make("p", { class: "more" }),
    method: make("p", { class: "kind" }),
    by: make("select", { id: "sweep-by" }),
    tip: make("div", { class: "tip", hidden: true }),
    saves: [],
    boxes: [],
  };

  function labelled(id, text, control) {
    control.id = id;
    return make("div", { class: "sweep-control" }, make("label", { for: id }, text), control);
  }

  function selectOf(options, value, onChange) {
    const select = make("select", {}, ...options.map(([key, text]) => make("option", { value: key }, text)));
    select.value = value;
    select.addEventListener("change", () => onChange(select.value));
    return select;
  }

  /** Returns the control for the role of an axis: in the graph, averaged over, or fixed at a value. */
  function roleSelect(axis, number) {
    const role = state.roles[axis.key];
    const select = make("select", {},
      make("optgroup", { label: "Show as" }, ...Object.entries(ROLE_NAMES).map(([key, text]) => make("option", { value: key }, text))),
      make("optgroup", { label: "Fix at" }, ...axis.texts.map((text, index) => make("option", { value: `=${index}` }, text))));
    select.value = typeof role === "number" ? `=${role}` : role;
    select.addEventListener("change", () => {
      const value = select.value.startsWith("=") ? Number(select.value.slice(1)) : select.value;
      assign(axis, value);
      rebuild(select.id);
    });
    return labelled(`sweep-axis-${number}`, axis.name, select);
  }

  /** Gives an axis a role; the axis that had it gets the previous role in exchange, or its first value. */
  function assign(axis, role) {
    const before = state.roles[axis.key];
    const quantity = data.quantities[state.quantity];
    const other = ROLES.includes(role) && quantity.axes.find((each) => each !== axis && state.roles[each.key] === role);
    if (other) state.roles[other.key] = typeof before === "number" ? 0 : before;
    state.roles[axis.key] = role;
  }

  /** Returns checkboxes for the values of an axis. */
  function valueBoxes(axis, role) {
    const summary = make("summary", {});
    const boxes = axis.texts.map((text, index) => {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const names = boxes.filter((each) => each.box.checked).map((each) => axis.texts[each.index]);
        if (names.length) state.chosen[axis.key] = names;
        else delete state.chosen[axis.key];
        update();
      });
      return { box, index, label: make("label", {}, box, ` ${text}`) };
    });
    const actionButton = (text, action) => make("button", { type: "button", onclick: () => { action(); update(); } }, text);
    const actions = make("p", { class: "sweep-actions" },
      actionButton("All", () => { state.chosen[axis.key] = [...axis.texts]; }),
      actionButton("Automatic", () => { delete state.chosen[axis.key]; }));
    parts.boxes.push({ axis, role, summary, boxes });
    return make("details", { class: "sweep-values" }, summary, actions, make("div", {}, ...boxes.map((each) => each.label)));
  }

  /** Checks the boxes of the values that are drawn. */
  function updateBoxes(view) {
    for (const { axis, role, summary, boxes } of parts.boxes) {
      const places = role === "line" ? view.lines.map((line) => view.line.places[line]) : view[role].places;
      const shownPlaces = new Set(places);
      for (const { box, index } of boxes) box.checked = shownPlaces.has(index);
      summary.textContent = `${axis.name}: ${grouped(String(shownPlaces.size))} of ${grouped(String(axis.texts.length))} values`;
    }
  }

  function checkboxOf(name, text) {
    const box = make("input", { type: "checkbox", id: `sweep-${name}` });
    box.checked = state[name];
    box.addEventListener("change", () => { state[name] = box.checked; update(); });
    return make("label", { class: "sweep-check" }, box, ` ${text}`);
  }

  function rebuild(focus) {
    const quantity = data.quantities[state.quantity];
    const number = new Map(data.quantities.map((one, index) => [one, index]));
    const options = [...number].map(([one, index]) => [String(index), `${one.name} – ${one.table}`]);
    const free = quantity.axes.filter(isVaried);
    parts.boxes = [];
    parts.controls.replaceChildren(
      labelled("sweep-quantity", "Estimate", selectOf(options, String(state.quantity), (value) => {
        state.quantity = Number(value);
        state.roles = completeRoles(data.quantities[state.quantity], state.roles);
        rebuild("sweep-quantity");
      })),
      labelled("sweep-as", "Show", selectOf([["lines", "graph"], ["heat", "heat map"]], state.as, (value) => { state.as = value; update(); })),
      ...free.map(roleSelect),
      make("div", { class: "sweep-checks" },
        ...(quantity.lower ? [checkboxOf("limits", "confidence limits")] : []), checkboxOf("zero", "y axis from 0"), checkboxOf("lowest", "lower is better")),
      ...free.filter((axis) => ROLES.includes(state.roles[axis.key])).map((axis) => valueBoxes(axis, state.roles[axis.key])));
    update();
    if (focus) document.getElementById(focus)?.focus();
  }

  /** Updates the options of the menu "Best for each value of". */
  function updateBySelect(view, by) {
    const options = ROLES.toReversed().filter((role) => view[role].axis).map((role) => [role, view[role].axis.name]);
    parts.by.replaceChildren(...options.map(([key, text]) => make("option", { value: key }, text)));
    parts.by.value = by;
    parts.by.disabled = options.length < 2;
  }

  // --- tooltip and saving ---

  function showTip(event) {
    const box = parts.graph.querySelector("svg")?.getBoundingClientRect();
    if (!box) return;
    const scale = drawing.svg.viewBox.baseVal.width / box.width;
    const mark = SweepGraph.nearest(drawing.marks, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    parts.tip.hidden = !mark;
    if (!mark) return;
    const { view } = drawing;
    const at = { row: mark.row, col: mark.col, line: mark.line, x: mark.number };
    const rows = ROLES.toReversed().filter((role) => view[role].axis)
      .map((role) => [view[role].axis.name, view[role].axis.texts[view[role].places[at[role]]]]);
    rows.push([view.yTitle, SweepTables.estimate(view.quantity, view.selection, mark.at)]);
    if (view.selection.count[mark.at] > 1) rows.push(["mean of", String(view.selection.count[mark.at])]);
    parts.tip.replaceChildren(make("table", {}, ...rows.map(([name, text]) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text)))));
    const tipBox = parts.tip.getBoundingClientRect();
    const isRight = event.clientX + 14 + tipBox.width > innerWidth;
    parts.tip.style.left = `${Math.max(4, isRight ? event.clientX - tipBox.width - 14 : event.clientX + 14)}px`;
    parts.tip.style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - tipBox.height - 4))}px`;
  }

  function saveGraph() {
    const colours = { ...LIGHT };
    head.colours.forEach(([light], index) => { colours[`--colour-${index}`] = light; });
    Saving.save(SweepGraph.toFile(drawing.svg, colours), `${head.file}.svg`, "image/svg+xml");
  }

  function saveRows() {
    const { head: names, lines } = SweepTables.rows(drawing.view);
    const isText = (index) => index < names.length - 4;
    Saving.save(Saving.csvOf(names, lines, isText), `${head.file}.csv`);
  }

  function setUp() {
    const rule = (side) => head.colours.map((pair, index) => `--colour-${index}: ${pair[side]};`).join(" ");
    document.head.append(make("style", {}, `.sweep { ${rule(0)} }\n@media screen { :root[data-theme="dark"] .sweep { ${rule(1)} } }`));
    parts.by.addEventListener("change", () => { state.by = parts.by.value; update(); });
    parts.saves = [["Save as SVG", saveGraph], ["Save as CSV", saveRows]]
      .map(([text, onClick]) => make("button", { type: "button", onclick: onClick }, text));
    parts.graph.addEventListener("pointermove", showTip);
    parts.graph.addEventListener("pointerdown", showTip);
    parts.graph.addEventListener("pointerleave", () => { parts.tip.hidden = true; });
    section.querySelector(".sweep-placeholder").remove();
    section.append(
      parts.controls,
      make("figure", {}, parts.graph, parts.caption),
      make("p", { class: "sweep-actions" }, ...parts.saves),
      make("h3", { id: "sweep-best-heading" }, make("label", { for: "sweep-by" }, "Best for each value of "), parts.by),
      parts.best, parts.method,
      make("details", { class: "sweep-numbers", open: true }, make("summary", {}, "Table of the drawn values"), parts.table, parts.more));
    document.body.append(parts.tip);
    let timer = 0;
    addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (Math.max(280, parts.graph.clientWidth) !== drawing.width) draw(); }, 120);
    });
    addEventListener("hashchange", () => {
      if (!location.hash.startsWith(PREFIX)) return;
      state = readAddress();
      rebuild();
    });
  }

  Unpack.bytesOf("sweep-numbers").then((bytes) => {
    data = SweepCube.read(head, bytes);
    state = readAddress();
    setUp();
    rebuild();
    section.dataset.ready = "yes";
  }).catch(console.error);
})();
