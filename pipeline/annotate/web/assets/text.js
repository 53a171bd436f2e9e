// Texts of others become nodes, never markup: what cannot be seen is shown, what is long is cut.

import { number, t } from "./messages.js";

const MOST = 2000;
const BEFORE = 300;
// Controls, marks of direction, fillers, tags; line feeds and tabs are blanks, and stay.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const LETTER = /[\p{L}\p{M}\p{Extended_Pictographic}\ufe0f]/u;
const NAMES = new Map([
  [0x00ad, "SHY"], [0x061c, "ALM"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"],
  [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LS"], [0x2029, "PS"], [0x202a, "LRE"],
  [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2060, "WJ"],
  [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);

// The direction of the first letter that has one, for what stands side by side.
export function direction(text) {
  return /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1eeff}]/u.test(text) ? "rtl" : "ltr";
}

export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Joiners between letters are spelling, as in Persian, and order nothing.
function isSpelling(text, at, code) {
  if (code !== 0x200c && code !== 0x200d) return false;
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? " ";
  const after = text.codePointAt(at + 1);
  return LETTER.test(before) && after !== undefined && LETTER.test(String.fromCodePoint(after));
}

function control(code) {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return element("span", { class: "control", title: t("invisible character {code}", { code: name }) }, NAMES.get(code) ?? name);
}

// Append a text to a node, with invisible characters as small marks.
export function put(node, text) {
  let done = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const code = found[0].codePointAt(0);
    if (isSpelling(text, found.index, code)) continue;
    node.append(text.slice(done, found.index), control(code));
    done = found.index + found[0].length;
  }
  node.append(text.slice(done));
  return node;
}

// An element of its own direction, which moves nothing around it.
export function isolated(text, tag = "bdi", most = Infinity) {
  const short = text.length > most ? `${text.slice(0, edge(text, most))}…` : text;
  return put(element(tag, { dir: "auto", class: "text" }), short);
}

// Parts of an example: words of the pair in [[ ]], or in ⟦⟦ ⟧⟧ where the text has brackets of its own.
export function parts(text) {
  const own = text.includes("⟦⟦");
  const [open, close, gaps] = own ? ["⟦⟦", "⟧⟧", ["⟦…⟧"]] : ["[[", "]]", ["[…]", "[...]"]];
  const found = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf(open, at);
    const end = start < 0 ? -1 : text.indexOf(close, start + 2);
    if (end < 0) break;
    found.push(...withGaps(text.slice(at, start), gaps));
    found.push({ kind: "mark", text: text.slice(start + 2, end) });
    at = end + 2;
  }
  found.push(...withGaps(text.slice(at), gaps));
  return found.filter((each) => each.text);
}

function withGaps(text, gaps) {
  let found = [{ kind: "plain", text }];
  for (const gap of gaps) found = found.flatMap((each) => (each.kind === "gap" ? [each] : split(each.text, gap)));
  return found;
}

function split(text, gap) {
  return text.split(gap).flatMap((part, place) => [
    ...(place ? [{ kind: "gap", text: "[…]" }] : []),
    { kind: "plain", text: part },
  ]);
}

// Where a text may be cut: not within a character.
function edge(text, at) {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

function between(all, from, to) {
  const kept = [];
  let at = 0;
  for (const each of all) {
    const start = edge(each.text, Math.max(0, from - at));
    const end = edge(each.text, Math.min(each.text.length, to - at));
    if (end > start) kept.push({ ...each, text: each.text.slice(start, end) });
    at += each.text.length;
  }
  return kept;
}

function draw(node, all) {
  for (const { kind, text } of all) {
    if (kind === "plain") put(node, text);
    else node.append(put(element(kind === "mark" ? "mark" : "span", kind === "gap" ? { class: "gap" } : {}), text));
  }
}

// Fill a node with parts; what is very long is cut around the first marked word, with a button for all.
export function fill(node, all) {
  const length = all.reduce((sum, each) => sum + each.text.length, 0);
  if (length <= MOST) {
    draw(node, all);
    return node;
  }
  const first = all.findIndex((each) => each.kind === "mark");
  const place = first < 0 ? 0 : all.slice(0, first).reduce((sum, each) => sum + each.text.length, 0);
  const from = place < MOST - BEFORE ? 0 : place - BEFORE;
  if (from) node.append("… ");
  draw(node, between(all, from, from + MOST));
  const button = element("button", { type: "button", class: "all" }, t("show all {n} characters", { n: number(length) }));
  button.addEventListener("click", () => {
    node.replaceChildren();
    draw(node, all);
    node.tabIndex = -1;
    node.focus();
  });
  node.append(" … ", button);
  return node;
}
