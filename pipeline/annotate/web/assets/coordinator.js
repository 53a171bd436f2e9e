// The coordinator's page: polls for changes, opens the adjudication round, resolves conflicts, and manages people.

import { offerLanguages, t } from "./messages.js";
import { manage } from "./people.js";

const POLL_INTERVAL = 4000;
const address = document.body.dataset.address;
const connectionStatus = document.querySelector("#connection-status");
let stamp = document.body.dataset.stamp;

// What an element has in common with the one that takes its place when a section is replaced.
function identity(node) {
  return [node.tagName, node.dataset.person, node.getAttribute("href"), node.getAttribute("aria-label"), node.closest("details")?.id].join();
}

// Replace the live sections, but keep the user's state: the focus, open lists, and scroll positions.
// Return false if one was left as it is, since the user types in it or is about to keep an answer.
function replaceSections(newPage) {
  let isComplete = true;
  let previous;
  for (const section of newPage.querySelectorAll("#main > section")) {
    const existing = document.getElementById(section.id);
    if (!existing) previous.after(document.adoptNode(section));
    previous = existing ?? section;
  }
  for (const oldSection of document.querySelectorAll("[data-live]")) {
    const section = newPage.getElementById(oldSection.id);
    if (!section) continue;
    const focused = oldSection.contains(document.activeElement) ? document.activeElement : null;
    if (focused?.matches("input, [data-keep]")) {
      isComplete = false;
      continue;
    }
    for (const node of oldSection.querySelectorAll("details[id]")) section.querySelector(`#${CSS.escape(node.id)}`)?.toggleAttribute("open", node.open);
    const positions = [...oldSection.querySelectorAll(".scroll")].map((node) => [node.scrollLeft, node.scrollTop]);
    oldSection.replaceWith(document.adoptNode(section));
    [...section.querySelectorAll(".scroll")].forEach((node, index) => {
      [node.scrollLeft, node.scrollTop] = positions[index] ?? [0, 0];
    });
    const twin = focused && [...section.querySelectorAll(focused.tagName)].find((node) => identity(node) === identity(focused));
    twin?.focus({ preventScroll: true });
  }
  return isComplete;
}

async function refresh() {
  const response = await fetch(location.href, { cache: "no-store" });
  if (!response.ok) throw new Error(`${response.status}`);
  const newPage = new DOMParser().parseFromString(await response.text(), "text/html");
  const newStamp = newPage.body.dataset.stamp;
  if (replaceSections(newPage)) stamp = newStamp; // else the next poll tries again
}

// A slow response means that the server is busy: poll less often, since annotators have priority.
async function poll() {
  const start = performance.now();
  try {
    const response = await fetch(`${address}/state`, { cache: "no-store" });
    if (!response.ok) throw new Error(`${response.status}`);
    if ((await response.json()).stamp !== stamp) await refresh();
    connectionStatus.textContent = "";
  } catch {
    connectionStatus.textContent = t("The server does not respond: this page may be out of date.");
  }
  const pause = Math.max(POLL_INTERVAL, 20 * (performance.now() - start));
  setTimeout(poll, document.hidden ? 5 * pause : pause);
}

// Send a form; the response has a `message` or an `error`.
async function post(path, body) {
  const response = await fetch(`${address}/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  return response.json();
}

async function openRound(form) {
  const button = form.querySelector("button");
  const message = document.querySelector("#adjudication-message");
  button.disabled = true;
  try {
    const body = { who: form.who.value, name: form.who.value === "third" ? form.name.value : "", unsure: form.unsure.checked, anonymous: form.anonymous.checked };
    const response = await post("adjudication", body);
    message.textContent = response.error ?? response.message;
    if (!response.error) await refresh();
  } catch {
    message.textContent = t("The server does not respond, and the round may not have been opened. Try again: no task is added twice.");
  }
  button.disabled = false;
}
document.addEventListener("submit", (event) => {
  if (event.target.id !== "round-form") return;
  event.preventDefault();
  openRound(event.target);
});
// The list moves up after a decision, so a double click would hit the next entry: ignore clicks for a moment.
const CLICK_PAUSE = 400;
let ignoreClicksUntil = 0;
document.querySelector("#conflicts").addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-keep]");
  if (!button || performance.now() < ignoreClicksUntil) return;
  ignoreClicksUntil = Infinity;
  const message = document.querySelector("#conflicts-message");
  try {
    const response = await post("conflicts", { ...button.dataset });
    message.textContent = response.error ?? response.message;
    message.focus();
    await refresh();
  } catch {
    message.textContent = t("The server does not respond, and nothing may have been kept. Try again: nothing is decided twice.");
  }
  ignoreClicksUntil = performance.now() + CLICK_PAUSE;
});
// Typing a name selects its radio button.
document.addEventListener("input", ({ target }) => { if (target.id === "name") target.form.who.value = "third"; });
manage((body) => post("people", body), refresh);

offerLanguages(address);

setTimeout(poll, POLL_INTERVAL);
