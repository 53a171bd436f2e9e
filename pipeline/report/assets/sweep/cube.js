/* The estimates of a sweep: unpacks them and arranges them in rows, columns, lines and x values of a graph. */
const SweepCube = (() => {
  "use strict";
  const ROLES = ["row", "col", "line", "x"];

  /** Unpacks the points and all quantities; axes of settings come first, then axes of tables. */
  function read(head, bytes) {
    const reader = new Unpack.Reader(bytes);
    const all = reader.planes(2, head.points * head.settings.length);
    const places = head.settings.map((_, i) => all.subarray(i * head.points, (i + 1) * head.points));
    const quantities = head.quantities.map((quantity) => {
      const inner = quantity.axes.reduce((product, axis) => product * axis.texts.length, 1);
      const size = head.points * inner;
      const codes = reader.planes(2, size * (quantity.limits ? 3 : 1));
      const part = (number) => codes.subarray(number * size, (number + 1) * size);
      return {
        ...quantity, inner, own: quantity.axes, axes: [...head.settings, ...quantity.axes],
        value: part(0), lower: quantity.limits ? part(1) : null, upper: quantity.limits ? part(2) : null,
      };
    });
    return { head, places, quantities };
  }

  /** Returns the indices of all values of an axis, or of the named ones. */
  function indicesOf(axis, names) {
    const indices = axis.texts.map((_, index) => index);
    if (!names) return indices;
    const nameSet = new Set(names);
    return indices.filter((index) => nameSet.has(axis.texts[index]));
  }

  /** Returns, over all axes of the table, the index of each cell and its offset in the result. */
  function innerSteps(quantity, offsets) {
    let steps = [{ at: 0, to: 0 }];
    for (const [number, axis] of quantity.own.entries()) {
      const offset = offsets[number];
      const size = axis.texts.length;
      const next = [];
      for (const { at, to } of steps) {
        for (let value = 0; value < size; value++) {
          if (offset[value] >= 0) next.push({ at: at * size + value, to: to + offset[value] });
        }
      }
      steps = next;
    }
    return { at: Uint32Array.from(steps, (each) => each.at), to: Uint32Array.from(steps, (each) => each.to) };
  }

  /**
   * Selects estimates. `roles` has the role of every axis (by key): "row", "col", "line", "x", "all",
   * which averages over its values, or the index of the value that it is fixed at. `lists` has the
   * indices of the values that each role shows.
   */
  function select(data, quantity, roles, lists) {
    const sizes = ROLES.map((role) => (lists[role] ? lists[role].length : 1));
    const strides = {};
    let total = 1;
    for (let i = ROLES.length - 1; i >= 0; i--) {
      strides[ROLES[i]] = total;
      total *= sizes[i];
    }
    const offsets = quantity.axes.map((axis) => {
      const role = roles[axis.key];
      const offset = new Int32Array(axis.texts.length).fill(role === "all" ? 0 : -1);
      if (typeof role === "number") offset[role] = 0;
      else if (role !== "all") lists[role].forEach((value, target) => { offset[value] = target * strides[role]; });
      return offset;
    });
    const settings = data.places.length;
    const { at, to } = innerSteps(quantity, offsets.slice(settings));
    const result = {
      sizes, strides, total,
      count: new Uint32Array(total), value: new Float64Array(total),
      lower: new Float64Array(total).fill(NaN), upper: new Float64Array(total).fill(NaN),
    };
    const { low, step, inner, value, lower, upper } = quantity;
    const { nothing: missing } = data.head;
    const decode = (code) => (code === missing ? NaN : low + code * step);
    for (let point = 0; point < data.head.points; point++) {
      let base = 0;
      for (let i = 0; i < settings; i++) {
        const offset = offsets[i][data.places[i][point]];
        if (offset < 0) { base = -1; break; }
        base += offset;
      }
      if (base < 0) continue;
      const start = point * inner;
      for (let i = 0; i < at.length; i++) {
        const cell = start + at[i];
        if (value[cell] === missing) continue;
        const target = base + to[i];
        result.value[target] += low + value[cell] * step;
        if (++result.count[target] === 1 && lower) {
          result.lower[target] = decode(lower[cell]);
          result.upper[target] = decode(upper[cell]);
        }
      }
    }
    result.maxCount = 0;
    for (let i = 0; i < total; i++) {
      const count = result.count[i];
      result.maxCount = Math.max(result.maxCount, count);
      if (count === 0) result.value[i] = NaN;
      else if (count > 1) {
        result.value[i] /= count;
        result.lower[i] = result.upper[i] = NaN;  // a mean of dependent estimates has no limits here
      }
    }
    result.at = (row, col, line, x) => row * strides.row + col * strides.col + line * strides.line + x;
    return result;
  }

  /** Returns the indices of the lines by mean, best first; lines without estimates are last. */
  function rankLines(selection, lowest) {
    const [rows, cols, lines, xs] = selection.sizes;
    const means = Array.from({ length: lines }, (_, line) => {
      let [sum, count] = [0, 0];
      for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) for (let x = 0; x < xs; x++) {
        const value = selection.value[selection.at(row, col, line, x)];
        if (!Number.isNaN(value)) { sum += value; count++; }
      }
      return count ? sum / count : NaN;
    });
    const sortKey = (line) => (Number.isNaN(means[line]) ? -Infinity : lowest ? -means[line] : means[line]);
    return means.map((_, line) => line).sort((a, b) => sortKey(b) - sortKey(a) || a - b);
  }

  // --- estimates that are not significantly worse than the best ---

  /** Upper tail of the normal distribution: Numerical Recipes, erfcc; relative error below 1.2e-7. */
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
   * Returns the best of some cells of a selection, and those that are not significantly worse. With
   * confidence limits each is compared with the best by a one-sided test: z is the distance on the logit
   * scale (on the plain scale if the quantity is not a share, or if an estimate or limit is 0 or 1),
   * divided by the root of the summed squares of the distances from both estimates to the limits between
   * them, times z of the limits; with Bonferroni correction. Without limits, estimates within one point
   * of the best are included, or within 1 % of the range.
   */
  function best(quantity, { value, lower, upper }, cells, lowest) {
    const known = cells.filter((at) => !Number.isNaN(value[at]));
    if (!known.length) return null;
    const sign = lowest ? -1 : 1;
    let [top] = known;
    for (const at of known) if (sign * value[at] > sign * value[top]) top = at;
    const others = known.filter((at) => at !== top);
    const hasLimits = known.every((at) => !Number.isNaN(lower[at]) && !Number.isNaN(upper[at]));
    if (!hasLimits) {
      const tolerance = (quantity.share ? .01 : .01 * quantity.step * 65534) * (1 + 1e-9) + quantity.step;
      const among = others.filter((at) => sign * (value[top] - value[at]) <= tolerance);
      return { top, among, compared: known.length, by: "near" };
    }
    const isInside = (p) => p > 0 && p < 1;
    const usesLogits = quantity.share && known.every((at) => isInside(value[at]) && isInside(lower[at]) && isInside(upper[at]));
    const scale = usesLogits ? logit : (p) => p;
    const [bestValue, bestLimit] = [scale(value[top]), scale((lowest ? upper : lower)[top])];
    const among = others.filter((at) => {
      const scaled = scale(value[at]);
      const distance = sign * (bestValue - scaled);
      if (distance <= 0) return true;
      const error = Math.hypot(bestValue - bestLimit, scaled - scale((lowest ? lower : upper)[at]));
      return error > 0 && tail(distance / error * quantity.z) * others.length > .05;
    });
    return { top, among, compared: known.length, by: usesLogits ? "logit" : "plain" };
  }

  return { ROLES, read, indicesOf, select, rankLines, best, tail };
})();
