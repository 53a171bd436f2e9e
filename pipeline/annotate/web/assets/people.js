// The menu of a person on the coordinator's page: link, end, go on, open cards.

import { number, t, tn } from "./messages.js";

const at = (id) => document.getElementById(id);

const QUESTIONS = {
  revoke: (name) => t("Replace the link of {name}? The present link stops working at once, also in windows that are open.", { name }),
  stop: (name) => t("End {name}’s part? The link then takes no more answers. All answers so far count, and {name} can go on later.", { name }),
};

// `post` sends what is done and returns the answer; `changed` shows the page anew.
export function manage(post, changed) {
  const dialog = at("person");
  let person = null; // whose menu is open
  let waiting = null; // what is asked about

  function show({ acts = false, give = false, sure = false, link = "", said = "" }) {
    at("person-acts").hidden = !acts;
    at("give").hidden = !give;
    at("sure").hidden = !sure;
    at("person-link").hidden = !link;
    at("link").value = link;
    at("person-said").textContent = said;
  }

  function menu(said = "") {
    const stopped = "stopped" in person;
    for (const button of at("person-acts").children) {
      const { act } = button.dataset;
      button.hidden = (act === "stop" && stopped) || (act === "resume" && !stopped)
        || (act === "excuse" && !("untrained" in person)) || (act === "give" && !(Number(person.open) && others().length));
    }
    show({ acts: true, said });
    at("person-heading").focus();
  }

  function others() {
    const every = [...document.querySelectorAll('#progress [data-person][data-role="annotator"]')].map((each) => each.dataset);
    const names = every.filter((each) => each.person !== person.person && !("stopped" in each)).map((each) => each.person);
    return [...new Set(names)];
  }

  async function act(given) {
    try {
      const found = await post({ name: person.person, ...given });
      show({ said: found.error ?? found.said, link: found.link ?? "" });
      if (found.link) at("link").select();
      else dialog.querySelector('[data-act="close"]').focus();
      if (!found.error) await changed();
    } catch {
      show({ said: t("The server does not respond. Look at the table before you try again.") });
    }
  }

  function ask(given, question) {
    waiting = given;
    show({ sure: true, said: question });
    at("sure").querySelector('[data-act="no"]').focus();
  }

  function giving() {
    at("cards").max = person.open;
    at("cards").value = person.open;
    at("takers").replaceChildren(...others().map((name) => {
      const label = document.createElement("label");
      const tick = Object.assign(document.createElement("input"), { type: "checkbox", name: "taker", value: name });
      const text = document.createElement("bdi");
      text.textContent = name;
      label.append(tick, " ", text);
      return label;
    }));
    show({ give: true, said: t("Open cards: {open}. Nobody gets an item twice; cards with an answer stay.", { open: number(Number(person.open)) }) });
    at("takers").querySelector("input").focus();
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(at("link").value);
      at("person-said").textContent = t("Copied.");
    } catch {
      at("link").select(); // not allowed without encryption: the keys still copy
      at("person-said").textContent = t("Press Ctrl+C to copy.");
    }
  }

  const acts = {
    link: () => act({ act: "link" }),
    revoke: () => ask({ act: "revoke" }, QUESTIONS.revoke(person.person)),
    stop: () => ask({ act: "stop" }, QUESTIONS.stop(person.person)),
    resume: () => act({ act: "resume" }),
    excuse: () => act({ act: "excuse" }),
    give: giving,
    yes: () => act(waiting),
    no: () => menu(),
    copy,
    close: () => dialog.close(),
  };

  function open(data) {
    person = { ...data };
    at("person-heading").textContent = person.person;
    dialog.showModal();
  }

  // The table may have been replaced meanwhile, with the button that opened the menu.
  dialog.addEventListener("close", () => {
    document.querySelector(`[data-person="${CSS.escape(person.person)}"]`)?.focus();
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.person !== undefined) {
      open(button.dataset);
      menu();
    } else if (dialog.contains(button) && button.dataset.act) acts[button.dataset.act]();
  });
  at("give").addEventListener("submit", (event) => {
    event.preventDefault();
    const to = [...event.target.querySelectorAll("[name=taker]:checked")].map((each) => each.value);
    const cards = Number(at("cards").value);
    if (!to.length) at("person-said").textContent = t("Choose who gets the cards.");
    else ask({ act: "reassign", to, cards }, tn("Give {n} open card of {name} to {others}?", "Give {n} open cards of {name} to {others}?", cards, { name: person.person, others: new Intl.ListFormat(document.documentElement.lang).format(to) }));
  });
  at("add").addEventListener("submit", async (event) => {
    event.preventDefault();
    open({ person: event.target.name.value });
    show({});
    await act({ act: "add" });
    event.target.reset();
  });
}
