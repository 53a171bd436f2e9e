// The page of one annotator: puts the parts together.

import { Ask } from "./ask.js";
import { listen, plan } from "./keys.js";
import { goal, guidelines, help, lists } from "./lists.js";
import { offerLanguages, t } from "./messages.js";
import { Queue } from "./queue.js";
import { Session } from "./session.js";
import { Store } from "./store.js";
import { Supply } from "./supply.js";
import { View } from "./view.js";

const THEME = "lexassay:theme";
const at = (id) => document.getElementById(id);
const work = JSON.parse(at("work").textContent);
let keys = plan(work);
const store = await Store.open(work.store);
const ask = new Ask(work);
const queue = new Queue(store, ask);
const supply = new Supply(ask, queue);
const view = new View(work, keys);
const session = new Session({ work, ask, queue, supply, view, store });

function label(answer) {
  if (work.kind !== "keying" || answer) return session.decide(answer);
  view.say(t("Type the forms, or choose “Not found”."));
  return at("forms").focus();
}

function note() {
  if (session.card) session.drafts.note(at("note-box").hidden || document.activeElement !== at("note"));
}

function unsure() {
  if (!session.card) return;
  view.say(session.drafts.toggleUnsure() ? t("Unsure: now choose a label") : t("No longer unsure"));
}

async function noted() {
  session.drafts.note(Boolean(at("note").value), false);
  at("card").focus({ preventScroll: true });
}

const acts = {
  undo: () => session.undo(),
  skip: () => session.skip(),
  unsure,
  note,
  more: () => view.more() || view.say(t("No more examples")),
  guidelines: () => at("guidelines-box").showModal(),
  help: () => at("help-box").showModal(),
  missing: () => label("-"),
  goal: goal(store, session),
  ...lists(session),
};

help(work, (changed) => view.keys((keys = changed)));
guidelines(work);
listen(() => keys, (act) => (act.label === undefined ? acts[act.command]() : label(act.label)));
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.label !== undefined) label(button.dataset.label);
  else if (button?.dataset.forms !== undefined) session.drafts.use(button.dataset.forms);
  else if (button?.dataset.act) acts[button.dataset.act]();
});
at("leave").addEventListener("click", () => session.leave());
at("send-now").addEventListener("click", () => queue.send());
at("note-done").addEventListener("click", noted);
at("note").addEventListener("change", () => session.saveNote());
at("keying").addEventListener("submit", (event) => {
  event.preventDefault();
  label(session.drafts.forms.replace(/^[,\s]+|[,\s]+$/g, ""));
});
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.target.tagName !== "TEXTAREA") return;
  const done = event.target === at("note") && event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (event.key === "Escape" || done) {
    event.preventDefault();
    noted();
  } else if (event.target === at("forms") && event.key === "Enter") {
    event.preventDefault();
    if (!event.repeat) at("keying").requestSubmit();
  }
});

// Dark or light: as the system has it until somebody chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
const { dataset } = document.documentElement;
at("theme").addEventListener("click", () => {
  dataset.theme = (dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(THEME, dataset.theme);
  } catch {
    // Forbidden: it holds for this page.
  }
});
try {
  const theme = localStorage.getItem(THEME);
  if (theme === "dark" || theme === "light") dataset.theme = theme;
} catch {
  // Forbidden: as the system has it.
}

offerLanguages(work.address);

function waiting() {
  const refused = queue.troubles.filter(({ key }) => key !== session.trouble?.key).length;
  view.waiting({ count: queue.waiting.length, away: queue.away, lasting: store.lasting, refused });
}
queue.addEventListener("change", waiting);
let finished = false;
queue.addEventListener("finished", () => {
  finished = true;
  location.reload(); // the page says so, and thanks
});
addEventListener("beforeunload", (event) => {
  if (!finished && queue.waiting.length && (queue.away || !store.lasting)) event.preventDefault();
});
waiting();
session.start();
