// The dialogs: recent answers, search, guidelines, help on keys, goal.

import { saveChoices, readChoices, plan, pressedKeys, formatKey } from "./keys.js";
import { number, phrase, t, tn } from "./messages.js";
import { element, isolated, appendText } from "./text.js";

const MAX_UNIT_LENGTH = 120;
const at = (id) => document.getElementById(id);

// Return a list of buttons, each of which opens a card.
export function cardList(cards, session, onOpen = () => {}) {
  return element("ul", { class: "cards" }, ...cards.map((card) => {
    const units = card.units.flatMap(([, text], index) => [...(index ? [" · "] : []), isolated(text, "bdi", MAX_UNIT_LENGTH)]);
    const button = element("button", { type: "button" }, element("span", {}, ...units));
    const { answer, unsure, note } = card;
    if (answer !== null && answer !== undefined) {
      const text = session.work.kind === "keying" && answer === "-" ? t("not found") : answer;
      button.append(element("strong", {}, isolated(text, "bdi", MAX_UNIT_LENGTH), ...(unsure ? [" (", t("unsure"), ")"] : [])));
    }
    if (note) button.append(element("span", { class: "hint" }, isolated(note, "bdi", MAX_UNIT_LENGTH)));
    if (card.queuedKey) button.append(element("span", { class: "hint" }, t("not saved yet")));
    button.addEventListener("click", () => {
      onOpen();
      session.open(card);
    });
    return element("li", {}, button);
  }));
}

// Return the cards of labels in the queue, most recent first.
function waitingCards(session) {
  const decisions = session.queue.pendingDecisions.filter((each) => each.kind === "label" && each.card);
  return decisions.reverse().map(({ key, card, answer, unsure, note }) => ({ ...card, answer, unsure, note, queuedKey: key }));
}

export function setUpLists(session) {
  const recentBox = at("recent-box");
  const searchBox = at("search-box");
  const input = at("search-text");
  let lastRequest = 0;

  // Show the cards that a function fetches; with `focus`, focus the first of them.
  async function showCards(box, fetchCards, emptyText, focus = false) {
    const body = box.querySelector(".body");
    const request = (lastRequest += 1);
    let cards = [];
    let more = false;
    let message = emptyText;
    try {
      ({ cards, more } = await fetchCards());
    } catch (error) {
      message = error.message;
    }
    if (request !== lastRequest || !box.open) return; // a newer request replaced this one
    const note = more ? [element("p", { class: "hint" }, t("Only the first {n} are shown: type more to narrow the search.", { n: number(cards.length) }))] : [];
    body.replaceChildren(...(cards.length ? [...note, cardList(cards, session, () => box.close())] : [element("p", {}, message)]));
    if (focus) body.querySelector("button")?.focus();
  }

  async function recentCards() {
    const queued = waitingCards(session);
    const ids = new Set(queued.map(({ id }) => id));
    const saved = await session.client.recent(10).catch((error) => {
      if (queued.length) return [];
      throw error;
    });
    return { cards: [...queued, ...saved.filter(({ id }) => !ids.has(id))].slice(0, Math.max(10, queued.length)) };
  }

  let timer = null;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const query = input.value.trim();
      if (query) showCards(searchBox, () => session.client.search(query), t("Nothing found."));
      else searchBox.querySelector(".body").replaceChildren();
    }, 200);
  });
  input.addEventListener("keydown", (event) => { // by default Escape clears the field first
    if (event.key !== "Escape") return;
    event.preventDefault();
    searchBox.close();
  });
  return {
    recent() {
      recentBox.querySelector(".body").replaceChildren();
      recentBox.showModal();
      showCards(recentBox, recentCards, t("No answers yet."), true);
    },
    search() {
      searchBox.showModal();
      input.select();
    },
  };
}

function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((each) => each.trim()).map((each) => appendText(element("p", { dir: "auto", class: "text lines" }), each));
}

// Show the instructions and the guideline of each label.
export function showGuidelines(work) {
  const body = document.querySelector("#guidelines-box .body");
  const entries = work.labels.flatMap(({ label, guideline }) => {
    const names = Object.entries(work.categories ?? {}).filter(([, labels]) => labels.includes?.(label)).map(([name]) => name);
    const categoryNodes = names.flatMap((name, index) => [index ? ", " : "", isolated(name)]);
    return [element("dt", {}, isolated(label)), element("dd", {}, ...(guideline ? paragraphs(guideline) : []),
      ...(names.length ? [element("p", { class: "hint" }, ...phrase("Counts as {categories}", { categories: categoryNodes }))] : []),
      ...(guideline || names.length ? [] : [t("No guideline is given.")]))];
  });
  body.replaceChildren(...paragraphs(work.instructions ?? ""), element("dl", {}, ...entries));
  if (!work.labels.length && !work.instructions) body.append(element("p", {}, t("No guidelines are given.")));
}

