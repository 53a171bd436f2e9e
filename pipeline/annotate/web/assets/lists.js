// Dialogs: recent answers, search, guidelines, help with the keys, goal.

import { choose, chosen, plan, pressed, spelt } from "./keys.js";
import { number, phrase, t, tn } from "./messages.js";
import { element, isolated, put } from "./text.js";

const SHORT = 120;
const at = (id) => document.getElementById(id);

// Buttons that open cards.
export function list(cards, session, done = () => {}) {
  return element("ul", { class: "cards" }, ...cards.map((card) => {
    const units = card.units.flatMap(([, text], place) => [...(place ? [" · "] : []), isolated(text, "bdi", SHORT)]);
    const button = element("button", { type: "button" }, element("span", {}, ...units));
    const { answer, unsure, note } = card;
    if (answer !== null && answer !== undefined) {
      const said = session.work.kind === "keying" && answer === "-" ? t("not found") : answer;
      button.append(element("strong", {}, isolated(said, "bdi", SHORT), ...(unsure ? [" (", t("unsure"), ")"] : [])));
    }
    if (note) button.append(element("span", { class: "hint" }, isolated(note, "bdi", SHORT)));
    if (card.waits) button.append(element("span", { class: "hint" }, t("not saved yet")));
    button.addEventListener("click", () => {
      done();
      session.open(card);
    });
    return element("li", {}, button);
  }));
}

// Decisions that wait, as cards; the last first.
function waiting(session) {
  const cards = session.queue.standing.filter((each) => each.kind === "label" && each.card);
  return cards.reverse().map(({ card, answer, unsure, note }) => ({ ...card, answer, unsure, note, waits: true }));
}

export function lists(session) {
  const recent = at("recent-box");
  const search = at("search-box");
  const text = at("search-text");
  let asked = 0;

  // Show the cards that a function finds; the list of recent answers starts with the focus.
  async function show(box, ask, none, focus = false) {
    const body = box.querySelector(".body");
    const mine = (asked += 1);
    let found = [];
    let more = false;
    let said = none;
    try {
      ({ cards: found, more } = await ask());
    } catch (error) {
      said = error.message;
    }
    if (mine !== asked || !box.open) return; // something newer was asked
    const note = more ? [element("p", { class: "hint" }, t("Only the first {n} are shown: type more to narrow the search.", { n: number(found.length) }))] : [];
    body.replaceChildren(...(found.length ? [...note, list(found, session, () => box.close())] : [element("p", {}, said)]));
    if (focus) body.querySelector("button")?.focus();
  }

  async function last() {
    const here = waiting(session);
    const ids = new Set(here.map(({ id }) => id));
    const there = await session.ask.recent(10).catch((error) => {
      if (here.length) return [];
      throw error;
    });
    return { cards: [...here, ...there.filter(({ id }) => !ids.has(id))].slice(0, Math.max(10, here.length)) };
  }

  let timer = null;
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const wanted = text.value.trim();
      if (wanted) show(search, () => session.ask.search(wanted), t("Nothing found."));
      else search.querySelector(".body").replaceChildren();
    }, 200);
  });
  text.addEventListener("keydown", (event) => { // the browser would empty the field first
    if (event.key !== "Escape") return;
    event.preventDefault();
    search.close();
  });
  return {
    recent() {
      recent.querySelector(".body").replaceChildren();
      recent.showModal();
      show(recent, last, t("No answers yet."), true);
    },
    search() {
      search.showModal();
      text.select();
    },
  };
}

function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((each) => each.trim()).map((each) => put(element("p", { dir: "auto", class: "text lines" }), each));
}

// When each label is given.
export function guidelines(work) {
  const body = document.querySelector("#guidelines-box .body");
  const said = work.labels.flatMap(({ label, guideline }) => {
    const names = Object.entries(work.categories ?? {}).filter(([, labels]) => labels.includes?.(label)).map(([name]) => name);
    const counts = names.flatMap((name, place) => [place ? ", " : "", isolated(name)]);
    return [element("dt", {}, isolated(label)), element("dd", {}, ...(guideline ? paragraphs(guideline) : []),
      ...(names.length ? [element("p", { class: "hint" }, ...phrase("Counts as {categories}", { categories: counts }))] : []),
      ...(guideline || names.length ? [] : [t("No guideline is given.")]))];
  });
  body.replaceChildren(...paragraphs(work.instructions ?? ""), element("dl", {}, ...said));
  if (!work.labels.length && !work.instructions) body.append(element("p", {}, t("No guidelines are given.")));
}

