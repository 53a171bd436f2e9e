// Lists of cards to open: those answered last, those found, those set aside.

import { element, isolated } from "./text.js";

const SHORT = 120;

// Buttons that open cards.
export function list(cards, session, done = () => {}) {
  return element("ul", { class: "cards" }, ...cards.map((card) => {
    const units = card.units.flatMap(([, text], place) => [...(place ? [" · "] : []), isolated(text, "bdi", SHORT)]);
    const button = element("button", { type: "button" }, element("span", {}, ...units));
    const { answer, unsure, note } = card;
    if (answer !== null && answer !== undefined) {
      const said = session.work.kind === "keying" && answer === "-" ? "not found" : answer;
      button.append(element("strong", {}, isolated(said, "bdi", SHORT), unsure ? " (unsure)" : ""));
    }
    if (note) button.append(element("span", { class: "hint" }, isolated(note, "bdi", SHORT)));
    if (card.waits) button.append(element("span", { class: "hint" }, "not saved yet"));
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
  const recent = document.getElementById("recent-box");
  const search = document.getElementById("search-box");
  const text = document.getElementById("search-text");
  let asked = 0;

  async function show(box, ask, none) {
    const body = box.querySelector(".body");
    const number = (asked += 1);
    let found = [];
    let said = none;
    try {
      found = await ask();
    } catch (error) {
      said = `The server: ${error.message}.`;
    }
    if (number !== asked) return; // something newer was asked
    body.replaceChildren(found.length ? list(found, session, () => box.close()) : element("p", {}, said));
  }

  async function last() {
    const here = waiting(session);
    const ids = new Set(here.map(({ id }) => id));
    const there = await session.ask.recent(10).catch((error) => {
      if (here.length) return [];
      throw error;
    });
    return [...here, ...there.filter(({ id }) => !ids.has(id))].slice(0, Math.max(10, here.length));
  }

  let timer = null;
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const wanted = text.value.trim();
      if (wanted) show(search, () => session.ask.search(wanted), "Nothing found.");
      else search.querySelector(".body").replaceChildren();
    }, 200);
  });
  return {
    recent() {
      recent.querySelector(".body").replaceChildren();
      recent.showModal();
      show(recent, last, "No answers yet.");
    },
    search() {
      search.showModal();
      text.select();
    },
  };
}