// List the keys and let users change them; `onChange` is called with the new plan.
export function setUpHelp(work, onChange) {
  const body = document.querySelector("#help-box .body");
  const keying = work.kind === "keying"; // there single keys are always off
  let rowToChange = null; // the row that waits for its new key

  function apply(choices) {
    saveChoices(choices);
    rowToChange = null;
    onChange(plan(work, choices));
    render(choices);
  }

  function render(choices, message = "") {
    const { rows } = plan(work, choices);
    const row = ({ action, id, title, keys }) => {
      const description = action.label === undefined ? [title] : phrase("Label, save, continue: {label}", { label: isolated(title) });
      const button = element("button", { type: "button", class: "use", "aria-label": t("Change the key: {action}", { action: title }) }, t("Change"));
      button.dataset.row = id;
      button.addEventListener("click", () => {
        rowToChange = { id, title };
        render(choices, t("Press the new key for “{action}”; Escape cancels.", { action: title }));
      });
      const kbds = keys.flatMap((key, index) => [...(index ? [" ", t("or"), " "] : []), element("kbd", {}, formatKey(key))]);
      return element("tr", {}, element("th", { scope: "row" }, ...(kbds.length ? kbds : ["—"])), element("td", {}, ...description), element("td", {}, button));
    };
    const fixed = [[t("Escape"), t("Close, or leave a field")], ...(keying ? [[t("Enter"), t("In the field: save and continue")]] : [])];
    const labels = rows.filter(({ action }) => action.label !== undefined);
    const others = rows.filter(({ action }) => action.label === undefined);
    const table = element("table", {}, element("caption", {}, t("Keys")), element("tbody", {}, ...[...labels, ...others].map(row),
      ...fixed.map(([key, title]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, key)), element("td", { colspan: "2" }, title)))));
    const checkbox = element("input", { type: "checkbox", id: "single" });
    checkbox.checked = !choices.off;
    checkbox.addEventListener("change", () => apply({ ...choices, off: !checkbox.checked }));
    const reset = element("button", { type: "button" }, t("Reset all keys"));
    reset.addEventListener("click", () => apply({ off: false, keys: {} }));
    body.replaceChildren(
      ...(keying ? [] : [element("p", { class: "tick" }, checkbox, element("label", { for: "single" }, t("Single keys; without this, keys need Alt")))]),
      element("p", { role: "status", class: message ? "notice" : "" }, message),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Keys") }, table), element("p", {}, reset),
      ...(keying ? [] : [element("p", {}, t("Single keys are inactive while you type in a field."))]),
      element("p", {}, t("Each decision is kept in this browser until the server has saved it.")),
    );
    if (rowToChange) body.querySelector(`[data-row="${CSS.escape(rowToChange.id)}"]`).focus();
  }

  at("help-box").addEventListener("keydown", (event) => {
    if (!rowToChange || ["Tab", "Shift", "Alt", "Control", "AltGraph"].includes(event.key)) return;
    event.preventDefault(); // Escape would close the dialog
    const choices = readChoices();
    const [key] = pressedKeys(event);
    const { rows } = plan(work, { ...choices, off: false });
    const other = rows.find((row) => row.id !== rowToChange.id && row.keys.some((each) => each.replace("Alt+", "") === key));
    if (event.key === "Escape") apply(choices);
    else if (!key || key === " " || key.startsWith("Alt+")) render(choices, t("This key cannot be used; press another one."));
    else if (other) render(choices, t("{key} is the key of “{action}”; press another one.", { key: formatKey(key), action: other.title }));
    else apply({ ...choices, keys: { ...choices.keys, [rowToChange.id]: key } });
  });
  at("help-box").addEventListener("close", () => {
    rowToChange = null;
    render(readChoices());
  });
  render(readChoices());
}

// The number of cards the user wants to do now, counted from the moment it is set.
export function setUpGoal(store, session) {
  const box = at("goal-box");
  const field = at("goal");
  let done = null; // cards done in all; null until the page knows
  const showGoal = () => {
    const { wished: target = 0, start = null } = store.get("goal") ?? {};
    if (target && start === null && done !== null) store.set("goal", { wished: target, start: done });
    const count = Math.max(0, done - (start ?? done));
    const text = count < target ? t("goal: {done} of {wished}", { done: number(count), wished: number(target) })
      : tn("You have reached your goal: {n} card.", "You have reached your goal: {n} cards.", target);
    at("goal-progress").textContent = target ? text : "";
  };
  box.addEventListener("close", () => {
    if (box.returnValue !== "set") return;
    store.set("goal", { wished: Math.max(0, Math.floor(Number(field.value) || 0)), start: done });
    showGoal();
  });
  session.addEventListener("progress", ({ detail }) => {
    done = detail;
    showGoal();
  });
  return () => {
    field.value = store.get("goal")?.wished || "";
    box.showModal();
  };
}