// What the keys do, and other keys for those who wish; `changed` is called with the new plan.
export function help(work, changed) {
  const body = document.querySelector("#help-box .body");
  let waits = null; // the row whose new key is to be pressed

  function take(choice) {
    choose(choice);
    waits = null;
    changed(plan(work, choice));
    draw(choice);
  }

  function draw(choice, said = "") {
    const { rows } = plan(work, choice);
    const row = ({ act, id, title, keys }) => {
      const what = act.label === undefined ? [title] : phrase("Label, save, continue: {label}", { label: isolated(title) });
      const button = element("button", { type: "button", class: "use", "aria-label": t("Change the key: {action}", { action: title }) }, t("Change"));
      button.dataset.row = id;
      button.addEventListener("click", () => {
        waits = { id, title };
        draw(choice, t("Press the new key for “{action}”; Escape cancels.", { action: title }));
      });
      const kbds = keys.flatMap((key, place) => [...(place ? [" ", t("or"), " "] : []), element("kbd", {}, spelt(key))]);
      return element("tr", {}, element("th", { scope: "row" }, ...(kbds.length ? kbds : ["—"])), element("td", {}, ...what), element("td", {}, button));
    };
    const fixed = [[t("Escape"), t("Close, or leave a field")], ...(work.kind === "keying" ? [[t("Enter"), t("In the field: save and continue")]] : [])];
    const labels = rows.filter(({ act }) => act.label !== undefined);
    const others = rows.filter(({ act }) => act.label === undefined);
    const table = element("table", {}, element("caption", {}, t("Keys")), element("tbody", {}, ...[...labels, ...others].map(row),
      ...fixed.map(([key, title]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, key)), element("td", { colspan: "2" }, title)))));
    const tick = element("input", { type: "checkbox", id: "single" });
    tick.checked = !choice.off;
    tick.addEventListener("change", () => take({ ...choice, off: !tick.checked }));
    const reset = element("button", { type: "button" }, t("Reset all keys"));
    reset.addEventListener("click", () => take({ off: false, keys: {} }));
    body.replaceChildren(
      element("p", { class: "tick" }, tick, element("label", { for: "single" }, t("Single keys; without this, keys need Alt"))),
      element("p", { role: "status", class: said ? "notice" : "" }, said),
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Keys") }, table), element("p", {}, reset),
      element("p", {}, t("Single keys are inactive while you type in a field. Each decision is kept in this browser until the server has saved it.")),
    );
    if (waits) body.querySelector(`[data-row="${CSS.escape(waits.id)}"]`).focus();
  }

  at("help-box").addEventListener("keydown", (event) => {
    if (!waits || ["Tab", "Shift", "Alt", "Control", "AltGraph"].includes(event.key)) return;
    event.preventDefault(); // a dialog stays open
    const choice = chosen();
    const [key] = pressed(event);
    const { rows } = plan(work, { ...choice, off: false });
    const other = rows.find((row) => row.id !== waits.id && row.keys.some((each) => each.replace("Alt+", "") === key));
    if (event.key === "Escape") take(choice);
    else if (!key || key === " " || key.startsWith("Alt+")) draw(choice, t("This key cannot be used; press another one."));
    else if (other) draw(choice, t("{key} is the key of “{action}”; press another one.", { key: spelt(key), action: other.title }));
    else take({ ...choice, keys: { ...choice.keys, [waits.id]: key } });
  });
  at("help-box").addEventListener("close", () => {
    waits = null;
    draw(chosen());
  });
  draw(chosen());
}

// How many cards somebody wants to do now; counted from when it is set.
export function goal(store, session) {
  const box = at("goal-box");
  const field = at("goal");
  const shown = () => {
    const { wished = 0, done = 0 } = store.get("goal") ?? {};
    at("goal-far").textContent = wished ? t("goal: {done} of {wished}", { done: number(done), wished: number(wished) }) : "";
  };
  box.addEventListener("close", () => {
    if (box.returnValue !== "set") return;
    store.set("goal", { wished: Math.max(0, Math.floor(Number(field.value) || 0)), done: 0 });
    shown();
  });
  session.addEventListener("decided", () => {
    const { wished = 0, done = 0 } = store.get("goal") ?? {};
    if (!wished) return;
    store.set("goal", { wished, done: done + 1 });
    shown();
    if (done + 1 === wished) session.view.say(tn("You have reached your goal: {n} card.", "You have reached your goal: {n} cards.", wished));
  });
  shown();
  return () => {
    field.value = store.get("goal")?.wished || "";
    box.showModal();
  };
}
