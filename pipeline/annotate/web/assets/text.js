// Text from data becomes text nodes, never markup; invisible characters are shown, long texts are cut.

import { number, t } from "./messages.js";

const MAX_LENGTH = 2000;
const CONTEXT_LENGTH = 300;
// Control characters, directional marks, fillers, tags; not line feeds and tabs, which are whitespace.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const LETTER = /[\p{L}\p{M}\p{Extended_Pictographic}\ufe0f]/u;
const NAMES = new Map([
  [0x00ad, "SHY"], [0x061c, "ALM"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"],
  [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LS"], [0x2029, "PS"], [0x202a, "LRE"],
  [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2060, "WJ"],
  [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);

// Return the direction of the first letter, for elements side by side.
export function direction(text) {
  return /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1eeff}]/u.test(text) ? "rtl" : "ltr";
}

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Joiners between letters, as in Persian, are part of the spelling and need no mark.
function isSpelling(text, index, code) {
  if (code !== 0x200c && code !== 0x200d) return false;
  const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? " ";
  const after = text.codePointAt(index + 1);
  return LETTER.test(before) && after !== undefined && LETTER.test(String.fromCodePoint(after));
}

function controlMark(code) {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return element("span", { class: "control", title: t("invisible character {code}", { code: name }) }, NAMES.get(code) ?? name);
}

// Append text to a node, with invisible characters as small marks.
export function appendText(node, text) {
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0);
    if (isSpelling(text, match.index, code)) continue;
    node.append(text.slice(end, match.index), controlMark(code));
    end = match.index + match[0].length;
  }
  node.append(text.slice(end));
  return node;
}

// Return an element with its own text direction, isolated from the text around it.
export function isolated(text, tag = "bdi", limit = Infinity) {
  const short = text.length > limit ? `${text.slice(0, cutPosition(text, limit))}…` : text;
  return appendText(element(tag, { dir: "auto", class: "text" }), short);
}

// Split an example into parts: marked words are in [[ ]], or in ⟦⟦ ⟧⟧ if the text itself has brackets.
export function parts(text) {
  const isAlternative = text.includes("⟦⟦");
  const [open, close, gaps] = isAlternative ? ["⟦⟦", "⟧⟧", ["⟦…⟧"]] : ["[[", "]]", ["[…]", "[...]"]];
  const result = [];
  let position = 0;
  while (position < text.length) {
    const start = text.indexOf(open, position);
    const end = start < 0 ? -1 : text.indexOf(close, start + 2);
    if (end < 0) break;
    result.push(...splitGaps(text.slice(position, start), gaps));
    result.push({ kind: "mark", text: text.slice(start + 2, end) });
    position = end + 2;
  }
  result.push(...splitGaps(text.slice(position), gaps));
  return result.filter((each) => each.text);
}

function splitGaps(text, gaps) {
  let result = [{ kind: "plain", text }];
  for (const gap of gaps) result = result.flatMap((each) => (each.kind === "gap" ? [each] : splitAt(each.text, gap)));
  return result;
}

function splitAt(text, gap) {
  return text.split(gap).flatMap((part, index) => [
    ...(index ? [{ kind: "gap", text: "[…]" }] : []),
    { kind: "plain", text: part },
  ]);
}

// Return the nearest index that does not split a surrogate pair.
function cutPosition(text, index) {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}

function sliceParts(parts, from, to) {
  const result = [];
  let position = 0;
  for (const each of parts) {
    const start = cutPosition(each.text, Math.max(0, from - position));
    const end = cutPosition(each.text, Math.min(each.text.length, to - position));
    if (end > start) result.push({ ...each, text: each.text.slice(start, end) });
    position += each.text.length;
  }
  return result;
}

function appendParts(node, parts) {
  for (const { kind, text } of parts) {
    if (kind === "plain") appendText(node, text);
    else node.append(appendText(element(kind === "mark" ? "mark" : "span", kind === "gap" ? { class: "gap" } : {}), text));
  }
}

// Fill a node with parts; a very long text is cut around the first marked word, with a button to show it all.
export function fill(node, parts) {
  const length = parts.reduce((sum, each) => sum + each.text.length, 0);
  if (length <= MAX_LENGTH) {
    appendParts(node, parts);
    return node;
  }
  const first = parts.findIndex((each) => each.kind === "mark");
  const start = first < 0 ? 0 : parts.slice(0, first).reduce((sum, each) => sum + each.text.length, 0);
  const begin = start < MAX_LENGTH - CONTEXT_LENGTH ? 0 : start - CONTEXT_LENGTH;
  if (begin) node.append("… ");
  appendParts(node, sliceParts(parts, begin, begin + MAX_LENGTH));
  const button = element("button", { type: "button", class: "all" }, t("show all {n} characters", { n: number(length) }));
  button.addEventListener("click", () => {
    node.replaceChildren();
    appendParts(node, parts);
    node.tabIndex = -1;
    node.focus();
  });
  node.append(" … ", button);
  return node;
}
