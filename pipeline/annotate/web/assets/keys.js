// Which key does what. Keys of labels win; a command that loses its key moves to Shift, or Alt.

const COMMANDS = [
  { name: "undo", title: "Undo, any number of times", wishes: [["u", "Shift+u", "Alt+u"]] },
  { name: "skip", title: "Skip: set aside for later", wishes: [["s", "Shift+s", "Alt+s"]] },
  { name: "unsure", title: "Unsure: applies to the next label", wishes: [["?"], ["q", "Shift+q", "Alt+q"]] },
  { name: "note", title: "Note", wishes: [["n", "Shift+n", "Alt+n"]] },
  { name: "more", title: "More examples", wishes: [["e", "Shift+e", "Alt+e"]] },
  { name: "guidelines", title: "Guidelines", wishes: [["g", "Shift+g", "Alt+g"]] },
  { name: "recent", title: "Recent answers, to change them", wishes: [["r", "Shift+r", "Alt+r"]] },
  { name: "search", title: "Search your answers", wishes: [["/"], ["f", "Shift+f", "Alt+f"]] },
  { name: "help", title: "Help", wishes: [["h", "Shift+h", "Alt+h"]] },
];
const MISSING = { name: "missing", title: "Not found", wishes: [["0"]] };

// From keys to what they do: {label} or {command}; and each command's keys, to be told.
export function plan(work) {
  const acts = new Map();
  const bind = (key, act) => !acts.has(key) && Boolean(acts.set(key, act));
  for (const each of work.labels) if (each.key) bind(plain(each.key), { label: each.label });
  for (const each of work.labels) if (each.letter) bind(plain(each.letter), { label: each.label });
  const keying = work.kind === "keying";
  const commands = (keying ? [MISSING, ...COMMANDS] : COMMANDS).map(({ name, title, wishes }) => {
    const all = keying ? [...wishes, ...wishes.map(([first]) => [`Alt+${first}`])] : wishes;
    const keys = all.map((wish) => wish.find((key) => bind(key, { command: name }))).filter(Boolean);
    return { name, title, keys: keying ? keys.reverse() : keys };
  });
  return { acts, commands };
}

// As it is written on the page.
export function spelt(key) {
  return key.split("+").map((part) => (part.length === 1 ? part.toUpperCase() : part)).join(" + ") || key;
}

function plain(key) {
  return key.toLowerCase();
}

// The names of what was pressed: as the layout has it, then by the place of the key.
function names(event) {
  const { key, code, shiftKey, altKey } = event;
  const graph = event.getModifierState("AltGraph");
  const alt = altKey && !graph ? "Alt+" : "";
  const found = [];
  const small = key.toLowerCase();
  const cased = small !== key.toUpperCase();
  if ([...key].length === 1) found.push(alt + (cased && shiftKey ? `Shift+${small}` : small));
  if (!/^[a-z0-9]$/i.test(key)) {
    const letter = /^Key([A-Z])$/.exec(code)?.[1].toLowerCase();
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
    if (letter) found.push(alt + (shiftKey ? `Shift+${letter}` : letter));
    if (digit && !shiftKey) found.push(alt + digit);
  }
  return found;
}

export function isField(node) {
  return node instanceof Element && (node.matches("textarea, select") || node.isContentEditable
    || (node instanceof HTMLInputElement && !["button", "checkbox", "radio", "submit"].includes(node.type)));
}

// Call act(what) once for each press; held keys, fields and open dialogs let nothing through.
export function listen({ acts }, act) {
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.target instanceof HTMLButtonElement && ["Enter", " "].includes(event.key)) {
      event.preventDefault();
    }
    if (event.defaultPrevented || event.isComposing || event.metaKey) return;
    if (event.ctrlKey && !event.getModifierState("AltGraph")) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = isField(event.target);
    const name = names(event).find((each) => acts.has(each) && (!typing || each.startsWith("Alt+")));
    if (!name) return;
    event.preventDefault();
    if (!event.repeat) act(acts.get(name));
  });
}
