/* The graph and the heat map of a selection, as SVG with the CSS variables of the page as colours. */
const SweepGraph = (() => {
  "use strict";
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const FONT = 12;
  const MAX_BARS = 12;  // up to this number of x values, limits are bars, else bands
  const MIN_PANEL_WIDTH = 150;  // pixels
  const MAX_ROWS = 120;  // rows of a heat map
  const GAP = 18;
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${FONT}px Arial, "Liberation Sans", Helvetica, sans-serif`;

  function el(tag, attributes, ...children) {
    const element = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const widths = new Map();
  function width(text) {
    if (!widths.has(text)) widths.set(text, context.measureText(text).width);
    return widths.get(text);
  }

  function truncate(text, available) {
    if (width(text) <= available) return text;
    let length = Math.max(1, Math.floor(text.length * available / width(text)));
    while (length > 1 && width(`${text.slice(0, length)}…`) > available) length--;
    return `${text.slice(0, length)}…`;
  }

  function textElement(text, x, y, attributes = {}) {
    return el("text", { x: round(x), y: round(y), "font-size": FONT, fill: "var(--ink)", ...attributes }, text);
  }

  const round = (value) => Math.round(value * 10) / 10;

  /** Returns a round step that gives about `count` steps from low to high. */
  function stepOf(low, high, count) {
    const minStep = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(minStep));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= minStep * .999);
  }

  function ticks(low, high, step) {
    const result = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) result.push(i * step);
    return result;
  }

  function tickText(value) {
    const size = Math.abs(value);
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return value.toExponential(0).replace("-", "−");
    return Values.grouped(String(Number(value.toPrecision(6)))).replace("-", "−");
  }

  // --- axes ---

  /** Returns positions on the x axis: on a scale for numbers that are not evenly spaced, else side by side. */
  function xPositions(view, left, right) {
    const { axis, places } = view.x;
    const numbers = axis?.numbers && places.map((place) => axis.numbers[place]);
    if (numbers && places.length > 1 && !(numbers.length <= MAX_BARS && unevenness(numbers) < 1e-9)) {
      const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
      const isLogarithmic = low > 0 && unevenness(numbers.map(Math.log)) < unevenness(numbers);
      const scale = isLogarithmic ? Math.log : (value) => value;
      const [from, to] = [scale(low), scale(high)];
      const padding = Math.min(26, (right - left) * .1);
      const at = (value) => left + padding + (scale(value) - from) / (to - from) * (right - left - 2 * padding);
      const isSparse = places.length <= 8;
      const tickValues = isSparse ? numbers : isLogarithmic ? decades(low, high) : ticks(low, high, stepOf(low, high, (right - left) / 45));
      const positions = numbers.map(at);
      const sorted = positions.toSorted((a, b) => a - b);
      const step = Math.min(...sorted.slice(1).map((each, i) => each - sorted[i]));
      return { at: positions, isLogarithmic, step, ticks: tickValues.map((value) => ({ x: at(value), text: tickText(value) })) };
    }
    const step = (right - left) / places.length;
    const at = places.map((_, index) => left + step * (index + .5));
    return { at, isLogarithmic: false, step, ticks: places.map((place, i) => ({ x: at[i], text: axis ? axis.texts[place] : "" })) };
  }

  /** Returns the largest deviation of a step from the mean step, relative to it: 0 if all are equal. */
  function unevenness(numbers) {
    const sorted = numbers.toSorted((a, b) => a - b);
    const mean = (sorted.at(-1) - sorted[0]) / (sorted.length - 1);
    return Math.max(...sorted.slice(1).map((each, i) => Math.abs(each - sorted[i] - mean))) / mean;
  }

  function decades(low, high) {
    const result = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const each of [1, 2, 5]) if (each * 10 ** power >= low && each * 10 ** power <= high) result.push(each * 10 ** power);
    }
    return result;
  }

  /** Draws the labels below an axis: horizontal if they fit, else slanted and thinned out. */
  function axisLabels(items, y, available) {
    const group = el("g", {});
    const gaps = items.slice(1).map((each, i) => each.x - items[i].x);
    const isFitting = items.every((each, i) => width(each.text) + 8 <= Math.min(gaps[i] ?? Infinity, gaps[i - 1] ?? Infinity, available));
    let lastX = -Infinity;
    const maxWidth = (x) => Math.min(110, Math.max(60, x / .77)); // a slanted label ends within the figure
    for (const { x, text } of items) {
      if (isFitting) group.append(textElement(text, x, y + FONT, { "text-anchor": "middle", fill: "var(--faint)" }));
      else if (x - lastX >= FONT + 2) {
        lastX = x;
        group.append(textElement(truncate(text, maxWidth(x)), x + 4, y + 9, {
          "text-anchor": "end", fill: "var(--faint)", transform: `rotate(-40 ${round(x + 4)} ${round(y + 9)})`,
        }));
      }
    }
    const longest = Math.max(0, ...items.map((each) => Math.min(maxWidth(each.x), width(each.text))));
    return { group, height: isFitting ? FONT + 4 : 14 + longest * .66 };
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

  /** Places the panels, each wide enough to be read; a single row of many panels is wrapped. */
  function layout(view, totalWidth, left) {
    const [rows, cols] = view.selection.sizes;
    const hasPanels = rows * cols > 1;
    const fitting = Math.max(1, Math.floor((totalWidth - left + GAP) / (MIN_PANEL_WIDTH + GAP)));
    const panelsPerRow = rows > 1 ? cols : Math.ceil(cols / Math.ceil(cols / fitting));
    const panelWidth = Math.max((totalWidth - left - GAP * (panelsPerRow - 1)) / panelsPerRow, hasPanels ? MIN_PANEL_WIDTH : 200);
    const bands = [];
    for (let row = 0; row < rows; row++) {
      for (let start = 0; start < cols; start += panelsPerRow) {
        bands.push(Array.from({ length: Math.min(panelsPerRow, cols - start) }, (_, i) => ({ row, col: start + i, left: left + i * (panelWidth + GAP) })));
      }
    }
    return { bands, panelsPerRow, hasPanels, panelWidth, left, full: left + panelsPerRow * panelWidth + GAP * (panelsPerRow - 1) };
  }

  function panelTitle(view, row, col) {
    const setting = (axis, places, i) => (axis ? `${axis.name} = ${axis.texts[places[i]]}` : "");
    return [setting(view.row.axis, view.row.places, row), setting(view.col.axis, view.col.places, col)].filter(Boolean).join(", ");
  }

  /** Returns the stroke of each line: its own, or the next one that is not in use. */
  function strokes(view) {
    const { colours, dashes } = view.head;
    const used = new Set();
    return new Map(view.lines.map((line, number) => {
      let [colour, dashIndex] = view.line.axis?.slots?.[view.line.places[line]] ?? [number % colours.length, Math.floor(number / colours.length) % 4];
      for (let attempt = 0; used.has(`${colour} ${dashIndex}`) && attempt < 4 * colours.length; attempt++) {
        colour = (colour + 1) % colours.length;
        if (attempt % colours.length === colours.length - 1) dashIndex = (dashIndex + 1) % 4;
      }
      used.add(`${colour} ${dashIndex}`);
      const dash = dashes[(colour + 2 * dashIndex) % dashes.length];
      return [line, { stroke: `var(--colour-${colour})`, dash: dash[1] ? dash.join(" ") : "none" }];
    }));
  }

  /** Draws the legend: the names of the lines with samples, wrapped into rows. */
  function legend(view, styles, totalWidth) {
    const group = el("g", {});
    let [x, y] = [0, FONT];
    if (!view.line.axis) return { group, height: 0 };
    for (const line of view.lines) {
      const text = truncate(view.line.axis.texts[view.line.places[line]], totalWidth - 40);
      const itemWidth = 30 + width(text) + 16;
      if (x > 0 && x + itemWidth > totalWidth) { x = 0; y += FONT + 6; }
      const style = styles.get(line);
      group.append(
        el("line", { x1: x, x2: x + 24, y1: y - 4, y2: y - 4, stroke: style.stroke, "stroke-width": 2, "stroke-dasharray": style.dash }),
        textElement(text, x + 30, y));
      x += itemWidth;
    }
    return { group, height: y + 10 };
  }

  function frame(width, height, label, ...children) {
    return el("svg", {
      viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width), height: Math.ceil(height),
      role: "img", "aria-label": label, "font-family": 'Arial, "Liberation Sans", Helvetica, sans-serif',
    }, ...children);
  }

  // --- lines ---

  /** Returns the SVG, and the marks for hit-testing. */
  function lines(view, totalWidth) {
    const factor = view.quantity.share ? 100 : 1;
    const range = extent(view);
    if (!range) return null;
    let [low, high] = range.map((value) => value * factor);
    if (view.zero && low > 0) low = 0;
    if (view.zero && high < 0) high = 0;
    if (low === high) [low, high] = [low - Math.abs(low || 1) * .1, high + Math.abs(high || 1) * .1];
    const plan = layout(view, totalWidth, 46);
    const panelHeight = plan.bands.length > 1 ? 150 : plan.panelsPerRow > 2 ? 200 : Math.min(320, Math.max(220, plan.panelWidth * .6));
    const step = stepOf(low, high, panelHeight / 45);
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
    const levels = ticks(low, high, step);
    const styles = strokes(view);
    const lineLegend = legend(view, styles, plan.full);
    const marks = [];
    const body = el("g", {});
    let top = lineLegend.height + FONT + (plan.hasPanels ? 8 : 16);
    body.append(textElement(view.yTitle, 0, lineLegend.height + FONT + 2, { fill: "var(--faint)" }));
    for (const band of plan.bands) {
      if (plan.hasPanels) top += FONT + 6;
      let labelHeight = 0;
      for (const { row, col, left } of band) {
        const [right, bottom] = [left + plan.panelWidth, top + panelHeight];
        const y = (value) => bottom - (value * factor - low) / (high - low) * panelHeight;
        const x = xPositions(view, left, right);
        if (plan.hasPanels) body.append(textElement(truncate(panelTitle(view, row, col), plan.panelWidth), left, top - 6, { "font-weight": 600 }));
        for (const level of levels) {
          const at = round(bottom - (level - low) / (high - low) * panelHeight);
          body.append(el("line", { x1: left, x2: right, y1: at, y2: at, stroke: "var(--line)", "stroke-width": level === 0 ? 1.4 : .7 }));
          if (left === plan.left) body.append(textElement(tickText(level), left - 6, at + 4, { "text-anchor": "end", fill: "var(--faint)" }));
        }
        body.append(el("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "var(--faint)", "stroke-width": 1 }));
        const xLabels = axisLabels(x.ticks, bottom + 3, plan.panelWidth);
        body.append(xLabels.group);
        labelHeight = Math.max(labelHeight, xLabels.height);
        for (const [index, line] of view.lines.entries()) drawLine(view, styles.get(line), { body, marks, row, col, line, index, x, y });
      }
      top += panelHeight + labelHeight + 8;
    }
    const xTitle = view.x.axis ? view.x.axis.name + (xPositions(view, 0, 100).isLogarithmic ? " (logarithmic)" : "") : "";
    body.append(textElement(xTitle, plan.left + (plan.full - plan.left) / 2, top + 8, { "text-anchor": "middle", fill: "var(--faint)" }));
    return { svg: frame(plan.full, top + 14, view.caption, lineLegend.group, body), marks };
  }

  function drawLine(view, style, { body, marks, row, col, line, index, x, y }) {
    const { selection } = view;
    const shift = x.at.length <= MAX_BARS ? (index - (view.lines.length - 1) / 2) * Math.min(5, x.step * .5 / view.lines.length) : 0;
    const [path, dots, bars, upperPoints, lowerPoints] = [[], [], [], [], []];
    let isBroken = true;
    x.at.forEach((centre, number) => {
      const at = selection.at(row, col, line, number);
      const value = selection.value[at];
      if (Number.isNaN(value)) { isBroken = true; return; }
      const [px, py] = [round(centre + shift), round(y(value))];
      path.push(`${isBroken ? "M" : "L"}${px} ${py}`);
      isBroken = false;
      dots.push(`M${px - 2.5} ${py}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`);
      marks.push({ x: px, y: py, at, row, col, line, number });
      if (view.limits && !Number.isNaN(selection.lower[at])) {
        const [low, high] = [round(y(selection.lower[at])), round(y(selection.upper[at]))];
        bars.push(`M${px} ${low}V${high}`);
        upperPoints.push(`${px} ${high}`);
        lowerPoints.push(`${px} ${low}`);
      }
    });
    if (bars.length && x.at.length > MAX_BARS) {
      body.append(el("path", { d: `M${upperPoints.join("L")}L${lowerPoints.reverse().join("L")}Z`, fill: style.stroke, "fill-opacity": .12 }));
    } else if (bars.length) {
      body.append(el("path", { d: bars.join(""), stroke: style.stroke, "stroke-width": 1, "stroke-opacity": .7, fill: "none" }));
    }
    if (path.length > 1 && view.x.axis) {
      body.append(el("path", {
        d: path.join(""), fill: "none", stroke: style.stroke, "stroke-dasharray": style.dash, "stroke-width": 1.7, "stroke-linejoin": "round",
      }));
    }
    if (x.at.length <= 2 * MAX_BARS) body.append(el("path", { d: dots.join(""), fill: style.stroke }));
  }

  // --- the heat map ---

  function mixShades(shades, share) {
    const position = Math.min(.9999, Math.max(0, share)) * (shades.length - 1);
    const lower = Math.floor(position);
    const channels = (shade) => [1, 3, 5].map((start) => parseInt(shade.slice(start, start + 2), 16));
    const [from, to] = [channels(shades[lower]), channels(shades[lower + 1])];
    return `#${from.map((each, i) => Math.round(each + (to[i] - each) * (position - lower)).toString(16).padStart(2, "0")).join("")}`;
  }

  /** Returns black or white, whichever has more contrast to a colour; it is equal at a luminance of .179. */
  function textColour(colour) {
    const [red, green, blue] = [1, 3, 5].map((start) => {
      const channel = parseInt(colour.slice(start, start + 2), 16) / 255;
      return channel <= .04045 ? channel / 12.92 : ((channel + .055) / 1.055) ** 2.4;
    });
    return .2126 * red + .7152 * green + .0722 * blue > .179 ? "#000000" : "#fefefe";
  }

  /** Rows are the lines, best first; in a large map, all cells of one shade are a single path. */
  function heat(view, totalWidth) {
    const range = extent({ ...view, limits: false });
    if (!range) return null;
    const [low, high] = range;
    const factor = view.quantity.share ? 100 : 1;
    const lines = view.lines.slice(0, MAX_ROWS);
    const texts = lines.map((line) => (view.line.axis ? view.line.axis.texts[view.line.places[line]] : ""));
    const left = Math.min(totalWidth * .4, 12 + Math.max(0, ...texts.map(width)));
    const plan = layout(view, totalWidth, left);
    const xs = view.x.places.length;
    const cellWidth = plan.panelWidth / xs;
    const panels = view.selection.sizes[0] * view.selection.sizes[1];
    const rowHeight = lines.length > 40 ? 14 : 20;
    const showNumbers = cellWidth >= 34 && xs * lines.length * panels <= 1500;
    const shadeFor = (value) => (high > low ? Math.round((value - low) / (high - low) * 32) / 32 : .5);
    const body = el("g", {});
    const marks = [];
    const rampWidth = Math.min(160, plan.full / 3);
    const title = truncate(view.yTitle, plan.full - rampWidth - 110);
    for (let i = 0; i < 32; i++) {
      body.append(el("rect", { x: round(i * rampWidth / 32), y: 0, width: round(rampWidth / 32 + .3), height: 10, fill: mixShades(view.head.shades, i / 31) }));
    }
    body.append(
      el("rect", { x: 0, y: 0, width: rampWidth, height: 10, fill: "none", stroke: "var(--faint)", "stroke-width": .5 }),
      textElement(`${tickText(Number((low * factor).toPrecision(3)))} to ${tickText(Number((high * factor).toPrecision(3)))}: ${title}`, rampWidth + 8, 10, { fill: "var(--faint)" }));
    let top = 22;
    for (const band of plan.bands) {
      if (plan.hasPanels) top += FONT + 6;
      let labelHeight = 0;
      texts.forEach((text, i) => body.append(
        textElement(truncate(text, left - 8), left - 6, top + i * rowHeight + rowHeight / 2 + 4, { "text-anchor": "end", "font-size": rowHeight < 16 ? 11 : FONT })));
      for (const { row, col, left: start } of band) {
        if (plan.hasPanels) body.append(textElement(truncate(panelTitle(view, row, col), plan.panelWidth), start, top - 6, { "font-weight": 600 }));
        const cells = new Map();
        const numbers = el("g", { "text-anchor": "middle" });
        const backgrounds = el("g", { class: "mark-rect" });
        lines.forEach((line, i) => view.x.places.forEach((_, number) => {
          const at = view.selection.at(row, col, line, number);
          const value = view.selection.value[at];
          if (Number.isNaN(value)) return;
          const [x, y] = [round(start + number * cellWidth), top + i * rowHeight];
          const shade = shadeFor(value);
          if (!cells.has(shade)) cells.set(shade, []);
          const path = `M${x} ${y}h${round(cellWidth)}v${rowHeight}h${-round(cellWidth)}z`;
          if (showNumbers) backgrounds.append(el("path", { d: path, fill: mixShades(view.head.shades, shade) }));
          else cells.get(shade).push(path);
          marks.push({ x: x + cellWidth / 2, y: y + rowHeight / 2, at, row, col, line, number, w: cellWidth / 2, h: rowHeight / 2 });
          if (showNumbers) {
            numbers.append(textElement((value * factor).toFixed(factor === 100 ? 1 : 3), x + cellWidth / 2, y + rowHeight / 2 + 4,
              { "font-size": 11, fill: textColour(mixShades(view.head.shades, shade)) }));
          }
        }));
        for (const [shade, parts] of cells) backgrounds.append(el("path", { d: parts.join(""), fill: mixShades(view.head.shades, shade) }));
        body.append(backgrounds, numbers, el("rect", {
          x: start, y: top, width: round(plan.panelWidth), height: rowHeight * lines.length, fill: "none", stroke: "var(--faint)", "stroke-width": .5,
        }));
        const items = view.x.places.map((place, i) => ({ x: start + (i + .5) * cellWidth, text: view.x.axis ? view.x.axis.texts[place] : "" }));
        const xLabels = axisLabels(items, top + rowHeight * lines.length + 3, plan.panelWidth);
        body.append(xLabels.group);
        labelHeight = Math.max(labelHeight, xLabels.height);
      }
      top += rowHeight * lines.length + labelHeight + 10;
    }
    body.append(textElement(view.x.axis ? view.x.axis.name : "", left + (plan.full - left) / 2, top + 6, { "text-anchor": "middle", fill: "var(--faint)" }));
    return { svg: frame(plan.full, top + 12, view.caption, body), marks };
  }

  /** Returns the mark at a position: the cell there, or the nearest point within 24 units. */
  function nearest(marks, x, y) {
    let [closest, smallest] = [null, 24 ** 2];
    for (const mark of marks) {
      if (mark.w) {
        if (Math.abs(mark.x - x) <= mark.w && Math.abs(mark.y - y) <= mark.h) return mark;
      } else {
        const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
        if (distance < smallest) [closest, smallest] = [mark, distance];
      }
    }
    return closest;
  }

  /** Returns the SVG as a file, with light colours in place of the CSS variables. */
  function toFile(svg, colours) {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", NAMESPACE);
    for (const each of copy.querySelectorAll("*")) {
      for (const name of ["fill", "stroke"]) {
        const variable = /^var\((--[\w-]+)\)$/.exec(each.getAttribute(name) ?? "");
        if (variable) each.setAttribute(name, colours[variable[1]]);
      }
    }
    return new XMLSerializer().serializeToString(copy);
  }

  return { lines, heat, nearest, toFile };
})();
