// The annotator's page: creates the modules and connects them.

import { Client } from "./ask.js";
import { listen, plan } from "./keys.js";
import { setUpGoal, showGuidelines, setUpHelp, setUpLists } from "./lists.js";
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
const client = new Client(work);
const queue = new Queue(store, client);
const supply = new Supply(client, queue);
const view = new View(work, keys);
const session = new Session({ work, client, queue, supply, view, store });

function chooseLabel(answer) {
  if (work.kind !== "keying" || answer) return session.decide(answer);
  view.say(t("Type the forms, or choose “Not found”."));
  return at("forms").focus();
}

function toggleNote() {
  if (!session.card) return;
  if (document.activeElement === at("note")) closeNote();
  else session.drafts.toggleNote(true);
}

function toggleUnsure() {
  if (!session.card) return;
  const text = work.kind === "keying" ? t("Unsure: now save the forms") : t("Unsure: now choose a label");
  view.say(session.drafts.toggleUnsure() ? text : t("No longer unsure"));
}

function closeNote() {
  session.saveNote();
  session.drafts.toggleNote(Boolean(at("note").value), false);
  session.drafts.focusCard();
}

const actions = {
  undo: () => session.undo(),
  skip: () => session.skip(),
  unsure: toggleUnsure,
  note: toggleNote,
  more: () => view.showMore() || view.say(t("No more examples")),
  guidelines: () => at("guidelines-box").showModal(),
  help: () => at("help-box").showModal(),
  missing: () => chooseLabel("-"),
  goal: setUpGoal(store, session),
  ...setUpLists(session),
};

setUpHelp(work, (newPlan) => view.showKeys((keys = newPlan)));
showGuidelines(work);
listen(() => keys, (action) => (action.label === undefined ? actions[action.command]() : chooseLabel(action.label)));
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.label !== undefined) chooseLabel(button.dataset.label);
  else if (button?.dataset.forms !== undefined) session.drafts.useForms(button.dataset.forms);
  else if (button?.dataset.act) actions[button.dataset.act]();
});
at("leave").addEventListener("click", () => session.leave());
at("send-now").addEventListener("click", () => queue.send());
at("note-done").addEventListener("click", closeNote);
at("note").addEventListener("change", () => session.saveNote());
at("keying").addEventListener("submit", (event) => {
  event.preventDefault();
  chooseLabel(session.drafts.forms.replace(/^[,\s]+|[,\s]+$/g, ""));
});
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.target.tagName !== "TEXTAREA") return;
  const isDone = event.target === at("note") && event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (event.key === "Escape" || isDone) {
    event.preventDefault();
    closeNote();
  } else if (event.target === at("forms") && event.key === "Enter") {
    event.preventDefault();
    if (!event.repeat) at("keying").requestSubmit();
  }
});

// The theme follows the system setting until the user chooses one.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const { dataset } = document.documentElement;
at("theme").addEventListener("click", () => {
  dataset.theme = (dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(THEME, dataset.theme);
  } catch {
    // Storage is blocked: the choice applies to this page only.
  }
});
try {
  const theme = localStorage.getItem(THEME);
  if (theme === "dark" || theme === "light") dataset.theme = theme;
} catch {
  // Storage is blocked: follow the system setting.
}

offerLanguages(work.address);

function showWaiting() {
  const refusedCount = queue.troubles.filter(({ key }) => key !== session.trouble?.key).length;
  view.showWaiting({ count: queue.waiting.length, connectionError: queue.connectionError, isPersistent: store.isPersistent, refusedCount });
}
queue.addEventListener("change", showWaiting);
let finished = false;
queue.addEventListener("finished", () => {
  if (!store.isPersistent) return; // a reload would lose the decisions
  finished = true;
  location.reload(); // the server now returns the final page
});
addEventListener("beforeunload", (event) => {
  session.drafts.leaveNote();
  if (!finished && queue.waiting.length && (queue.connectionError || !store.isPersistent)) event.preventDefault();
});
showWaiting();
session.start();
