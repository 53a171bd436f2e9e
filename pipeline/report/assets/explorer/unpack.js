/* Unpacks columns packed by pipeline/report/explorer/coding.py: gzip in base64 to arrays. */
const Unpack = (() => {
  "use strict";
  const SPECIAL = -32768;
  const SPECIAL_VALUES = [NaN, Infinity, -Infinity];
  const MAX_EXACT_POWER = 22; // powers of ten up to here are exact

  function base64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }

  /** Returns the unpacked bytes of an element of the page. */
  async function bytesOf(id) {
    const packed = base64(document.getElementById(id).textContent);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** Reads columns one after the other. */
  class Reader {
    constructor(bytes) {
      this.bytes = bytes;
      this.position = 0;
    }

    take(length) {
      this.position += length;
      return this.bytes.subarray(this.position - length, this.position);
    }

    json(length) {
      return JSON.parse(new TextDecoder().decode(this.take(length)));
    }

    planes(width, rows) {
      const numbers = width > 4 ? new Float64Array(rows) : new Uint32Array(rows);
      for (let index = 0; index < width; index++) {
        const plane = this.take(rows);
        const weight = 256 ** index;
        for (let i = 0; i < rows; i++) numbers[i] += plane[i] * weight;
      }
      return numbers;
    }

    /** Returns a column: sort keys, where 0 or NaN is a missing value, and its texts if it has any. */
    column(head, rows) {
      const code = head.code;
      if (code.as === "list") return { ...head, listed: this.json(code.bytes) };
      if (code.as === "text") {
        const texts = this.json(code.bytes);
        return { ...head, texts, keys: this.planes(code.width, rows) };
      }
      return { ...head, keys: code.as === "whole" ? this.whole(code, rows) : this.decimal(rows) };
    }

    whole(code, rows) {
      const values = Float64Array.from(this.planes(code.width, rows));
      const scale = code.scale || 1;
      for (let i = 0; i < rows; i++) values[i] = values[i] === 0 ? NaN : (values[i] - 1) / scale;
      return values;
    }

    decimal(rows) {
      const mantissas = this.planes(2, rows);
      const powers = this.planes(2, rows);
      const values = new Float64Array(rows);
      for (let i = 0; i < rows; i++) values[i] = toNumber(toSigned(mantissas[i]), toSigned(powers[i]));
      return values;
    }
  }

  function toSigned(value) {
    return value < 32768 ? value : value - 65536;
  }

  function toNumber(mantissa, power) {
    if (power === SPECIAL) return SPECIAL_VALUES[mantissa];
    if (power >= 0 && power <= MAX_EXACT_POWER) return mantissa * 10 ** power;
    return power < 0 && power >= -MAX_EXACT_POWER ? mantissa / 10 ** -power : Number(`${mantissa}e${power}`);
  }

  return { bytesOf, Reader };
})();
