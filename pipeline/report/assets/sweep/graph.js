/* The graph and the heat map of a selection, as SVG whose colours are variables of the page. */
const SweepGraph = (() => {
  "use strict";
  const SPACE = "http://www.w3.org/2000/svg";
  const FONT = 12;
  const FEW = 12;  // with no more places at the x axis limits are bars, else bands
  const LEAST = 150;  // the least width of a panel
  const MOST_ROWS = 120;  // rows of a heat map
  const GAP = 18;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${FONT}px Arial, "Liberation Sans", Helvetica, sans-serif`;

  function el(tag, attributes, ...children) {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const widths = new Map();
  function width(text) {
    if (!widths.has(text)) widths.set(text, pen.measureText(text).width);
    return widths.get(text);
  }

  function cut(text, room) {
    if (width(text) <= room) return text;
    let length = Math.max(1, Math.floor(text.length * room / width(text)));
    while (length > 1 && width(`${text.slice(0, length)}…`) > room) length--;
    return `${text.slice(0, length)}…`;
  }

  function words(text, x, y, more = {}) {
    return el("text", { x: round(x), y: round(y), "font-size": FONT, fill: "var(--ink)", ...more }, text);
  }

  const round = (value) => Math.round(value * 10) / 10;

  /** A round step, with which there are about so many from low to high. */
  function stepOf(low, high, about) {
    const rough = (high - low) / Math.max(1, about);
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * .999);
  }

  function ticks(low, high, step) {
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step);
    return found;
  }

  function tickText(value) {
    const size = Math.abs(value);
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return value.toExponential(0).replace("-", "−");
    return Values.grouped(String(Number(value.toPrecision(6)))).replace("-", "−");
  }

  // --- axes ---

  /** Positions at the x axis: on a scale where the values are numbers without a step, else side by side. */
  function across(view, left, right) {
    const { axis, places } = view.x;
    const numbers = axis?.numbers && places.map((place) => axis.numbers[place]);
    if (numbers && places.length > 1 && !(numbers.length <= FEW && evenness(numbers) < 1e-9)) {
      const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
      const logs = low > 0 && evenness(numbers.map(Math.log)) < evenness(numbers);
      const scale = logs ? Math.log : (value) => value;
      const [from, to] = [scale(low), scale(high)];
      const pad = Math.min(26, (right - left) * .1);
      const at = (value) => left + pad + (scale(value) - from) / (to - from) * (right - left - 2 * pad);
      const few = places.length <= 8;
      const round = few ? numbers : logs ? decades(low, high) : ticks(low, high, stepOf(low, high, (right - left) / 45));
      const found = numbers.map(at);
      const sorted = found.toSorted((a, b) => a - b);
      const step = Math.min(...sorted.slice(1).map((each, i) => each - sorted[i]));
      return { at: found, logs, step, ticks: round.map((value) => ({ x: at(value), text: tickText(value) })) };
    }
    const step = (right - left) / places.length;
    const at = places.map((_, place) => left + step * (place + .5));
    return { at, logs: false, step, ticks: places.map((place, i) => ({ x: at[i], text: axis ? axis.texts[place] : "" })) };
  }

  /** How much the steps between numbers vary, relative to their mean: 0 if all are the same. */
  function evenness(numbers) {
    const sorted = numbers.toSorted((a, b) => a - b);
    const mean = (sorted.at(-1) - sorted[0]) / (sorted.length - 1);
    return Math.max(...sorted.slice(1).map((each, i) => Math.abs(each - sorted[i] - mean))) / mean;
  }

  function decades(low, high) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const each of [1, 2, 5]) if (each * 10 ** power >= low && each * 10 ** power <= high) found.push(each * 10 ** power);
    }
    return found;
  }

  /** Labels below an axis: side by side where they fit, else slanted and thinned out. */
  function labels(items, y, room) {
    const group = el("g", {});
    const gaps = items.slice(1).map((each, i) => each.x - items[i].x);
    const fits = items.every((each, i) => width(each.text) + 8 <= Math.min(gaps[i] ?? Infinity, gaps[i - 1] ?? Infinity, room));
    let last = -Infinity;
    const most = (x) => Math.min(110, Math.max(60, x / .77)); // a slanted label ends within the figure
    for (const { x, text } of items) {
      if (fits) group.append(words(text, x, y + FONT, { "text-anchor": "middle", fill: "var(--faint)" }));
      else if (x - last >= FONT + 2) {
        last = x;
        group.append(words(cut(text, most(x)), x + 4, y + 9, {
          "text-anchor": "end", fill: "var(--faint)", transform: `rotate(-40 ${round(x + 4)} ${round(y + 9)})`,
        }));
      }
    }
    const longest = Math.max(0, ...items.map((each) => Math.min(most(each.x), width(each.text))));
    return { group, height: fits ? FONT + 4 : 14 + longest * .66 };
  }

  function extent(view) {
    const { selection, lines } = view;
    const [rows, cols, , xs] = selection.sizes;
    let [low, high] = [Infinity, -Infinity];
    for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) for (const line of lines) for (let x = 0; x < xs; x++) {
      const at = selection.at(row, col, line, x);
      const limits = view.limits ? [selection.lower[at], selection.upper[at]] : [];
      for (const value of [selection.value[at], ...limits]) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return low <= high ? [low, high] : null;
  }

  // --- the parts of both drawings ---

  /** Where the panels stand, each wide enough to be read; what is a single row is broken into several. */
  function layout(view, full, left) {
    const [rows, cols] = view.selection.sizes;
    const several = rows * cols > 1;
    const fit = Math.max(1, Math.floor((full - left + GAP) / (LEAST + GAP)));
    const across = rows > 1 ? cols : Math.ceil(cols / Math.ceil(cols / fit));
    const wide = Math.max((full - left - GAP * (across - 1)) / across, several ? LEAST : 200);
    const bands = [];
    for (let row = 0; row < rows; row++) {
      for (let start = 0; start < cols; start += across) {
        bands.push(Array.from({ length: Math.min(across, cols - start) }, (_, i) => ({ row, col: start + i, left: left + i * (wide + GAP) })));
      }
    }
    return { bands, across, several, wide, left, full: left + across * wide + GAP * (across - 1) };
  }

  function panelTitle(view, row, col) {
    const setting = (axis, places, i) => (axis ? `${axis.name} = ${axis.texts[places[i]]}` : "");
    return [setting(view.row.axis, view.row.places, row), setting(view.col.axis, view.col.places, col)].filter(Boolean).join(", ");
  }

  /** The stroke of each line: its own, or the next that no other line here has. */
  function strokes(view) {
    const { colours, dashes } = view.head;
    const taken = new Set();
    return new Map(view.lines.map((line, number) => {
      let [colour, kind] = view.line.axis?.slots?.[view.line.places[line]] ?? [number % colours.length, Math.floor(number / colours.length) % 4];
      for (let tries = 0; taken.has(`${colour} ${kind}`) && tries < 4 * colours.length; tries++) {
        colour = (colour + 1) % colours.length;
        if (tries % colours.length === colours.length - 1) kind = (kind + 1) % 4;
      }
      taken.add(`${colour} ${kind}`);
      const dash = dashes[(colour + 2 * kind) % dashes.length];
      return [line, { stroke: `var(--colour-${colour})`, dash: dash[1] ? dash.join(" ") : "none" }];
    }));
  }

  /** The names of the lines, with samples, in as many rows as they need. */
  function key(view, looks, full) {
    const group = el("g", {});
    let [x, y] = [0, FONT];
    if (!view.line.axis) return { group, height: 0 };
    for (const line of view.lines) {
      const text = cut(view.line.axis.texts[view.line.places[line]], full - 40);
      const room = 30 + width(text) + 16;
      if (x > 0 && x + room > full) { x = 0; y += FONT + 6; }
      const look = looks.get(line);
      group.append(
        el("line", { x1: x, x2: x + 24, y1: y - 4, y2: y - 4, stroke: look.stroke, "stroke-width": 2, "stroke-dasharray": look.dash }),
        words(text, x + 30, y));
      x += room;
    }
    return { group, height: y + 10 };
  }

  function frame(full, height, label, ...children) {
    return el("svg", {
      viewBox: `0 0 ${Math.ceil(full)} ${Math.ceil(height)}`, width: Math.ceil(full), height: Math.ceil(height),
      role: "img", "aria-label": label, "font-family": 'Arial, "Liberation Sans", Helvetica, sans-serif',
    }, ...children);
  }

  // --- lines ---

  /** Returns the SVG and the marks that a pointer finds. */
  function lines(view, full) {
    const factor = view.quantity.share ? 100 : 1;
    const found = extent(view);
    if (!found) return null;
    let [low, high] = found.map((value) => value * factor);
    if (view.zero && low > 0) low = 0;
    if (view.zero && high < 0) high = 0;
    if (low === high) [low, high] = [low - Math.abs(low || 1) * .1, high + Math.abs(high || 1) * .1];
    const plan = layout(view, full, 46);
    const high_ = plan.bands.length > 1 ? 150 : plan.across > 2 ? 200 : Math.min(320, Math.max(220, plan.wide * .6));
    const step = stepOf(low, high, high_ / 45);
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
    const levels = ticks(low, high, step);
    const looks = strokes(view);
    const names = key(view, looks, plan.full);
    const marks = [];
    const body = el("g", {});
    let top = names.height + FONT + (plan.several ? 8 : 16);
    body.append(words(view.yTitle, 0, names.height + FONT + 2, { fill: "var(--faint)" }));
    for (const band of plan.bands) {
      if (plan.several) top += FONT + 6;
      let below = 0;
      for (const { row, col, left } of band) {
        const [right, bottom] = [left + plan.wide, top + high_];
        const y = (value) => bottom - (value * factor - low) / (high - low) * high_;
        const x = across(view, left, right);
        if (plan.several) body.append(words(cut(panelTitle(view, row, col), plan.wide), left, top - 6, { "font-weight": 600 }));
        for (const level of levels) {
          const at = round(bottom - (level - low) / (high - low) * high_);
          body.append(el("line", { x1: left, x2: right, y1: at, y2: at, stroke: "var(--line)", "stroke-width": level === 0 ? 1.4 : .7 }));
          if (left === plan.left) body.append(words(tickText(level), left - 6, at + 4, { "text-anchor": "end", fill: "var(--faint)" }));
        }
        body.append(el("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "var(--faint)", "stroke-width": 1 }));
        const under = labels(x.ticks, bottom + 3, plan.wide);
        body.append(under.group);
        below = Math.max(below, under.height);
        for (const [place, line] of view.lines.entries()) drawLine(view, looks.get(line), { body, marks, row, col, line, place, x, y });
      }
      top += high_ + below + 8;
    }
    const xTitle = view.x.axis ? view.x.axis.name + (across(view, 0, 100).logs ? " (logarithmic)" : "") : "";
    body.append(words(xTitle, plan.left + (plan.full - plan.left) / 2, top + 8, { "text-anchor": "middle", fill: "var(--faint)" }));
    return { svg: frame(plan.full, top + 14, view.caption, names.group, body), marks };
  }

  function drawLine(view, look, { body, marks, row, col, line, place, x, y }) {
    const { selection } = view;
    const shift = x.at.length <= FEW ? (place - (view.lines.length - 1) / 2) * Math.min(5, x.step * .5 / view.lines.length) : 0;
    const [path, dots, bars, over, under] = [[], [], [], [], []];
    let broken = true;
    x.at.forEach((middle, number) => {
      const at = selection.at(row, col, line, number);
      const value = selection.value[at];
      if (Number.isNaN(value)) { broken = true; return; }
      const [px, py] = [round(middle + shift), round(y(value))];
      path.push(`${broken ? "M" : "L"}${px} ${py}`);
      broken = false;
      dots.push(`M${px - 2.5} ${py}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`);
      marks.push({ x: px, y: py, at, row, col, line, number });
      if (view.limits && !Number.isNaN(selection.lower[at])) {
        const [low, high] = [round(y(selection.lower[at])), round(y(selection.upper[at]))];
        bars.push(`M${px} ${low}V${high}`);
        over.push(`${px} ${high}`);
        under.push(`${px} ${low}`);
      }
    });
    if (bars.length && x.at.length > FEW) {
      body.append(el("path", { d: `M${over.join("L")}L${under.reverse().join("L")}Z`, fill: look.stroke, "fill-opacity": .12 }));
    } else if (bars.length) {
      body.append(el("path", { d: bars.join(""), stroke: look.stroke, "stroke-width": 1, "stroke-opacity": .7, fill: "none" }));
    }
    if (path.length > 1 && view.x.axis) {
      body.append(el("path", {
        d: path.join(""), fill: "none", stroke: look.stroke, "stroke-dasharray": look.dash, "stroke-width": 1.7, "stroke-linejoin": "round",
      }));
    }
    if (x.at.length <= 2 * FEW) body.append(el("path", { d: dots.join(""), fill: look.stroke }));
  }

  // --- the heat map ---

  function mixed(shades, part) {
    const place = Math.min(.9999, Math.max(0, part)) * (shades.length - 1);
    const at = Math.floor(place);
    const channels = (shade) => [1, 3, 5].map((start) => parseInt(shade.slice(start, start + 2), 16));
    const [from, to] = [channels(shades[at]), channels(shades[at + 1])];
    return `#${from.map((each, i) => Math.round(each + (to[i] - each) * (place - at)).toString(16).padStart(2, "0")).join("")}`;
  }

  /** Black or white, whichever stands out more from a colour: at a luminance of .179 both do alike. */
  function inkOn(colour) {
    const [red, green, blue] = [1, 3, 5].map((start) => {
      const part = parseInt(colour.slice(start, start + 2), 16) / 255;
      return part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    });
    return .2126 * red + .7152 * green + .0722 * blue > .179 ? "#000000" : "#fefefe";
  }

  /** Rows are the values of the lines, best first; of many cells those of one shade are one path. */
  function heat(view, full) {
    const found = extent({ ...view, limits: false });
    if (!found) return null;
    const [low, high] = found;
    const factor = view.quantity.share ? 100 : 1;
    const shown = view.lines.slice(0, MOST_ROWS);
    const texts = shown.map((line) => (view.line.axis ? view.line.axis.texts[view.line.places[line]] : ""));
    const left = Math.min(full * .4, 12 + Math.max(0, ...texts.map(width)));
    const plan = layout(view, full, left);
    const xs = view.x.places.length;
    const cell = plan.wide / xs;
    const panels = view.selection.sizes[0] * view.selection.sizes[1];
    const tall = shown.length > 40 ? 14 : 20;
    const numbered = cell >= 34 && xs * shown.length * panels <= 1500;
    const shadeOf = (value) => (high > low ? Math.round((value - low) / (high - low) * 32) / 32 : .5);
    const body = el("g", {});
    const marks = [];
    const ramp = Math.min(160, plan.full / 3);
    const title = cut(view.yTitle, plan.full - ramp - 110);
    for (let i = 0; i < 32; i++) {
      body.append(el("rect", { x: round(i * ramp / 32), y: 0, width: round(ramp / 32 + .3), height: 10, fill: mixed(view.head.shades, i / 31) }));
    }
    body.append(
      el("rect", { x: 0, y: 0, width: ramp, height: 10, fill: "none", stroke: "var(--faint)", "stroke-width": .5 }),
      words(`${tickText(Number((low * factor).toPrecision(3)))} to ${tickText(Number((high * factor).toPrecision(3)))}: ${title}`, ramp + 8, 10, { fill: "var(--faint)" }));
    let top = 22;
    for (const band of plan.bands) {
      if (plan.several) top += FONT + 6;
      let below = 0;
      texts.forEach((text, i) => body.append(
        words(cut(text, left - 8), left - 6, top + i * tall + tall / 2 + 4, { "text-anchor": "end", "font-size": tall < 16 ? 11 : FONT })));
      for (const { row, col, left: start } of band) {
        if (plan.several) body.append(words(cut(panelTitle(view, row, col), plan.wide), start, top - 6, { "font-weight": 600 }));
        const cells = new Map();
        const numbers = el("g", { "text-anchor": "middle" });
        const grounds = el("g", { class: "mark-rect" });
        shown.forEach((line, i) => view.x.places.forEach((_, number) => {
          const at = view.selection.at(row, col, line, number);
          const value = view.selection.value[at];
          if (Number.isNaN(value)) return;
          const [x, y] = [round(start + number * cell), top + i * tall];
          const shade = shadeOf(value);
          if (!cells.has(shade)) cells.set(shade, []);
          const path = `M${x} ${y}h${round(cell)}v${tall}h${-round(cell)}z`;
          if (numbered) grounds.append(el("path", { d: path, fill: mixed(view.head.shades, shade) }));
          else cells.get(shade).push(path);
          marks.push({ x: x + cell / 2, y: y + tall / 2, at, row, col, line, number, w: cell / 2, h: tall / 2 });
          if (numbered) {
            numbers.append(words((value * factor).toFixed(factor === 100 ? 1 : 3), x + cell / 2, y + tall / 2 + 4,
              { "font-size": 11, fill: inkOn(mixed(view.head.shades, shade)) }));
          }
        }));
        for (const [shade, parts] of cells) grounds.append(el("path", { d: parts.join(""), fill: mixed(view.head.shades, shade) }));
        body.append(grounds, numbers, el("rect", {
          x: start, y: top, width: round(plan.wide), height: tall * shown.length, fill: "none", stroke: "var(--faint)", "stroke-width": .5,
        }));
        const items = view.x.places.map((place, i) => ({ x: start + (i + .5) * cell, text: view.x.axis ? view.x.axis.texts[place] : "" }));
        const under = labels(items, top + tall * shown.length + 3, plan.wide);
        body.append(under.group);
        below = Math.max(below, under.height);
      }
      top += tall * shown.length + below + 10;
    }
    body.append(words(view.x.axis ? view.x.axis.name : "", left + (plan.full - left) / 2, top + 6, { "text-anchor": "middle", fill: "var(--faint)" }));
    return { svg: frame(plan.full, top + 12, view.caption, body), marks };
  }

  /** The mark at a place of the drawing: the cell there, or the nearest point within some pixels. */
  function nearest(marks, x, y) {
    let [found, least] = [null, 24 ** 2];
    for (const mark of marks) {
      if (mark.w) {
        if (Math.abs(mark.x - x) <= mark.w && Math.abs(mark.y - y) <= mark.h) return mark;
      } else {
        const away = (mark.x - x) ** 2 + (mark.y - y) ** 2;
        if (away < least) [found, least] = [mark, away];
      }
    }
    return found;
  }

  /** The SVG as a file: with the light colours in the place of the variables of the page. */
  function file(svg, colours) {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", SPACE);
    for (const each of copy.querySelectorAll("*")) {
      for (const name of ["fill", "stroke"]) {
        const variable = /^var\((--[\w-]+)\)$/.exec(each.getAttribute(name) ?? "");
        if (variable) each.setAttribute(name, colours[variable[1]]);
      }
    }
    return new XMLSerializer().serializeToString(copy);
  }

  return { lines, heat, nearest, file };
})();
