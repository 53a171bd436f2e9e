// The dialog for managing one person on the coordinator's page: link, stop, resume, reassign open cards.

import { number, t, tn } from "./messages.js";

const at = (id) => document.getElementById(id);

const QUESTIONS = {
  revoke: (name) => t("Replace the link of {name}? The present link stops working at once, also in windows that are open.", { name }),
  stop: (name) => t("Close {name}’s access? The link then accepts no more answers. All answers so far count, and {name} can continue later.", { name }),
};

// `post` sends an action and returns the response; `onChange` refreshes the page.
export function manage(post, onChange) {
  const dialog = at("person");
  let person = null; // the person whose dialog is open
  let pendingAction = null; // the action to be confirmed

  function show({ actions = false, recipients = false, confirmation = false, link = "", message = "" }) {
    at("person-actions").hidden = !actions;
    at("give-form").hidden = !recipients;
    at("confirmation").hidden = !confirmation;
    at("person-link").hidden = !link;
    at("link").value = link;
    at("person-message").textContent = message;
  }

  function showMenu(message = "") {
    const stopped = "stopped" in person;
    for (const button of at("person-actions").children) {
      const { act: action } = button.dataset;
      button.hidden = (action === "stop" && stopped) || (action === "resume" && !stopped)
        || (action === "excuse" && !("untrained" in person)) || (action === "give" && !(Number(person.open) && otherAnnotators().length));
    }
    show({ actions: true, message });
    at("person-heading").focus();
  }

  function otherAnnotators() {
    const annotators = [...document.querySelectorAll('#progress [data-person][data-role="annotator"]')].map((each) => each.dataset);
    const names = annotators.filter((each) => each.person !== person.person && !("stopped" in each)).map((each) => each.person);
    return [...new Set(names)];
  }

  async function send(body) {
    try {
      const response = await post({ name: person.person, ...body });
      show({ message: response.error ?? response.message, link: response.link ?? "" });
      if (response.link) at("link").select();
      else dialog.querySelector('[data-act="close"]').focus();
      if (!response.error) await onChange();
    } catch {
      show({ message: t("The server does not respond. Look at the table before you try again.") });
    }
  }

  function askConfirmation(body, question) {
    pendingAction = body;
    show({ confirmation: true, message: question });
    at("confirmation").querySelector('[data-act="no"]').focus();
  }

  function showGiveForm() {
    at("cards").max = person.open;
    at("cards").value = person.open;
    at("recipients").replaceChildren(...otherAnnotators().map((name) => {
      const label = document.createElement("label");
      const checkbox = Object.assign(document.createElement("input"), { type: "checkbox", name: "recipient", value: name });
      const text = document.createElement("bdi");
      text.textContent = name;
      label.append(checkbox, " ", text);
      return label;
    }));
    show({ recipients: true, message: t("Open cards: {open}. Nobody gets an item twice; cards with an answer stay.", { open: number(Number(person.open)) }) });
    at("recipients").querySelector("input").focus();
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(at("link").value);
      at("person-message").textContent = t("Copied.");
    } catch {
      at("link").select(); // the clipboard API needs HTTPS; the keyboard shortcut still works
      at("person-message").textContent = t("Press Ctrl+C to copy.");
    }
  }

  const actions = {
    link: () => send({ act: "link" }),
    revoke: () => askConfirmation({ act: "revoke" }, QUESTIONS.revoke(person.person)),
    stop: () => askConfirmation({ act: "stop" }, QUESTIONS.stop(person.person)),
    resume: () => send({ act: "resume" }),
    excuse: () => send({ act: "excuse" }),
    give: showGiveForm,
    yes: () => send(pendingAction),
    no: () => showMenu(),
    copy,
    close: () => dialog.close(),
  };

  function open(data) {
    person = { ...data };
    at("person-heading").textContent = person.person;
    dialog.showModal();
  }

  // The table, and with it the button that opened the dialog, may have been replaced in the meantime.
  dialog.addEventListener("close", () => {
    document.querySelector(`[data-person="${CSS.escape(person.person)}"]`)?.focus();
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.person !== undefined) {
      open(button.dataset);
      showMenu();
    } else if (dialog.contains(button) && button.dataset.act) actions[button.dataset.act]();
  });
  at("give-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const to = [...event.target.querySelectorAll("[name=recipient]:checked")].map((each) => each.value);
    const cards = Number(at("cards").value);
    if (!to.length) at("person-message").textContent = t("Choose who gets the cards.");
    else askConfirmation({ act: "reassign", to, cards }, tn("Give {n} open card of {name} to {others}?", "Give {n} open cards of {name} to {others}?", cards, { name: person.person, others: new Intl.ListFormat(document.documentElement.lang).format(to) }));
  });
  at("add-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    open({ person: event.target.name.value });
    show({});
    await send({ act: "add" });
    event.target.reset();
  });
}
