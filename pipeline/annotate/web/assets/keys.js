// Keyboard shortcuts. Commands have fixed default keys; labels have digits, and their first letters if
// these are free. Users can change keys, or disable single-character keys. In keying, letters are always
// forms, and all keys need Alt.

import { t } from "./messages.js";

const STORAGE_KEY = "lexassay:keys";

function commands(keying) {
  const list = [
    { name: "undo", title: t("Undo, any number of times"), preferredKeys: ["u"] },
    { name: "skip", title: t("Skip: set aside for later"), preferredKeys: ["s"] },
    { name: "unsure", title: keying ? t("Unsure: applies to the forms of this card") : t("Unsure: applies to the next label"), preferredKeys: ["?", "q"] },
    { name: "note", title: t("Note"), preferredKeys: ["n"] },
    { name: "more", title: t("More examples"), preferredKeys: ["e"] },
    { name: "guidelines", title: t("Guidelines"), preferredKeys: ["g"] },
    { name: "recent", title: t("Recent answers: view or change"), preferredKeys: ["r"] },
    { name: "search", title: t("Search your answers"), preferredKeys: ["/", "f"] },
    { name: "help", title: t("Help"), preferredKeys: ["h"] },
  ];
  return keying ? [{ name: "missing", title: t("Not found"), preferredKeys: ["0"] }, ...list] : list;
}

// The choices stored in this browser: {off: whether single keys are disabled, keys: row id to key}.
export function readChoices() {
  try {
    return { off: false, keys: {}, ...JSON.parse(localStorage.getItem(STORAGE_KEY)) };
  } catch {
    return { off: false, keys: {} };
  }
}

export function saveChoices(choices) {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(choices));
  } catch {
    // Storage is blocked: the choice applies to this page only.
  }
}

// Return the map from keys to actions, {label} or {command}, and the rows of the help dialog:
// {action, id, title, keys}.
export function plan(work, { off, keys } = readChoices()) {
  const actions = new Map();
  const bind = (key, action) => Boolean(key) && !actions.has(key) && Boolean(actions.set(key, action));
  const keying = work.kind === "keying";
  const rows = commands(keying).map(({ name, title, preferredKeys }) => ({ action: { command: name }, id: name, title, preferredKeys }));
  for (const { label, key, letter } of work.labels) {
    rows.push({ action: { label }, id: `label ${label}`, title: label, preferredKeys: [key, letter].filter(Boolean).map((each) => each.toLowerCase()) });
  }
  const customRows = rows.filter(({ id }) => keys[id]);
  for (const row of customRows) row.preferredKeys = [keys[row.id], ...row.preferredKeys.filter((each) => /^\d$/.test(each))];
  for (const { action, preferredKeys } of customRows) bind(preferredKeys[0], action); // keys that the user chose take precedence
  for (const { action, preferredKeys } of rows) preferredKeys.forEach((key) => bind(key, action));
  for (const row of rows) row.keys = row.preferredKeys.filter((key) => actions.get(key) === row.action);
  const singleKeys = [...actions];
  const needsAlt = off || keying;
  if (needsAlt) actions.clear();
  for (const [key, action] of singleKeys) actions.set(`Alt+${key}`, action); // also works in text fields
  if (needsAlt) for (const row of rows) row.keys = row.keys.map((key) => `Alt+${key}`);
  return { actions, rows };
}

// Return a key as the page shows it.
export function formatKey(key) {
  return key.split("+").map((part) => (part.length === 1 ? part.toUpperCase() : part)).join(" + ") || key;
}

// Return the names of a pressed key: its character in the current layout and, if that is not a Latin
// letter or a digit, also the one at its physical position. A key without a character, such as one of
// the number pad without NumLock, does not count as a digit.
function keyNames({ key, code, shiftKey, altKey, altGraph }) {
  if ([...key].length !== 1 && !(altKey && key === "Dead")) return [];
  const prefix = altKey && !altGraph ? "Alt+" : "";
  const names = key === "Dead" ? [] : [prefix + key.toLowerCase()];
  if (!/^[a-z0-9]$/i.test(key)) {
    const letter = /^Key([A-Z])$/.exec(code)?.[1].toLowerCase();
    const digit = /^Digit(\d)$/.exec(code)?.[1];
    if (letter) names.push(prefix + letter);
    if (digit && !shiftKey) names.push(prefix + digit);
  }
  return names;
}

export function pressedKeys(event) {
  const { key, code, shiftKey, altKey } = event;
  return keyNames({ key, code, shiftKey, altKey, altGraph: event.getModifierState("AltGraph") });
}

function isField(node) {
  return node instanceof Element && (node.matches("textarea, select") || node.isContentEditable
    || (node instanceof HTMLInputElement && !["button", "checkbox", "radio", "submit"].includes(node.type)));
}

// Call perform(action) once per key press. Ignored: repeats of a held key, typing in fields, open dialogs.
export function listen(currentPlan, perform) {
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.target instanceof HTMLButtonElement && ["Enter", " "].includes(event.key)) {
      event.preventDefault();
    }
    if (event.defaultPrevented || event.isComposing || event.metaKey) return;
    if (event.ctrlKey && !event.getModifierState("AltGraph")) return;
    if (document.querySelector("dialog[open]")) return;
    const { actions } = currentPlan();
    const isTyping = isField(event.target);
    const name = pressedKeys(event).find((each) => actions.has(each) && (!isTyping || each.startsWith("Alt+")));
    if (!name) return;
    event.preventDefault();
    if (!event.repeat) perform(actions.get(name));
  });
}
