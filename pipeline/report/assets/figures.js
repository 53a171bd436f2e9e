"use strict";
// Interactive figures: each is a static image until it comes near the viewport, and is then drawn from
// its specification. Names are highlighted in all figures at once, and one toolbar sets the intervals
// and the range of n of all of them.
(() => {
  const NARROW_WIDTH = 540;  // pixels: a narrower container gets the narrow version
  const MAX_DISTANCE = 14;  // pixels between the mouse and the nearest line
  const packs = window.lexassayFigures;
  const figures = [];
  let loading = null;  // promise of the library and the specifications
  let selectedName = "";  // the name selected by a click or tap
  let hoveredName = "";  // the name that is hovered or focused
  let isTouch = false;  // whether the last pointer event came from a finger
  const shared = { limits: null, zoom: null };  // the settings of the toolbar
  let axis = null;  // the smallest and the largest n of all figures with zoom
  let toolbar = null;  // the toolbar of the page; null until the specifications are loaded

  // --- unpacking ---

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function load() {
    loading ??= (async () => {
      const [library, content] = await Promise.all([unpack(packs.library), unpack(packs.figures)]);
      const script = document.createElement("script");
      script.textContent = library;
      document.head.append(script);
      return JSON.parse(content);
    })();
    return loading;
  }

  /** Return a specification with its data, in the colours of the page. */
  function fillIn(value, data, colours) {
    if (Array.isArray(value)) return value.map((each) => fillIn(each, data, colours));
    if (value === null || typeof value !== "object") {
      return typeof value === "string" && colours && colours[value] || value;
    }
    const copy = {};
    for (const [name, each] of Object.entries(value)) {
      if (name === "data" && typeof each === "number") copy[name] = data[each];
      else if (name === "range" && value.interpolate) copy[name] = each;  // shades are the same in dark mode
      else copy[name] = fillIn(each, data, colours);
    }
    return copy;
  }

  // --- light and dark ---

  function isDark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function pageColour(value) { return isDark() && packs.dark[value] || value; }

  // --- tooltip ---

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;

  function showTip(event, value, name) {
    if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
    const rows = typeof value === "object" ? Object.entries(value) : [["", String(value)]];
    const table = document.createElement("table");
    for (const [heading, text] of rows) {
      const row = table.insertRow();
      row.className = heading === name || text === name ? "this" : "";
      const th = document.createElement("th");
      th.scope = "row";
      th.textContent = heading;
      const td = row.appendChild(th) && row.insertCell();
      td.textContent = text === null || text === undefined || text === "null" ? "–" : text;
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
    const name = hoveredName || selectedName;
    for (const figure of figures) {
      if (figure.view && figure.isNear) applyHighlight(figure, name);
      for (const chip of figure.tools.querySelectorAll("button.key")) {
        chip.setAttribute("aria-pressed", String(chip.dataset.name === selectedName));
      }
    }
  }

  function applyHighlight(figure, name) {
    const ownName = figure.settings.names.includes(name) ? name : "";
    if (figure.highlighted === ownName || !figure.settings.names.length) return;
    figure.highlighted = ownName;
    figure.view.signal("highlight", ownName).runAsync();
  }

  function toggleSelection(name) {
    selectedName = selectedName === name ? "" : name;
    hoveredName = "";
    highlight();
  }

  function setHovered(name) {
    if (hoveredName === name) return;
    hoveredName = name;
    highlight();
  }

  /** Return the position of an event in the plotting area, in pixels of the specification. */
  function position(figure, event) {
    const svg = figure.live.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [left, top] = figure.view.origin();
    return { x: (event.clientX - box.left) * scale - left, y: (event.clientY - box.top) * scale - top, scale };
  }

  /** Return the name that a mark belongs to: its own, or that of the nearest line. */
  function nameAt(figure, event, item) {
    const datum = item?.datum;
    if (!datum) return "";
    const names = figure.settings.names;
    if (String(item.mark?.name).startsWith("live_hover")) return nearestName(figure, event, datum);
    const fields = ["name", "line", "measure", "label", "row", "column", "text"];
    return fields.map((field) => datum[field]).find((each) => names.includes(each)) ?? "";
  }

  function nearestName(figure, event, datum) {
    const { y } = position(figure, event);
    const scale = figure.view.scale("y");
    let [closest, smallest] = ["", MAX_DISTANCE];
    figure.settings.names.forEach((name, index) => {
      const value = parseFloat(datum[`m${index}`]);
      const distance = Math.abs(scale(value) - y);
      if (distance < smallest) [closest, smallest] = [name, distance];
    });
    return closest;
  }

  // --- zoom on x ---

  /** Show a range of n in all figures with zoom. */
  function zoom(low, high) {
    const [first, last] = axis;
    const minWidth = (last - first) / 500;
    const width = Math.min(last - first, Math.max(minWidth, high - low));
    const start = Math.min(Math.max(first, low), last - width);
    shared.zoom = width >= (last - first) * 0.999 ? null : [start, start + width];
    toolbar.querySelector(".reset").disabled = shared.zoom === null;
    for (const figure of figures) {
      if (figure.view && figure.settings.zoom) figure.view.signal("n_zoom", zoomRange(figure)).runAsync();
    }
  }

  /** Return the part of the range that is on a figure's axis; null if it shows the whole axis. */
  function zoomRange(figure) {
    if (!shared.zoom || !figure.settings.zoom) return null;
    const [first, last] = figure.settings.zoom;
    const [low, high] = [Math.max(first, shared.zoom[0]), Math.min(last, shared.zoom[1])];
    return low < high && (low > first || high < last) ? [low, high] : null;
  }

  function zoomBy(factor, middle) {
    const [low, high] = shared.zoom ?? axis;
    const centre = middle ?? (low + high) / 2;
    zoom(centre - (centre - low) * factor, centre + (high - centre) * factor);
  }

  function shift(share) {
    const [low, high] = shared.zoom ?? axis;
    zoom(low + share * (high - low), high + share * (high - low));
  }

  function addPointerZoom(figure) {
    const { live } = figure;
    const pointers = new Map();
    let start = null;
    const valueAt = (event) => figure.view.scale("x").invert(position(figure, event).x);
    const isInside = (event) => {
      const { x, y } = position(figure, event);
      return x >= 0 && x <= figure.view.width() && y >= 0 && y <= figure.view.height();
    };
    live.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomBy(Math.exp(event.deltaY / 300), valueAt(event));
    }, { passive: false });
    live.addEventListener("pointerdown", (event) => {
      if (!isInside(event) || event.button) return;
      pointers.set(event.pointerId, event);
      start = { event, at: valueAt(event), range: zoomRange(figure) ?? figure.settings.zoom, span: null };
    });
    live.addEventListener("pointermove", (event) => {
      if (!start || !pointers.has(event.pointerId)) return;
      if (pointers.size === 2) pinch(event);
      else if (event.pointerType === "touch") drag(event);
      else selectRange(event);
    });
    function pinch(event) {
      const before = [...pointers.values()];
      pointers.set(event.pointerId, event);
      const after = [...pointers.values()];
      const distance = ([a, b]) => Math.max(10, Math.abs(a.clientX - b.clientX));
      const middle = { clientX: (after[0].clientX + after[1].clientX) / 2, clientY: 0 };
      zoomBy(distance(before) / distance(after), valueAt(middle));
    }
    function drag(event) {
      if (!zoomRange(figure)) return;
      const distance = position(figure, start.event).x - position(figure, event).x;
      const [low, high] = start.range;
      const delta = distance / figure.view.width() * (high - low);
      zoom(low + delta, high + delta);
    }
    function selectRange(event) {
      const distance = event.clientX - start.event.clientX;
      if (!start.span && Math.abs(distance) < 6) return;
      if (!start.span) {
        start.span = Object.assign(document.createElement("div"), { className: "span" });
        live.parentElement.append(start.span);
        live.setPointerCapture(event.pointerId);
      }
      const box = live.parentElement.getBoundingClientRect();
      const { scale } = position(figure, event);
      const top = live.querySelector("svg").getBoundingClientRect().top + figure.view.origin()[1] / scale - box.top;
      Object.assign(start.span.style, {
        left: `${Math.min(event.clientX, start.event.clientX) - box.left + live.parentElement.scrollLeft}px`,
        width: `${Math.abs(distance)}px`, top: `${top}px`, height: `${figure.view.height() / scale}px`,
      });
    }
    const finish = (event) => {
      pointers.delete(event.pointerId);
      if (!start) return;
      const { span } = start;
      if (span && event.type === "pointerup") {
        figure.zoomedAt = Date.now();  // the click that follows must not select a name
        const range = [start.at, valueAt(event)].sort((a, b) => a - b);
        zoom(...range);
      }
      span?.remove();
      start = null;
    };
    live.addEventListener("pointerup", finish);
    live.addEventListener("pointercancel", finish);
  }

  // --- the key above a figure, and the toolbar of the page ---

  function element(tag, properties = {}, children = []) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  function lineSample(style) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    for (const [name, value] of [["width", 26], ["height", 8], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
    const line = document.createElementNS(namespace, "line");
    const attributes = { x1: 0, x2: 26, y1: 4, y2: 4, stroke: pageColour(style.colour), "stroke-width": style.width + 0.4, "stroke-dasharray": style.dash.join(" ") };
    if (style.dash[1] === 0) delete attributes["stroke-dasharray"];
    for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
    svg.append(line);
    return svg;
  }

  function keyButton(entry) {
    const text = element("span", { textContent: entry.name });
    const node = element("button", { type: "button", className: "key", title: entry.name }, [lineSample(entry), text]);
    node.dataset.name = entry.name;
    node.setAttribute("aria-pressed", String(entry.name === selectedName));
    node.addEventListener("click", () => toggleSelection(entry.name));
    node.addEventListener("focus", () => { if (node.matches(":focus-visible")) setHovered(entry.name); });
    node.addEventListener("blur", () => setHovered(""));
    node.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") setHovered(entry.name); });
    node.addEventListener("pointerleave", () => setHovered(""));
    return node;
  }

  function button(text, label, onClick, className = "") {
    const node = element("button", { type: "button", textContent: text, className });
    node.setAttribute("aria-label", label);
    node.title = label;
    node.addEventListener("click", onClick);
    return node;
  }

  function limitsSelect(kinds) {
    const select = element("select", {}, kinds.map((each) => element("option", { value: each, textContent: each })));
    select.value = shared.limits = kinds.at(-1);
    select.addEventListener("change", () => {
      shared.limits = select.value;
      for (const figure of figures) {
        if (figure.view && figure.settings.limits.length) figure.view.signal("limits", limitsOf(figure)).runAsync();
      }
    });
    return element("label", { className: "group limits" }, ["Intervals ", select]);
  }

  /** Return the intervals that a figure shows: the selected kind if it has them, else its last kind. */
  function limitsOf(figure) {
    const kinds = figure.settings.limits;
    return kinds.includes(shared.limits) ? shared.limits : kinds.at(-1) ?? "pointwise";
  }

  function zoomButtons() {
    const reset = button("Reset", "Reset: show the whole axis", () => zoom(...axis), "reset");
    reset.disabled = true;
    const group = element("span", { className: "group zoom" }, [
      button("−", "Zoom out", () => zoomBy(2)), button("+", "Zoom in", () => zoomBy(0.5)),
      button("‹", "Move left", () => shift(-0.5)), button("›", "Move right", () => shift(0.5)), reset,
    ]);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Zoom on the horizontal axis");
    return group;
  }

  /** Add the toolbar of all figures to the page, if it has any controls. */
  function addToolbar(specs) {
    const metas = Object.values(specs).map(([wideSpec]) => wideSpec.usermeta?.lexassay ?? DEFAULTS);
    const kinds = metas.map((each) => each.limits ?? []).sort((a, b) => b.length - a.length)[0] ?? [];
    const axes = metas.map((each) => each.zoom).filter(Boolean);
    if (axes.length) axis = [Math.min(...axes.map((each) => each[0])), Math.max(...axes.map((each) => each[1]))];
    toolbar = element("div", { className: "page-tools tools" }, [...(kinds.length > 1 ? [limitsSelect(kinds)] : []), ...(axis ? [zoomButtons()] : [])]);
    toolbar.setAttribute("role", "region");
    toolbar.setAttribute("aria-label", "All figures");
    if (toolbar.children.length) (document.querySelector("main") ?? document.querySelector(".tools")).before(toolbar);
  }

  function saveButtons(figure) {
    const save = async (kind) => {
      const address = await figure.view.toImageURL(kind, kind === "png" ? 2 : 1);
      element("a", { href: address, download: `${figure.name}.${kind}` }).click();
    };
    const kinds = ["svg", "png"].map((kind) => button(kind.toUpperCase(), `Save the figure as ${kind.toUpperCase()}`, () => save(kind)));
    return element("span", { className: "save" }, [" ", ...kinds]);
  }

  function addKey(figure) {
    const { settings } = figure;
    const entries = settings.key.map(keyButton);
    const extraEntries = figure.isNarrow ? settings.more.map((each) => element("span", { className: "key" }, [lineSample(each), element("span", { textContent: each.name })])) : [];
    figure.tools.replaceChildren(...entries, ...extraEntries);
    const target = figure.container.parentElement.querySelector("figcaption") ?? figure.tools;
    if (!target.querySelector(".save")) target.append(saveButtons(figure));
  }

  // --- drawing ---

  const DEFAULTS = { names: [], key: [], more: [], limits: [], zoom: null };

  async function draw(figure) {
    const { data, figures: specs } = await load();
    if (!toolbar) addToolbar(specs);
    const [wideSpec, narrowSpec] = specs[figure.name];
    figure.isNarrow = figure.container.clientWidth < NARROW_WIDTH;
    figure.isDark = isDark();
    const spec = fillIn(figure.isNarrow && narrowSpec || wideSpec, data, figure.isDark ? packs.dark : null);
    const settings = { ...DEFAULTS, ...spec.usermeta?.lexassay };
    const live = element("div", { className: "live" });
    live.setAttribute("role", "img");
    live.setAttribute("aria-label", figure.still?.alt ?? document.title);
    const showTooltip = (_, event, item, value) => {
      const isEmpty = value === null || value === undefined || value === "";
      if (isEmpty && isTouch) return;  // lifting the finger must not hide the tooltip of a tap
      showTip(event, value, hoveredName || selectedName);
    };
    const { view } = await window.vegaEmbed(live, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, hover: true, tooltip: showTooltip,
    });
    Object.assign(figure, { view, settings, live, highlighted: "" });
    for (const [signal, value] of [["limits", limitsOf(figure)], ["n_zoom", zoomRange(figure)]]) {
      if (spec.usermeta?.lexassay) view.signal(signal, value);
    }
    await view.runAsync();
    // The figure is one labelled image: hide its unlabelled layers from screen readers.
    for (const mark of live.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) mark.removeAttribute("role");
    view.addEventListener("pointermove", (event, item) => { if (event.pointerType !== "touch") setHovered(nameAt(figure, event, item)); });
    view.addEventListener("click", (event, item) => {
      if (Date.now() - (figure.zoomedAt ?? 0) < 300) return;
      if (item?.tooltip) showTip(event, item.tooltip, "");
      const name = nameAt(figure, event, item);
      if (name && settings.names.includes(name)) toggleSelection(name);
    });
    live.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") { setHovered(""); tip.hidden = true; } });
    figure.container.querySelector(".live")?.remove();
    figure.container.append(live);
    figure.container.classList.add("drawn");
    figure.container.classList.toggle("narrow", figure.isNarrow);
    figure.container.classList.toggle("zooms", settings.zoom !== null);
    if (figure.container.scrollWidth > figure.container.clientWidth + 1) figure.container.tabIndex = 0;  // so that keys can scroll it
    else figure.container.removeAttribute("tabindex");
    addKey(figure);
    if (settings.zoom) addPointerZoom(figure);
    applyHighlight(figure, hoveredName || selectedName);
  }

  /** Draw a figure, never twice at the same time; on failure the static image stays. */
  function redraw(figure) {
    figure.drawing = (figure.drawing ?? Promise.resolve())
      .then(() => { const oldView = figure.view; return draw(figure).then(() => oldView?.finalize()); })
      .catch((error) => console.error(`figure ${figure.name}:`, error));
    return figure.drawing;
  }

  function isCurrent(figure) {
    return figure.isNarrow === figure.container.clientWidth < NARROW_WIDTH && figure.isDark === isDark();
  }

  function refresh() {
    document.documentElement.classList.toggle("dark", isDark());
    for (const figure of figures) if (figure.view && figure.isNear && !isCurrent(figure)) redraw(figure);
  }

  const visibilityObserver = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = figures.find((each) => each.container === entry.target);
      figure.isNear = entry.isIntersecting;
      if (!figure.isNear) continue;
      if (!figure.drawing || figure.view && !isCurrent(figure)) redraw(figure);
      else if (figure.view) applyHighlight(figure, hoveredName || selectedName);
    }
  }, { rootMargin: "600px 0px" });
  const resizeObserver = new ResizeObserver(refresh);

  for (const container of document.querySelectorAll("[data-figure]")) {
    const tools = container.parentElement.querySelector(".tools");
    const still = container.querySelector(".still");
    figures.push({ container, tools, still, name: container.dataset.figure });
    visibilityObserver.observe(container);
    resizeObserver.observe(container);
  }
  document.body.append(tip);
  for (const type of ["pointerdown", "pointermove"]) {
    document.addEventListener(type, (event) => { isTouch = event.pointerType === "touch"; }, { capture: true, passive: true });
  }
  document.addEventListener("themechange", refresh);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest?.(".live")) tip.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { tip.hidden = true; selectedName = ""; setHovered(""); highlight(); }
  });
  refresh();
})();
