/* Columns as pipeline/report/explorer/coding.py packs them: gzip in base64 to arrays. */
const Unpack = (() => {
  "use strict";
  const SPECIAL = -32768;
  const STANDS_FOR = [NaN, Infinity, -Infinity];
  const EXACT = 22; // powers of ten up to here are exact

  function base64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  }

  /** The bytes that an element of the page holds. */
  async function bytesOf(id) {
    const packed = base64(document.getElementById(id).textContent);
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  }

  /** Reads columns that stand one after the other. */
  class Reader {
    constructor(bytes) {
      this.bytes = bytes;
      this.at = 0;
    }

    take(length) {
      this.at += length;
      return this.bytes.subarray(this.at - length, this.at);
    }

    json(length) {
      return JSON.parse(new TextDecoder().decode(this.take(length)));
    }

    planes(width, rows) {
      const numbers = width > 4 ? new Float64Array(rows) : new Uint32Array(rows);
      for (let place = 0; place < width; place++) {
        const plane = this.take(rows);
        const weight = 256 ** place;
        for (let i = 0; i < rows; i++) numbers[i] += plane[i] * weight;
      }
      return numbers;
    }

    /** A column: keys to sort by, 0 or NaN for nothing, and texts if it has them. */
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
      const found = Float64Array.from(this.planes(code.width, rows));
      const scale = code.scale || 1;
      for (let i = 0; i < rows; i++) found[i] = found[i] === 0 ? NaN : (found[i] - 1) / scale;
      return found;
    }

    decimal(rows) {
      const mantissas = this.planes(2, rows);
      const powers = this.planes(2, rows);
      const found = new Float64Array(rows);
      for (let i = 0; i < rows; i++) found[i] = number(signed(mantissas[i]), signed(powers[i]));
      return found;
    }
  }

  function signed(value) {
    return value < 32768 ? value : value - 65536;
  }

  function number(mantissa, power) {
    if (power === SPECIAL) return STANDS_FOR[mantissa];
    if (power >= 0 && power <= EXACT) return mantissa * 10 ** power;
    return power < 0 && power >= -EXACT ? mantissa / 10 ** -power : Number(`${mantissa}e${power}`);
  }

  return { bytesOf, Reader };
})();
