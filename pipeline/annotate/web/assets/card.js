// The page of one annotator: puts the parts together.

import { Ask } from "./ask.js";
import { guidelines, help } from "./help.js";
import { listen, plan } from "./keys.js";
import { lists } from "./lists.js";
import { Queue } from "./queue.js";
import { Session } from "./session.js";
import { Store } from "./store.js";
import { Supply } from "./supply.js";
import { theme } from "./theme.js";
import { View } from "./view.js";

const at = (id) => document.getElementById(id);
const work = JSON.parse(at("work").textContent);
const keys = plan(work);
const store = new Store(work.address, work.round);
const ask = new Ask(work);
const queue = new Queue(store, ask);
const supply = new Supply(ask, queue);
const view = new View(work, keys);
const session = new Session({ work, ask, queue, supply, view, store });
const { recent, search } = lists(session);

function label(answer) {
  if (session.work.kind !== "keying" || answer) return session.decide(answer);
  view.say("Type the forms, or choose “Not found”.");
  return at("forms").focus();
}

function note() {
  if (!session.card) return;
  const open = at("note-box").hidden || document.activeElement !== at("note");
  session.drafts.note(open);
}

function unsure() {
  if (!session.card) return;
  const on = session.drafts.toggleUnsure();
  view.say(on ? "Unsure: now choose a label" : "No longer unsure");
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
  more: () => view.more() || view.say("No more examples"),
  guidelines: () => at("guidelines-box").showModal(),
  recent,
  search,
  help: () => at("help-box").showModal(),
  missing: () => label("-"),
};

help(work, keys);
guidelines(work);
theme(at("theme"));
listen(keys, (act) => (act.label === undefined ? acts[act.command]() : label(act.label)));
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
  if (event.isComposing || !["TEXTAREA"].includes(event.target.tagName)) return;
  const done = event.target === at("note") && event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (event.key === "Escape" || done) {
    event.preventDefault();
    noted();
  } else if (event.target === at("forms") && event.key === "Enter") {
    event.preventDefault();
    if (!event.repeat) at("keying").requestSubmit();
  }
});

function waiting() {
  const refused = queue.troubles.filter(({ key }) => key !== session.trouble?.key).length;
  view.waiting({ count: queue.waiting.length, why: queue.why, lasting: store.lasting, refused });
}
queue.addEventListener("change", waiting);
addEventListener("beforeunload", (event) => {
  if (queue.waiting.length) event.preventDefault();
});
waiting();
session.start();
