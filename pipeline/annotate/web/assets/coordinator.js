// The coordinator's page: it follows what happens, opens the adjudication round, decides conflicts, and manages people.

import { offerLanguages, t } from "./messages.js";
import { manage } from "./people.js";

const PAUSE = 4000;
const address = document.body.dataset.address;
const news = document.querySelector("#news");
let stamp = document.body.dataset.stamp;

// What somebody is in the middle of stays: a part with the focus, lists that are open, a place in a table.
function take(fresh) {
  let last;
  for (const part of fresh.querySelectorAll("#main > section")) {
    const there = document.getElementById(part.id);
    if (!there) last.after(document.adoptNode(part));
    last = there ?? part;
  }
  for (const old of document.querySelectorAll("[data-live]")) {
    const part = fresh.getElementById(old.id);
    if (!part || (old.contains(document.activeElement) && document.activeElement.matches("input, button"))) continue;
    for (const each of old.querySelectorAll("details[id]")) part.querySelector(`#${CSS.escape(each.id)}`)?.toggleAttribute("open", each.open);
    const places = [...old.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
    const label = document.activeElement?.closest?.(".scroll")?.getAttribute("aria-label");
    old.replaceWith(document.adoptNode(part));
    [...part.querySelectorAll(".scroll")].forEach((each, place) => {
      [each.scrollLeft, each.scrollTop] = places[place] ?? [0, 0];
      if (label && each.getAttribute("aria-label") === label) each.focus({ preventScroll: true });
    });
  }
}

async function refresh() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  stamp = fresh.body.dataset.stamp;
  take(fresh);
}

// A large page takes the server a while: then it is asked for more rarely, as annotators go first.
async function follow() {
  const begun = performance.now();
  try {
    const answer = await fetch(`${address}/state`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    if ((await answer.json()).stamp !== stamp) await refresh();
    news.textContent = "";
  } catch {
    news.textContent = t("The server does not respond: this page may be out of date.");
  }
  const pause = Math.max(PAUSE, 20 * (performance.now() - begun));
  setTimeout(follow, document.hidden ? 5 * pause : pause);
}

// Send a form; the answer has said, or error.
async function post(place, given) {
  const answer = await fetch(`${address}/${place}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given),
  });
  return answer.json();
}

async function openRound(form) {
  const button = form.querySelector("button");
  const told = document.querySelector("#opened");
  button.disabled = true;
  try {
    const given = { who: form.who.value, name: form.who.value === "third" ? form.name.value : "", unsure: form.unsure.checked, anonymous: form.anonymous.checked };
    const found = await post("adjudication", given);
    told.textContent = found.error ?? found.said;
    if (!found.error) await refresh();
  } catch {
    told.textContent = t("The server does not respond, and the round may not have been opened. Try again: no task is added twice.");
  }
  button.disabled = false;
}
document.addEventListener("submit", (event) => {
  if (event.target.id !== "open") return;
  event.preventDefault();
  openRound(event.target);
});
// The list moves up after a decision: a second click is not meant for what is there then.
const QUIET = 400;
let quiet = 0;
document.querySelector("#conflicts").addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-keep]");
  if (!button || performance.now() < quiet) return;
  quiet = Infinity;
  const told = document.querySelector("#kept");
  try {
    const found = await post("conflicts", { ...button.dataset });
    told.textContent = found.error ?? found.said;
    told.focus();
    await refresh();
  } catch {
    told.textContent = t("The server does not respond, and nothing may have been kept. Try again: nothing is decided twice.");
  }
  quiet = performance.now() + QUIET;
});
// A field that is filled in means that one.
document.addEventListener("input", ({ target }) => { if (target.id === "name") target.form.who.value = "third"; });
manage((given) => post("people", given), refresh);

offerLanguages(address);

setTimeout(follow, PAUSE);
