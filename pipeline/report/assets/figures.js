"use strict";
// Figures that answer: each stands as a still picture until it comes near the window, then it is
// drawn from its specification. Names are highlighted in all figures at once, and one toolbar sets
// the intervals and the range of n of all of them.
(() => {
  const PHONE = 540;  // pixels: a narrower place takes the narrow drawing
  const REACH = 14;  // pixels: how near a line must be to the mouse to be meant
  const packs = window.lexassayFigures;
  const figures = [];
  let held = null;  // the specifications, once unpacked
  let chosen = "";  // the name that a chip or a tap holds
  let met = "";  // the name under the mouse or in focus
  let finger = false;  // whether the last thing that pointed was a finger
  const shared = { limits: null, zoom: null };  // what the toolbar has set
  let axis = null;  // the first and the last n of all figures that zoom
  let bar = null;  // the toolbar of the page, once the specifications are there

  // --- unpacking ---

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function load() {
    held ??= (async () => {
      const [library, content] = await Promise.all([unpacked(packs.library), unpacked(packs.figures)]);
      const script = document.createElement("script");
      script.textContent = library;
      document.head.append(script);
      return JSON.parse(content);
    })();
    return held;
  }

  /** Return a specification with its data, in the colours of the page. */
  function filled(value, data, colours) {
    if (Array.isArray(value)) return value.map((each) => filled(each, data, colours));
    if (value === null || typeof value !== "object") {
      return typeof value === "string" && colours && colours[value] || value;
    }
    const found = {};
    for (const [name, each] of Object.entries(value)) {
      if (name === "data" && typeof each === "number") found[name] = data[each];
      else if (name === "range" && value.interpolate) found[name] = each;  // shades stay
      else found[name] = filled(each, data, colours);
    }
    return found;
  }

  // --- light and dark ---

  function dark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function colour(of) { return dark() && packs.dark[of] || of; }

  // --- the tip ---

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;

  function tell(event, value, name) {
    if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
    const rows = typeof value === "object" ? Object.entries(value) : [["", String(value)]];
    const table = document.createElement("table");
    for (const [head, said] of rows) {
      const row = table.insertRow();
      row.className = head === name || said === name ? "this" : "";
      const th = document.createElement("th");
      th.scope = "row";
      th.textContent = head;
      const td = row.appendChild(th) && row.insertCell();
      td.textContent = said === null || said === undefined || said === "null" ? "–" : said;
    }
    tip.replaceChildren(table);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 14 : event.clientX + 14;
    const top = Math.min(event.clientY + 12, innerHeight - box.height - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }

  // --- highlighting ---

  function highlight() {
    const name = met || chosen;
    for (const figure of figures) {
      if (figure.view && figure.near) shine(figure, name);
      for (const chip of figure.tools.querySelectorAll("button.key")) {
        chip.setAttribute("aria-pressed", String(chip.dataset.name === chosen));
      }
    }
  }

  function shine(figure, name) {
    const mine = figure.own.names.includes(name) ? name : "";
    if (figure.shown === mine || !figure.own.names.length) return;
    figure.shown = mine;
    figure.view.signal("highlight", mine).runAsync();
  }

  function choose(name) {
    chosen = chosen === name ? "" : name;
    met = "";
    highlight();
  }

  function meet(name) {
    if (met === name) return;
    met = name;
    highlight();
  }

  /** Return where an event is in the plotting area, in the pixels of the specification. */
  function place(figure, event) {
    const svg = figure.live.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [left, top] = figure.view.origin();
    return { x: (event.clientX - box.left) * scale - left, y: (event.clientY - box.top) * scale - top, scale };
  }

  /** Return the name that a mark stands for: its own, or that of the line that is nearest. */
  function named(figure, event, item) {
    const datum = item?.datum;
    if (!datum) return "";
    const names = figure.own.names;
    if (String(item.mark?.name).startsWith("live_hover")) return nearest(figure, event, datum);
    const fields = ["name", "line", "measure", "label", "row", "column", "text"];
    return fields.map((field) => datum[field]).find((each) => names.includes(each)) ?? "";
  }

  function nearest(figure, event, datum) {
    const { y } = place(figure, event);
    const scale = figure.view.scale("y");
    let [best, least] = ["", REACH];
    figure.own.names.forEach((name, index) => {
      const value = parseFloat(datum[`m${index}`]);
      const away = Math.abs(scale(value) - y);
      if (away < least) [best, least] = [name, away];
    });
    return best;
  }

  // --- zoom on x ---

  /** Show this range of n in all figures that zoom. */
  function zoom(low, high) {
    const [first, last] = axis;
    const least = (last - first) / 500;
    const wide = Math.min(last - first, Math.max(least, high - low));
    const from = Math.min(Math.max(first, low), last - wide);
    shared.zoom = wide >= (last - first) * 0.999 ? null : [from, from + wide];
    bar.querySelector(".reset").disabled = shared.zoom === null;
    for (const figure of figures) {
      if (figure.view && figure.own.zoom) figure.view.signal("n_zoom", range(figure)).runAsync();
    }
  }

  /** Return the part of the range that a figure has; null if it shows its whole axis. */
  function range(figure) {
    if (!shared.zoom || !figure.own.zoom) return null;
    const [first, last] = figure.own.zoom;
    const [low, high] = [Math.max(first, shared.zoom[0]), Math.min(last, shared.zoom[1])];
    return low < high && (low > first || high < last) ? [low, high] : null;
  }

  function by(factor, middle) {
    const [low, high] = shared.zoom ?? axis;
    const at = middle ?? (low + high) / 2;
    zoom(at - (at - low) * factor, at + (high - at) * factor);
  }

  function shift(part) {
    const [low, high] = shared.zoom ?? axis;
    zoom(low + part * (high - low), high + part * (high - low));
  }

  function pulls(figure) {
    const { live } = figure;
    const touching = new Map();
    let start = null;
    const at = (event) => figure.view.scale("x").invert(place(figure, event).x);
    const inside = (event) => {
      const { x, y } = place(figure, event);
      return x >= 0 && x <= figure.view.width() && y >= 0 && y <= figure.view.height();
    };
    live.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(Math.exp(event.deltaY / 300), at(event));
    }, { passive: false });
    live.addEventListener("pointerdown", (event) => {
      if (!inside(event) || event.button) return;
      touching.set(event.pointerId, event);
      start = { event, at: at(event), range: range(figure) ?? figure.own.zoom, span: null };
    });
    live.addEventListener("pointermove", (event) => {
      if (!start || !touching.has(event.pointerId)) return;
      if (touching.size === 2) pinch(event);
      else if (event.pointerType === "touch") drag(event);
      else mark(event);
    });
    function pinch(event) {
      const before = [...touching.values()];
      touching.set(event.pointerId, event);
      const after = [...touching.values()];
      const away = ([a, b]) => Math.max(10, Math.abs(a.clientX - b.clientX));
      const middle = { clientX: (after[0].clientX + after[1].clientX) / 2, clientY: 0 };
      by(away(before) / away(after), at(middle));
    }
    function drag(event) {
      if (!range(figure)) return;
      const moved = place(figure, start.event).x - place(figure, event).x;
      const [low, high] = start.range;
      const by = moved / figure.view.width() * (high - low);
      zoom(low + by, high + by);
    }
    function mark(event) {
      const moved = event.clientX - start.event.clientX;
      if (!start.span && Math.abs(moved) < 6) return;
      if (!start.span) {
        start.span = Object.assign(document.createElement("div"), { className: "span" });
        live.parentElement.append(start.span);
        live.setPointerCapture(event.pointerId);
      }
      const box = live.parentElement.getBoundingClientRect();
      const { scale } = place(figure, event);
      const top = live.querySelector("svg").getBoundingClientRect().top + figure.view.origin()[1] / scale - box.top;
      Object.assign(start.span.style, {
        left: `${Math.min(event.clientX, start.event.clientX) - box.left + live.parentElement.scrollLeft}px`,
        width: `${Math.abs(moved)}px`, top: `${top}px`, height: `${figure.view.height() / scale}px`,
      });
    }
    const end = (event) => {
      touching.delete(event.pointerId);
      if (!start) return;
      const { span } = start;
      if (span && event.type === "pointerup") {
        figure.pulled = Date.now();  // the click that follows chooses nothing
        const ends = [start.at, at(event)].sort((a, b) => a - b);
        zoom(...ends);
      }
      span?.remove();
      start = null;
    };
    live.addEventListener("pointerup", end);
    live.addEventListener("pointercancel", end);
  }

  // --- the key over a figure, and the toolbar of the page ---

  function element(tag, more = {}, children = []) {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...children);
    return made;
  }

  function sample(each) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    for (const [name, value] of [["width", 26], ["height", 8], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
    const line = document.createElementNS(space, "line");
    const how = { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour(each.colour), "stroke-width": each.width + 0.4, "stroke-dasharray": each.dash.join(" ") };
    if (each.dash[1] === 0) delete how["stroke-dasharray"];
    for (const [name, value] of Object.entries(how)) line.setAttribute(name, value);
    svg.append(line);
    return svg;
  }

  function chip(each) {
    const text = element("span", { textContent: each.name });
    const made = element("button", { type: "button", className: "key", title: each.name }, [sample(each), text]);
    made.dataset.name = each.name;
    made.setAttribute("aria-pressed", String(each.name === chosen));
    made.addEventListener("click", () => choose(each.name));
    made.addEventListener("focus", () => { if (made.matches(":focus-visible")) meet(each.name); });
    made.addEventListener("blur", () => meet(""));
    made.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") meet(each.name); });
    made.addEventListener("pointerleave", () => meet(""));
    return made;
  }

  function button(text, label, does, className = "") {
    const made = element("button", { type: "button", textContent: text, className });
    made.setAttribute("aria-label", label);
    made.title = label;
    made.addEventListener("click", does);
    return made;
  }

  function limitsSelect(kinds) {
    const select = element("select", {}, kinds.map((each) => element("option", { value: each, textContent: each })));
    select.value = shared.limits = kinds.at(-1);
    select.addEventListener("change", () => {
      shared.limits = select.value;
      for (const figure of figures) {
        if (figure.view && figure.own.limits.length) figure.view.signal("limits", limits(figure)).runAsync();
      }
    });
    return element("label", { className: "group limits" }, ["Intervals ", select]);
  }

  /** Return the intervals that a figure shows: those that are chosen, or the nearest that it has. */
  function limits(figure) {
    const kinds = figure.own.limits;
    return kinds.includes(shared.limits) ? shared.limits : kinds.at(-1) ?? "pointwise";
  }

  function zoomer() {
    const reset = button("Reset", "Reset: show the whole axis", () => zoom(...axis), "reset");
    reset.disabled = true;
    const group = element("span", { className: "group zoom" }, [
      button("−", "Zoom out", () => by(2)), button("+", "Zoom in", () => by(0.5)),
      button("‹", "Move left", () => shift(-0.5)), button("›", "Move right", () => shift(0.5)), reset,
    ]);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Zoom on the horizontal axis");
    return group;
  }

  /** Put the toolbar of all figures into the page, if there is something to switch. */
  function equipPage(specs) {
    const metas = Object.values(specs).map(([wide]) => wide.usermeta?.lexassay ?? PLAIN);
    const kinds = metas.map((each) => each.limits ?? []).sort((a, b) => b.length - a.length)[0] ?? [];
    const axes = metas.map((each) => each.zoom).filter(Boolean);
    if (axes.length) axis = [Math.min(...axes.map((each) => each[0])), Math.max(...axes.map((each) => each[1]))];
    bar = element("div", { className: "page-tools tools" }, [...(kinds.length > 1 ? [limitsSelect(kinds)] : []), ...(axis ? [zoomer()] : [])]);
    bar.setAttribute("role", "region");
    bar.setAttribute("aria-label", "All figures");
    if (bar.children.length) (document.querySelector("main") ?? document.querySelector(".tools")).before(bar);
  }

  function saver(figure) {
    const save = async (kind) => {
      const address = await figure.view.toImageURL(kind, kind === "png" ? 2 : 1);
      element("a", { href: address, download: `${figure.name}.${kind}` }).click();
    };
    const kinds = ["svg", "png"].map((kind) => button(kind.toUpperCase(), `Save the figure as ${kind.toUpperCase()}`, () => save(kind)));
    return element("span", { className: "save" }, [" ", ...kinds]);
  }

  function equip(figure) {
    const { own } = figure;
    const keys = own.key.map(chip);
    const more = figure.narrow ? own.more.map((each) => element("span", { className: "key" }, [sample(each), element("span", { textContent: each.name })])) : [];
    figure.tools.replaceChildren(...keys, ...more);
    const beside = figure.place.parentElement.querySelector("figcaption") ?? figure.tools;
    if (!beside.querySelector(".save")) beside.append(saver(figure));
  }

  // --- drawing ---

  const PLAIN = { names: [], key: [], more: [], limits: [], zoom: null };

  async function draw(figure) {
    const { data, figures: specs } = await load();
    if (!bar) equipPage(specs);
    const [wide, slim] = specs[figure.name];
    figure.narrow = figure.place.clientWidth < PHONE;
    figure.night = dark();
    const spec = filled(figure.narrow && slim || wide, data, figure.night ? packs.dark : null);
    const own = { ...PLAIN, ...spec.usermeta?.lexassay };
    const live = element("div", { className: "live" });
    live.setAttribute("role", "img");
    live.setAttribute("aria-label", figure.still?.alt ?? document.title);
    const told = (_, event, item, value) => {
      const nothing = value === null || value === undefined || value === "";
      if (nothing && finger) return;  // a tap is told of; that the finger is lifted says nothing
      tell(event, value, met || chosen);
    };
    const { view } = await window.vegaEmbed(live, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, hover: true, tooltip: told,
    });
    Object.assign(figure, { view, own, live, shown: "" });
    for (const [signal, value] of [["limits", limits(figure)], ["n_zoom", range(figure)]]) {
      if (spec.usermeta?.lexassay) view.signal(signal, value);
    }
    await view.runAsync();
    // The figure is an image with a text of its own: layers that have none are no images to a reader.
    for (const mark of live.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) mark.removeAttribute("role");
    view.addEventListener("pointermove", (event, item) => { if (event.pointerType !== "touch") meet(named(figure, event, item)); });
    view.addEventListener("click", (event, item) => {
      if (Date.now() - (figure.pulled ?? 0) < 300) return;
      if (item?.tooltip) tell(event, item.tooltip, "");
      const name = named(figure, event, item);
      if (name && own.names.includes(name)) choose(name);
    });
    live.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") { meet(""); tip.hidden = true; } });
    figure.place.querySelector(".live")?.remove();
    figure.place.append(live);
    figure.place.classList.add("drawn");
    figure.place.classList.toggle("narrow", figure.narrow);
    figure.place.classList.toggle("zooms", own.zoom !== null);
    if (figure.place.scrollWidth > figure.place.clientWidth + 1) figure.place.tabIndex = 0;  // keys scroll it
    else figure.place.removeAttribute("tabindex");
    equip(figure);
    if (own.zoom) pulls(figure);
    shine(figure, met || chosen);
  }

  /** Draw a figure, one drawing of it at a time; what fails leaves the still picture. */
  function redraw(figure) {
    figure.drawing = (figure.drawing ?? Promise.resolve())
      .then(() => { const old = figure.view; return draw(figure).then(() => old?.finalize()); })
      .catch((error) => console.error(`figure ${figure.name}:`, error));
    return figure.drawing;
  }

  function fits(figure) {
    return figure.narrow === figure.place.clientWidth < PHONE && figure.night === dark();
  }

  function refresh() {
    document.documentElement.classList.toggle("night", dark());
    for (const figure of figures) if (figure.view && figure.near && !fits(figure)) redraw(figure);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = figures.find((each) => each.place === entry.target);
      figure.near = entry.isIntersecting;
      if (!figure.near) continue;
      if (!figure.drawing || figure.view && !fits(figure)) redraw(figure);
      else if (figure.view) shine(figure, met || chosen);
    }
  }, { rootMargin: "600px 0px" });
  const resized = new ResizeObserver(refresh);

  for (const place of document.querySelectorAll("[data-figure]")) {
    const tools = place.parentElement.querySelector(".tools");
    const still = place.querySelector(".still");
    figures.push({ place, tools, still, name: place.dataset.figure });
    watcher.observe(place);
    resized.observe(place);
  }
  document.body.append(tip);
  for (const type of ["pointerdown", "pointermove"]) {
    document.addEventListener(type, (event) => { finger = event.pointerType === "touch"; }, { capture: true, passive: true });
  }
  document.addEventListener("themechange", refresh);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest?.(".live")) tip.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { tip.hidden = true; chosen = ""; meet(""); highlight(); }
  });
  refresh();
})();
