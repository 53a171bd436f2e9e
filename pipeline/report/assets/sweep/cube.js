/* The estimates of a sweep: unpacked, and brought to rows, columns, lines and places of a graph. */
const SweepCube = (() => {
  "use strict";
  const ROLES = ["row", "col", "line", "x"];

  /** Unpacks the points and all quantities; their axes are those of settings, then those of tables. */
  function read(head, bytes) {
    const reader = new Unpack.Reader(bytes);
    const all = reader.planes(2, head.points * head.settings.length);
    const places = head.settings.map((_, i) => all.subarray(i * head.points, (i + 1) * head.points));
    const quantities = head.quantities.map((one) => {
      const inner = one.axes.reduce((product, axis) => product * axis.texts.length, 1);
      const size = head.points * inner;
      const codes = reader.planes(2, size * (one.limits ? 3 : 1));
      const part = (number) => codes.subarray(number * size, (number + 1) * size);
      return {
        ...one, inner, own: one.axes, axes: [...head.settings, ...one.axes],
        value: part(0), lower: one.limits ? part(1) : null, upper: one.limits ? part(2) : null,
      };
    });
    return { head, places, quantities };
  }

  /** The places of all values of an axis, or of those that are chosen. */
  function chosen(axis, names) {
    const all = axis.texts.map((_, place) => place);
    if (!names) return all;
    const wanted = new Set(names);
    return all.filter((place) => wanted.has(axis.texts[place]));
  }

  /** What each cell of the quantity adds to the place in the result: of every axis of the table. */
  function innerSteps(quantity, ways) {
    let steps = [{ at: 0, to: 0 }];
    for (const [number, axis] of quantity.own.entries()) {
      const way = ways[number];
      const size = axis.texts.length;
      const next = [];
      for (const { at, to } of steps) {
        for (let value = 0; value < size; value++) {
          if (way[value] >= 0) next.push({ at: at * size + value, to: to + way[value] });
        }
      }
      steps = next;
    }
    return { at: Uint32Array.from(steps, (each) => each.at), to: Uint32Array.from(steps, (each) => each.to) };
  }

  /**
   * Selects estimates. `roles` says of every axis (by key) what it is: "row", "col", "line", "x",
   * "all", which averages over its values, or the place of a value that it is fixed at. `lists` has
   * the places that each role shows; empty if no axis has the role.
   */
  function select(data, quantity, roles, lists) {
    const sizes = ROLES.map((role) => (lists[role] ? lists[role].length : 1));
    const strides = {};
    let total = 1;
    for (let i = ROLES.length - 1; i >= 0; i--) {
      strides[ROLES[i]] = total;
      total *= sizes[i];
    }
    const ways = quantity.axes.map((axis) => {
      const role = roles[axis.key];
      const way = new Int32Array(axis.texts.length).fill(role === "all" ? 0 : -1);
      if (typeof role === "number") way[role] = 0;
      else if (role !== "all") lists[role].forEach((value, place) => { way[value] = place * strides[role]; });
      return way;
    });
    const settings = data.places.length;
    const { at, to } = innerSteps(quantity, ways.slice(settings));
    const found = {
      sizes, strides, total,
      count: new Uint32Array(total), value: new Float64Array(total),
      lower: new Float64Array(total).fill(NaN), upper: new Float64Array(total).fill(NaN),
    };
    const { low, step, inner, value, lower, upper } = quantity;
    const { nothing } = data.head;
    const number = (code) => (code === nothing ? NaN : low + code * step);
    for (let point = 0; point < data.head.points; point++) {
      let base = 0;
      for (let i = 0; i < settings; i++) {
        const way = ways[i][data.places[i][point]];
        if (way < 0) { base = -1; break; }
        base += way;
      }
      if (base < 0) continue;
      const first = point * inner;
      for (let i = 0; i < at.length; i++) {
        const cell = first + at[i];
        if (value[cell] === nothing) continue;
        const place = base + to[i];
        found.value[place] += low + value[cell] * step;
        if (++found.count[place] === 1 && lower) {
          found.lower[place] = number(lower[cell]);
          found.upper[place] = number(upper[cell]);
        }
      }
    }
    found.most = 0;
    for (let i = 0; i < total; i++) {
      const count = found.count[i];
      found.most = Math.max(found.most, count);
      if (count === 0) found.value[i] = NaN;
      else if (count > 1) {
        found.value[i] /= count;
        found.lower[i] = found.upper[i] = NaN;  // a mean of dependent estimates has no limits here
      }
    }
    found.at = (row, col, line, x) => row * strides.row + col * strides.col + line * strides.line + x;
    return found;
  }

  /** The places of the lines with the highest (or lowest) means, best first; those without estimates last. */
  function ranked(selection, lowest) {
    const [rows, cols, lines, xs] = selection.sizes;
    const means = Array.from({ length: lines }, (_, line) => {
      let [sum, count] = [0, 0];
      for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) for (let x = 0; x < xs; x++) {
        const value = selection.value[selection.at(row, col, line, x)];
        if (!Number.isNaN(value)) { sum += value; count++; }
      }
      return count ? sum / count : NaN;
    });
    const key = (line) => (Number.isNaN(means[line]) ? -Infinity : lowest ? -means[line] : means[line]);
    return means.map((_, line) => line).sort((a, b) => key(b) - key(a) || a - b);
  }

  // --- which estimates are not significantly worse than the best ---

  /** The upper tail of the normal distribution: Numerical Recipes, erfcc; relative error below 1.2e-7. */
  function tail(z) {
    const x = Math.abs(z) / Math.SQRT2;
    const t = 1 / (1 + x / 2);
    const series = [1.00002368, .37409196, .09678418, -.18628806, .27886807, -1.13520398, 1.48851587, -.82215223, .17087277];
    const power = series.reduceRight((sum, each) => each + t * sum, 0);
    const p = t * Math.exp(-x * x - 1.26551223 + t * power) / 2;
    return z >= 0 ? p : 1 - p;
  }

  const logit = (p) => Math.log(p / (1 - p));

  /**
   * The best of a set of cells of a selection, and those that are not significantly worse. With limits
   * each is compared with the best by a one-sided test: the distance on the logit scale (on the plain
   * scale if the quantity is no share, or an estimate or limit is 0 or 1), over the root of the summed
   * squares of the distances from both estimates to the limits between them, times z of the limits;
   * corrected by Bonferroni. Without limits those within one point count, or within 1 % of the range.
   */
  function best(quantity, { value, lower, upper }, cells, lowest) {
    const known = cells.filter((at) => !Number.isNaN(value[at]));
    if (!known.length) return null;
    const sign = lowest ? -1 : 1;
    let [top] = known;
    for (const at of known) if (sign * value[at] > sign * value[top]) top = at;
    const others = known.filter((at) => at !== top);
    const limited = known.every((at) => !Number.isNaN(lower[at]) && !Number.isNaN(upper[at]));
    if (!limited) {
      const near = (quantity.share ? .01 : .01 * quantity.step * 65534) * (1 + 1e-9) + quantity.step;
      const among = others.filter((at) => sign * (value[top] - value[at]) <= near);
      return { top, among, compared: known.length, by: "near" };
    }
    const inside = (p) => p > 0 && p < 1;
    const onLogits = quantity.share && known.every((at) => inside(value[at]) && inside(lower[at]) && inside(upper[at]));
    const scale = onLogits ? logit : (p) => p;
    const [summit, facing] = [scale(value[top]), scale((lowest ? upper : lower)[top])];
    const among = others.filter((at) => {
      const mine = scale(value[at]);
      const away = sign * (summit - mine);
      if (away <= 0) return true;
      const error = Math.hypot(summit - facing, mine - scale((lowest ? lower : upper)[at]));
      return error > 0 && tail(away / error * quantity.z) * others.length > .05;
    });
    return { top, among, compared: known.length, by: onLogits ? "logit" : "plain" };
  }

  return { ROLES, read, chosen, select, ranked, best, tail };
})();
