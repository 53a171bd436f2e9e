/* The controls of a sweep: what each setting is in the graph; all else follows, and so does the address. */
(() => {
  "use strict";
  const { make, grouped } = Values;
  const { ROLES } = SweepCube;
  const PREFIX = "#sweep?";
  const MOST = { line: 8, row: 4, col: 4, x: Infinity };  // what is shown until somebody chooses values
  const WHOLE_CURVE = 12;  // an n with more values is the x axis at first
  const PRINTED = 20;  // rows of a table on paper: sweep.css
  const ROLE_NAMES = { x: "x axis", line: "lines", row: "rows of panels", col: "columns of panels", all: "mean of all values" };
  const LIGHT = { "--ink": "#1a1a1a", "--faint": "#595959", "--line": "#d5d5d5" };
  const section = document.getElementById("sweep");
  if (!section) return;
  const head = JSON.parse(document.getElementById("sweep-head").textContent);
  let data = null;
  let state = null;
  let shown = null;  // the view that is drawn, with its marks

  // --- what each axis is at first ---

  const many = (axis) => axis.texts.length > 1;
  const isSeed = (axis) => /(^|\.)seed$/.test(axis.key);

  /** Numbers other than seeds are best at the x axis, then what has many values. */
  function rank(axis) {
    return (axis.numbers && axis.texts.length > 2 && !isSeed(axis) ? 1e6 : 0) + axis.texts.length;
  }

  function defaults(quantity) {
    const roles = {};
    const free = quantity.axes.filter(many);
    const take = (role, axis) => { if (axis && !(axis.key in roles)) roles[axis.key] = role; };
    const settings = head.settings.filter(many);
    const n = free.find((axis) => axis.key === "column:n");
    const point = head.complete ? null : settings.find((axis) => axis.key === "setting:point");
    const names = free.find((axis) => axis.slots);
    const byRank = [...settings].sort((a, b) => rank(b) - rank(a));
    const wide = n && n.texts.length > WHOLE_CURVE ? n : null;
    take("x", wide ?? point ?? byRank[0] ?? n ?? free.find((axis) => axis !== names));
    take("line", names ?? byRank.find((axis) => !(axis.key in roles)));
    if (head.complete) {
      const few = byRank.filter((axis) => !(axis.key in roles) && axis.texts.length <= 4);
      const hasLine = Object.values(roles).includes("line");
      take(hasLine ? "col" : "line", few[0]);
    }
    for (const axis of quantity.axes) {
      const setting = axis.key.startsWith("setting:");
      const middle = axis === n ? Math.floor(axis.texts.length / 2) : 0;
      if (!(axis.key in roles)) roles[axis.key] = setting && !head.complete ? "all" : middle;
    }
    return roles;
  }

  /** The roles of a quantity: those that are set, as far as they fit, else those of the beginning. */
  function complete(quantity, given) {
    const roles = {};
    const first = defaults(quantity);
    const taken = new Set();
    const valid = (axis, role) => (typeof role === "number" ? role < axis.texts.length : role in ROLE_NAMES && !taken.has(role));
    const set = (axis, role) => {
      roles[axis.key] = role;
      if (ROLES.includes(role)) taken.add(role);
    };
    for (const axis of quantity.axes) if (axis.key in given && valid(axis, given[axis.key])) set(axis, given[axis.key]);
    for (const axis of quantity.axes) {
      if (axis.key in roles) continue;
      const wanted = first[axis.key];
      set(axis, valid(axis, wanted) ? wanted : 0);
    }
    return roles;
  }

  // --- the address ---

  function written() {
    const quantity = data.quantities[state.quantity];
    const found = new URLSearchParams({ show: `${quantity.name} / ${quantity.table}`, as: state.as });
    for (const axis of quantity.axes.filter(many)) {
      const role = state.roles[axis.key];
      found.append(axis.key, typeof role === "number" ? `=${axis.texts[role]}` : role);
      for (const text of state.chosen[axis.key] ?? []) found.append(`only ${axis.key}`, text);
    }
    for (const name of ["limits", "zero", "lowest"]) found.append(name, state[name] ? "yes" : "no");
    found.append("by", state.by);
    try {
      history.replaceState(null, "", `${PREFIX}${found}`);
    } catch { /* a frame without an address of its own */ }
  }

  /** The state that an address has; what it does not say, or says of what is not there, is as at first. */
  function read() {
    const found = { quantity: 0, as: "lines", roles: {}, chosen: {}, limits: true, zero: false, lowest: false, by: "" };
    if (location.hash.startsWith(PREFIX)) {
      const given = new URLSearchParams(location.hash.slice(PREFIX.length));
      const place = data.quantities.findIndex((one) => `${one.name} / ${one.table}` === given.get("show"));
      found.quantity = Math.max(0, place);
      if (given.get("as") === "heat") found.as = "heat";
      for (const axis of data.quantities[found.quantity].axes) {
        const role = given.get(axis.key);
        if (role?.startsWith("=")) {
          const at = axis.texts.indexOf(role.slice(1));
          if (at >= 0) found.roles[axis.key] = at;
        } else if (role !== null && role in ROLE_NAMES) found.roles[axis.key] = role;
        const only = given.getAll(`only ${axis.key}`).filter((text) => axis.texts.includes(text));
        if (only.length) found.chosen[axis.key] = only;
      }
      for (const name of ["limits", "zero", "lowest"]) if (given.has(name)) found[name] = given.get(name) === "yes";
      if (ROLES.includes(given.get("by"))) found.by = given.get("by");
    }
    found.roles = complete(data.quantities[found.quantity], found.roles);
    return found;
  }

  // --- what is shown ---

  function build() {
    const quantity = data.quantities[state.quantity];
    const view = { head, quantity, zero: state.zero, limits: state.limits && Boolean(quantity.lower) };
    const [lists, whole] = [{}, {}];
    for (const role of ROLES) {
      const axis = quantity.axes.find((each) => state.roles[each.key] === role) ?? null;
      const every = axis ? SweepCube.chosen(axis, state.chosen[axis.key]) : [0];
      // Lines are selected all: the heat map shows them, and the best eight are found among them.
      const some = axis && !state.chosen[axis.key] && role !== "line" ? every.slice(0, MOST[role]) : every;
      view[role] = { axis, places: some };
      lists[role] = some;
      whole[role] = every;
    }
    view.selection = SweepCube.select(data, quantity, state.roles, lists);
    const ranked = SweepCube.ranked(view.selection, state.lowest);
    const byName = state.chosen[view.line.axis?.key] || state.as === "heat";
    view.lines = byName ? ranked : ranked.slice(0, MOST.line);
    if (state.as !== "heat") view.lines.sort((a, b) => a - b);
    view.fixed = quantity.axes.filter((axis) => !ROLES.includes(state.roles[axis.key]) && many(axis))
      .map((axis) => [axis, state.roles[axis.key] === "all" ? "mean" : axis.texts[state.roles[axis.key]]]);
    view.yTitle = `${quantity.name}${quantity.share ? " (%)" : ""}`;
    view.caption = caption(view);
    const same = ROLES.every((role) => lists[role].length === whole[role].length);
    view.all = same ? view : {
      ...view, selection: SweepCube.select(data, quantity, state.roles, whole),
      ...Object.fromEntries(ROLES.map((role) => [role, { axis: view[role].axis, places: whole[role] }])),
    };
    return view;
  }

  function caption(view) {
    const { quantity, selection } = view;
    const single = quantity.axes.filter((axis) => !many(axis) && axis.key.startsWith("column:"));
    const fixed = view.fixed.filter(([, text]) => text !== "mean").map(([axis, text]) => `${axis.name} = ${text}`);
    const means = view.fixed.filter(([, text]) => text === "mean").map(([axis]) => axis.name);
    const against = view.x.axis ? ` against ${view.x.axis.name}` : "";
    const of = [...fixed, ...single.map((axis) => `${axis.name} = ${axis.texts[0]}`)];
    const sentences = [`${quantity.table}: ${quantity.name}${against}${of.length ? `; ${of.join(", ")}` : ""}.`];
    // Of named points a setting may have one value each: there is nothing to average then.
    if (selection.most > 1) sentences.push(`Each value is a mean over ${means.join(" and ")}, of at most ${grouped(String(selection.most))} estimates and without limits.`);
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
    const view = build();
    const { graph } = parts;
    const full = Math.max(280, graph.clientWidth);
    const drawn = state.as === "heat" ? SweepGraph.heat(view, full) : SweepGraph.lines(view, full);
    graph.replaceChildren(drawn ? drawn.svg : make("p", { class: "kind" }, "There are no estimates with these settings."));
    shown = { view, full, marks: drawn?.marks ?? [], svg: drawn?.svg ?? null };
    parts.caption.textContent = view.caption;
    const estimates = SweepTables.estimates(view);
    parts.table.replaceChildren(estimates.table, onPaper(estimates.table));
    parts.more.textContent = estimates.left ? `${grouped(String(estimates.left))} more rows: save them as CSV.` : "";
    const by = view[state.by]?.axis ? state.by : firstBy(view);
    offer(view, by);
    const best = SweepTables.best(view.all, by, state.lowest);
    parts.best.replaceChildren(best.table, onPaper(best.table));
    const cut = best.left ? `The first ${best.table.tBodies[0].rows.length} of ${grouped(String(best.table.tBodies[0].rows.length + best.left))} rows. ` : "";
    parts.method.textContent = cut + SweepTables.method(view.quantity, best.ways);
    for (const button of parts.saves) button.disabled = !drawn;
    ticked(view);
    section.dataset.drawn = String(Number(section.dataset.drawn ?? 0) + 1);
  }

  /** What paper says below a table of which it has the first rows. */
  function onPaper(table) {
    const left = table.tBodies[0].rows.length - PRINTED;
    return left > 0 ? make("p", { class: "sweep-paper" }, `${left} more rows are on the page.`) : "";
  }

  /** A setting that is shown, the x axis first; else whatever is. */
  function firstBy(view) {
    const roles = ["x", "col", "row", "line"].filter((role) => view[role].axis);
    return roles.find((role) => view[role].axis.key.startsWith("setting:")) ?? roles[0] ?? "x";
  }

  function changed() {
    parts.tip.hidden = true;
    draw();
    written();
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

  function choice(options, value, act) {
    const select = make("select", {}, ...options.map(([key, text]) => make("option", { value: key }, text)));
    select.value = value;
    select.addEventListener("change", () => act(select.value));
    return select;
  }

  /** What an axis is: part of the graph, averaged over, or fixed at one of its values. */
  function roleOf(axis, number) {
    const role = state.roles[axis.key];
    const select = make("select", {},
      make("optgroup", { label: "Show as" }, ...Object.entries(ROLE_NAMES).map(([key, text]) => make("option", { value: key }, text))),
      make("optgroup", { label: "Fix at" }, ...axis.texts.map((text, place) => make("option", { value: `=${place}` }, text))));
    select.value = typeof role === "number" ? `=${role}` : role;
    select.addEventListener("change", () => {
      const value = select.value.startsWith("=") ? Number(select.value.slice(1)) : select.value;
      assign(axis, value);
      rebuild(select.id);
    });
    return labelled(`sweep-axis-${number}`, axis.name, select);
  }

  /** Gives an axis a role; one that had it gets that of the other, or its first value. */
  function assign(axis, role) {
    const before = state.roles[axis.key];
    const quantity = data.quantities[state.quantity];
    const other = ROLES.includes(role) && quantity.axes.find((each) => each !== axis && state.roles[each.key] === role);
    if (other) state.roles[other.key] = typeof before === "number" ? 0 : before;
    state.roles[axis.key] = role;
  }

  /** Boxes for the values of an axis that the graph shows. */
  function values(axis, role) {
    const summary = make("summary", {});
    const boxes = axis.texts.map((text, place) => {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const names = boxes.filter((each) => each.box.checked).map((each) => axis.texts[each.place]);
        if (names.length) state.chosen[axis.key] = names;
        else delete state.chosen[axis.key];
        changed();
      });
      return { box, place, label: make("label", {}, box, ` ${text}`) };
    });
    const button = (text, act) => make("button", { type: "button", onclick: () => { act(); changed(); } }, text);
    const actions = make("p", { class: "sweep-actions" },
      button("All", () => { state.chosen[axis.key] = [...axis.texts]; }),
      button("Automatic", () => { delete state.chosen[axis.key]; }));
    parts.boxes.push({ axis, role, summary, boxes });
    return make("details", { class: "sweep-values" }, summary, actions, make("div", {}, ...boxes.map((each) => each.label)));
  }

  /** Marks the boxes of what is drawn. */
  function ticked(view) {
    for (const { axis, role, summary, boxes } of parts.boxes) {
      const places = role === "line" ? view.lines.map((line) => view.line.places[line]) : view[role].places;
      const on = new Set(places);
      for (const { box, place } of boxes) box.checked = on.has(place);
      summary.textContent = `${axis.name}: ${grouped(String(on.size))} of ${grouped(String(axis.texts.length))} values`;
    }
  }

  function check(name, text) {
    const box = make("input", { type: "checkbox", id: `sweep-${name}` });
    box.checked = state[name];
    box.addEventListener("change", () => { state[name] = box.checked; changed(); });
    return make("label", { class: "sweep-check" }, box, ` ${text}`);
  }

  function rebuild(focus) {
    const quantity = data.quantities[state.quantity];
    const number = new Map(data.quantities.map((one, place) => [one, place]));
    const options = [...number].map(([one, place]) => [String(place), `${one.name} – ${one.table}`]);
    const free = quantity.axes.filter(many);
    parts.boxes = [];
    parts.controls.replaceChildren(
      labelled("sweep-quantity", "Estimate", choice(options, String(state.quantity), (value) => {
        state.quantity = Number(value);
        state.roles = complete(data.quantities[state.quantity], state.roles);
        rebuild("sweep-quantity");
      })),
      labelled("sweep-as", "Show", choice([["lines", "graph"], ["heat", "heat map"]], state.as, (value) => { state.as = value; changed(); })),
      ...free.map(roleOf),
      make("div", { class: "sweep-checks" },
        ...(quantity.lower ? [check("limits", "confidence limits")] : []), check("zero", "y axis from 0"), check("lowest", "lower is better")),
      ...free.filter((axis) => ROLES.includes(state.roles[axis.key])).map((axis) => values(axis, state.roles[axis.key])));
    changed();
    if (focus) document.getElementById(focus)?.focus();
  }

  /** The settings of which each value has a best. */
  function offer(view, by) {
    const options = ROLES.toReversed().filter((role) => view[role].axis).map((role) => [role, view[role].axis.name]);
    parts.by.replaceChildren(...options.map(([key, text]) => make("option", { value: key }, text)));
    parts.by.value = by;
    parts.by.disabled = options.length < 2;
  }

  // --- pointing and saving ---

  function point(event) {
    const box = parts.graph.querySelector("svg")?.getBoundingClientRect();
    if (!box) return;
    const scale = shown.svg.viewBox.baseVal.width / box.width;
    const mark = SweepGraph.nearest(shown.marks, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    parts.tip.hidden = !mark;
    if (!mark) return;
    const { view } = shown;
    const at = { row: mark.row, col: mark.col, line: mark.line, x: mark.number };
    const rows = ROLES.toReversed().filter((role) => view[role].axis)
      .map((role) => [view[role].axis.name, view[role].axis.texts[view[role].places[at[role]]]]);
    rows.push([view.yTitle, SweepTables.estimate(view.quantity, view.selection, mark.at)]);
    if (view.selection.count[mark.at] > 1) rows.push(["mean of", String(view.selection.count[mark.at])]);
    parts.tip.replaceChildren(make("table", {}, ...rows.map(([name, text]) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text)))));
    const room = parts.tip.getBoundingClientRect();
    const right = event.clientX + 14 + room.width > innerWidth;
    parts.tip.style.left = `${Math.max(4, right ? event.clientX - room.width - 14 : event.clientX + 14)}px`;
    parts.tip.style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - room.height - 4))}px`;
  }

  function saveGraph() {
    const colours = { ...LIGHT };
    head.colours.forEach(([light], place) => { colours[`--colour-${place}`] = light; });
    Saving.save(SweepGraph.file(shown.svg, colours), `${head.file}.svg`, "image/svg+xml");
  }

  function saveRows() {
    const { head: names, lines } = SweepTables.rows(shown.view);
    const isText = (place) => place < names.length - 4;
    Saving.save(Saving.csvOf(names, lines, isText), `${head.file}.csv`);
  }

  function begin() {
    const rule = (side) => head.colours.map((pair, place) => `--colour-${place}: ${pair[side]};`).join(" ");
    document.head.append(make("style", {}, `.sweep { ${rule(0)} }\n@media screen { :root[data-theme="dark"] .sweep { ${rule(1)} } }`));
    parts.by.addEventListener("change", () => { state.by = parts.by.value; changed(); });
    parts.saves = [["Save as SVG", saveGraph], ["Save as CSV", saveRows]]
      .map(([text, act]) => make("button", { type: "button", onclick: act }, text));
    parts.graph.addEventListener("pointermove", point);
    parts.graph.addEventListener("pointerdown", point);
    parts.graph.addEventListener("pointerleave", () => { parts.tip.hidden = true; });
    section.querySelector(".sweep-waits").remove();
    section.append(
      parts.controls,
      make("figure", {}, parts.graph, parts.caption),
      make("p", { class: "sweep-actions" }, ...parts.saves),
      make("h3", { id: "sweep-best-heading" }, make("label", { for: "sweep-by" }, "Best for each value of "), parts.by),
      parts.best, parts.method,
      make("details", { class: "sweep-numbers", open: true }, make("summary", {}, "Table of what is drawn"), parts.table, parts.more));
    document.body.append(parts.tip);
    let timer = 0;
    addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (Math.max(280, parts.graph.clientWidth) !== shown.full) draw(); }, 120);
    });
    addEventListener("hashchange", () => {
      if (!location.hash.startsWith(PREFIX)) return;
      state = read();
      rebuild();
    });
  }

  Unpack.bytesOf("sweep-numbers").then((bytes) => {
    data = SweepCube.read(head, bytes);
    state = read();
    begin();
    rebuild();
    section.dataset.ready = "yes";
  }).catch(console.error);
})();
