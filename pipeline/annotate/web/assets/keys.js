// Which key does what. Commands keep their keys; labels have digits, and their first letters where
// these are free. Everybody can change keys, or switch off those of one character.

import { t } from "./messages.js";

const NAME = "lexassay:keys";

function commands(keying) {
  const all = [
    { name: "undo", title: t("Undo, any number of times"), wishes: ["u"] },
    { name: "skip", title: t("Skip: set aside for later"), wishes: ["s"] },
    { name: "unsure", title: t("Unsure: applies to the next label"), wishes: ["?", "q"] },
    { name: "note", title: t("Note"), wishes: ["n"] },
    { name: "more", title: t("More examples"), wishes: ["e"] },
    { name: "guidelines", title: t("Guidelines"), wishes: ["g"] },
    { name: "recent", title: t("Recent answers, to change them"), wishes: ["r"] },
    { name: "search", title: t("Search your answers"), wishes: ["/", "f"] },
    { name: "help", title: t("Help"), wishes: ["h"] },
  ];
  return keying ? [{ name: "missing", title: t("Not found"), wishes: ["0"] }, ...all] : all;
}

// The choices of this browser: {off: no single keys, keys: command or label to its key}.
export function chosen() {
  try {
    return { off: false, keys: {}, ...JSON.parse(localStorage.getItem(NAME)) };
  } catch {
    return { off: false, keys: {} };
  }
}

export function choose(choice) {
  try {
    localStorage.setItem(NAME, JSON.stringify(choice));
  } catch {
    // Forbidden: it holds for this page.
  }
}

// From keys to what they do, {label} or {command}; and the rows of help: {act, title, keys}.
export function plan(work, { off, keys } = chosen()) {
  const acts = new Map();
  const bind = (key, act) => Boolean(key) && !acts.has(key) && Boolean(acts.set(key, act));
  const keying = work.kind === "keying";
  const rows = commands(keying).map(({ name, title, wishes }) => ({ act: { command: name }, id: name, title, wishes }));
  for (const { label, key, letter } of work.labels) {
    rows.push({ act: { label }, id: `label ${label}`, title: label, wishes: [key, letter].filter(Boolean).map((each) => each.toLowerCase()) });
  }
  const own = rows.filter(({ id }) => keys[id]);
  for (const row of own) row.wishes = [keys[row.id], ...row.wishes.filter((each) => /^\d$/.test(each))];
  for (const { act, wishes } of own) bind(wishes[0], act); // what somebody chose comes first
  for (const { act, wishes } of rows) wishes.forEach((key) => bind(key, act));
  for (const row of rows) row.keys = row.wishes.filter((key) => acts.get(key) === row.act);
  const single = [...acts];
  if (off) acts.clear();
  for (const [key, act] of single) acts.set(`Alt+${key}`, act); // works in fields, too
  if (off || keying) for (const row of rows) row.keys = row.keys.map((key) => `Alt+${key}`);
  return { acts, rows };
}

// As it is written on the page.
export function spelt(key) {
  return key.split("+").map((part) => (part.length === 1 ? part.toUpperCase() : part)).join(" + ") || key;
}

// The names of what was pressed: as the layout has it; where it has a letter of another script, also
// by the place of the key. A key without a character, as of a number pad without NumLock, is no digit.
function names({ key, code, shiftKey, altKey, graph }) {
  if ([...key].length !== 1 && !(altKey && key === "Dead")) return [];
  const alt = altKey && !graph ? "Alt+" : "";
  const found = key === "Dead" ? [] : [alt + key.toLowerCase()];
  if (!/^[a-z0-9]$/i.test(key)) {
    const letter = /^Key([A-Z])$/.exec(code)?.[1].toLowerCase();
    const digit = /^Digit(\d)$/.exec(code)?.[1];
    if (letter) found.push(alt + letter);
    if (digit && !shiftKey) found.push(alt + digit);
  }
  return found;
}

export function pressed(event) {
  const { key, code, shiftKey, altKey } = event;
  return names({ key, code, shiftKey, altKey, graph: event.getModifierState("AltGraph") });
}

function isField(node) {
  return node instanceof Element && (node.matches("textarea, select") || node.isContentEditable
    || (node instanceof HTMLInputElement && !["button", "checkbox", "radio", "submit"].includes(node.type)));
}

// Call act(what) once for each press; held keys, fields and open dialogs let nothing through.
export function listen(current, act) {
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.target instanceof HTMLButtonElement && ["Enter", " "].includes(event.key)) {
      event.preventDefault();
    }
    if (event.defaultPrevented || event.isComposing || event.metaKey) return;
    if (event.ctrlKey && !event.getModifierState("AltGraph")) return;
    if (document.querySelector("dialog[open]")) return;
    const { acts } = current();
    const typing = isField(event.target);
    const name = pressed(event).find((each) => acts.has(each) && (!typing || each.startsWith("Alt+")));
    if (!name) return;
    event.preventDefault();
    if (!event.repeat) act(acts.get(name));
  });
}
