// The annotator's page: updates its elements.

import { number, phrase, t, tn } from "./messages.js";
import { cardList } from "./lists.js";
import { direction, element, fill, isolated, parts, appendText } from "./text.js";
import { formatKey } from "./keys.js";

const at = (id) => document.getElementById(id);
const INITIAL_EXAMPLES = 3;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  messageNumber = 0; // of the last message

  constructor(work, plan) {
    this.work = work;
    this.keying = work.kind === "keying";
    for (const { label } of work.labels) {
      const button = element("button", { type: "button", class: "label", "aria-pressed": "false" }, isolated(label));
      button.dataset.label = label;
      at("labels").append(button);
    }
    this.showKeys(plan);
    at("forms-instructions").hidden = !this.keying || !work.instructions;
    if (this.keying) appendText(at("forms-instructions"), work.instructions);
    at("keying").hidden = !this.keying;
    document.body.classList.toggle("typed", this.keying);
    document.body.classList.toggle("training", work.round === "training");
    at("answer").classList.toggle("crowded", work.labels.length > 6);
    at("labels").hidden = this.keying;
    for (const id of ["units", "examples"]) if (work.language) at(id).lang = work.language;
  }

  // Show its keys on each button.
  showKeys({ rows }) {
    for (const { action, title, keys } of rows) {
      const selector = action.label === undefined ? `[data-act="${action.command}"]` : `[data-label="${CSS.escape(action.label)}"]`;
      for (const button of document.querySelectorAll(`button${selector}`)) {
        button.querySelectorAll("kbd").forEach((each) => each.remove());
        const visibleKeys = action.label === undefined ? keys.slice(0, 1) : keys;
        const kbds = visibleKeys.map((key) => element("kbd", { "aria-hidden": "true" }, formatKey(key)));
        if (action.label === undefined) button.append(...kbds);
        else button.prepend(...kbds);
        button.toggleAttribute("aria-keyshortcuts", keys.length > 0);
        if (keys.length) button.setAttribute("aria-keyshortcuts", keys.join(" "));
        if (action.label === undefined) button.title = title;
      }
    }
  }

  showCard(card) {
    const texts = card.units.map(([, text]) => text);
    at("rest").hidden = true;
    at("card").dataset.id = card.id;
    delete at("card").dataset.ready;
    at("card").classList.remove("resting");
    at("card").setAttribute("aria-label", texts.map((text) => text.slice(0, 100)).join(" · "));
    at("units").dir = direction(texts[0] ?? "");
    at("units").replaceChildren(...card.units.map(([name, text]) => this.#unitElement(name, text)));
    at("units").classList.toggle("many", card.units.length > 2);
    at("suggestion").hidden = !card.suggestion;
    at("suggestion").replaceChildren(...(card.suggestion ? phrase("Suggestion of a model: {label}", { label: isolated(card.suggestion) }) : []));
    this.#showFirstAnswers(card.first);
    this.#showExamples(card.examples ?? []);
    this.#showForm(card);
    this.showAnswer(card);
    at("answer").hidden = false;
    at("card").scrollTop = 0;
    scrollTo(0, 0);
    at("card").focus({ preventScroll: true });
  }

  // From now on the card accepts decisions.
  markReady() {
    at("card").dataset.ready = "";
  }

  #unitElement(name, text) {
    const node = fill(element("p", { class: "unit text", dir: "auto" }), [{ kind: "plain", text }]);
    if (text.length > 60) node.classList.add("long");
    node.dataset.unit = name;
    return node;
  }

  #showExamples(examples) {
    const items = examples.map((text) => fill(element("li", { class: "text", dir: "auto" }), parts(text)));
    items.slice(INITIAL_EXAMPLES).forEach((each) => (each.hidden = true));
    at("examples").replaceChildren(...items);
    at("examples-section").hidden = items.length === 0;
    this.#updateMore();
  }

  #updateMore() {
    const hidden = at("examples").querySelectorAll("li[hidden]").length;
    at("more").hidden = hidden === 0;
    at("more-text").textContent = tn("{n} more example", "{n} more examples", hidden);
  }

  // Show the hidden examples; return whether there were any.
  showMore() {
    const hidden = [...at("examples").querySelectorAll("li[hidden]")];
    for (const each of hidden) each.hidden = false;
    this.#updateMore();
    if (hidden.length) {
      hidden[0].tabIndex = -1;
      hidden[0].focus();
    }
    return hidden.length > 0;
  }

  #showFirstAnswers(first) {
    at("first-answers").hidden = !first?.length;
    if (!first?.length) return;
    const names = [t("Who"), this.keying ? t("Forms") : t("Label"), t("Note")];
    const head = element("tr", {}, ...names.map((text) => element("th", { scope: "col" }, text)));
    const rows = first.map(({ annotator, answer, unsure, note }) => element("tr", {},
      element("th", { scope: "row" }, isolated(annotator)),
      element("td", {}, ...(this.keying ? this.#formNodes(answer, first) : [isolated(answer ?? t("none"))]),
        ...(unsure ? [" (", t("unsure"), ")"] : []), this.#useButton(annotator, answer)),
      element("td", {}, isolated(note ?? ""))));
    at("first-answers").replaceChildren(element("table", {}, element("caption", {}, this.keying ? t("First forms") : t("First labels")),
      element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  // The forms of one annotator; those that others do not have are marked.
  #formNodes(answer, first) {
    if (answer === "-") return [t("not found")];
    const forms = (text) => (text ?? "").split(/[,;\n،、]+/).map((form) => form.trim().normalize("NFC")).filter(Boolean);
    const others = first.map((each) => new Set(forms(each.answer)));
    return forms(answer).flatMap((form, index) => {
      const shared = others.every((each) => each.has(form));
      return [index ? ", " : "", isolated(form, shared ? "bdi" : "mark")];
    });
  }

  // A button that copies an annotator's forms into the field.
  #useButton(annotator, answer) {
    if (!this.keying || !answer || answer === "-") return "";
    const button = element("button", { type: "button", class: "use", "aria-label": t("Use the forms of {name}", { name: annotator }) }, t("Use"));
    button.dataset.forms = answer;
    return button;
  }

  #showForm(card) {
    if (!this.keying) return;
    const lemma = isolated(card.units.map(([, text]) => text).join(" "), "bdi", 60);
    at("forms-label").replaceChildren(...phrase("Forms of {lemma}", { lemma }));
    for (const [id, title, forms] of [["keyed", t("Keyed in:"), card.keyed_forms], ["lexicon", t("In the lexicon:"), card.lexicon_forms]]) {
      at(id).hidden = !forms;
      at(id).replaceChildren(element("strong", {}, title), " ", isolated(forms ?? ""));
    }
  }

  // Show the current answer of the card.
  showAnswer({ answer, unsure, note }) {
    const isAnswered = answer !== null && answer !== undefined;
    at("current-answer").hidden = !isAnswered;
    if (isAnswered) {
      const text = this.keying && answer === "-" ? t("not found") : answer;
      at("current-answer").replaceChildren(...phrase("Your answer: {answer}", { answer: element("strong", {}, isolated(text, "bdi", 200)) }),
        ...(unsure ? [" (", t("unsure"), ")"] : []), ...(note ? phrase("; note: {note}", { note: isolated(note, "bdi", 200) }) : []));
    }
    for (const button of at("labels").children) {
      button.setAttribute("aria-pressed", String(isAnswered && button.dataset.label === answer));
    }
    at("not-found").setAttribute("aria-pressed", String(answer === "-"));
  }

  // Explain why a card is open again; without an entry, hide the explanation.
  showTrouble(entry, card) {
    at("trouble").hidden = !entry;
    if (!entry) return;
    const answerNode = (text) => isolated(text === null ? t("no answer") : this.keying && text === "-" ? t("not found") : text, "bdi", 200);
    const choice = entry.kind === "label" ? [...phrase("You chose {answer} here.", { answer: answerNode(entry.answer) }), " "] : [];
    const { kind, why } = entry.trouble;
    const texts = kind === "refused"
      ? [...phrase("Not saved: {why}.", { why: isolated(why) }), " ", ...choice, t("Choose again, or leave it unchanged.")]
      : [...phrase("Decided in another window: {answer}.", { answer: answerNode(card.answer) }), " ", ...choice, t("Choose again to replace it, or leave it unchanged.")];
    at("trouble-text").replaceChildren(...texts);
  }

  showUnsure(isUnsure) {
    at("unsure").setAttribute("aria-pressed", String(isUnsure));
  }

  // Flash the button of a decision, since the next card has the same buttons.
  flash(answer) {
    const button = [...at("labels").children].find((each) => each.dataset.label === answer);
    if (button && !reducedMotion.matches) button.animate([{ outline: "4px solid var(--tint)" }, { outline: "4px solid transparent" }], 400);
  }

  // Show in the training round whether an answer was right; resolves when the user continues.
  showFeedback(chosen, { correct, answer, explanation }) {
    const label = (text) => element("strong", {}, isolated(text, "bdi", 200));
    const verdict = correct ? phrase("Right: {answer}.", { answer: label(answer) })
      : phrase("You chose {given}; the answer is {answer}.", { given: label(chosen), answer: label(answer) });
    const button = element("button", { type: "button", class: "main", id: "continue" }, t("Continue"));
    at("feedback").className = correct ? "notice right" : "notice";
    at("feedback").replaceChildren(element("p", { role: "status" }, ...verdict), ...(explanation ? [appendText(element("p", { dir: "auto", class: "text lines" }), explanation)] : []), element("p", {}, button));
    at("feedback").hidden = false;
    button.focus();
    return new Promise((resolve) => button.addEventListener("click", () => {
      at("feedback").hidden = true;
      resolve();
    }));
  }

  focusContinue() {
    at("continue").focus();
  }

  // Show the result of the training round, with a button to continue.
  showTrainingResult({ asked, correct, mark, passed }, onContinue) {
    const percent = (share) => share.toLocaleString(document.documentElement.lang, { style: "percent" });
    const values = { correct: number(correct), asked: number(asked), share: percent(correct / asked), mark: percent(mark) };
    const text = passed ? t("{correct} of {asked} answers were right ({share}); the pass mark is {mark}. You can begin.", values)
      : t("{correct} of {asked} answers were right ({share}); the pass mark is {mark}. Read the guidelines and try again.", values);
    const button = element("button", { type: "button", class: "main" }, passed ? t("Begin") : t("Try again"));
    button.addEventListener("click", onContinue);
    this.#replaceCard(passed ? t("Training passed") : t("Training not passed"), element("p", {}, text), element("p", {}, button));
  }

  // Show each time that a press was not accepted.
  showRefusal() {
    const count = Number(at("refused").dataset.count ?? 0) + 1;
    at("refused").dataset.count = count;
    at("refused").textContent = t("Ignored: the card had only just appeared. Press again.");
    at("refused").hidden = false;
    if (!reducedMotion.matches) at("answer").animate([{ outline: "3px solid var(--warn)" }, { outline: "3px solid transparent" }], 500);
    clearTimeout(this.refusalTimer);
    this.refusalTimer = setTimeout(() => (at("refused").hidden = true), 2500);
  }

  // Show the page without a card: all is done, only cards set aside are left, or none can be fetched.
  showNoCard(session, failure) {
    const { supply, queue } = session;
    const { aside } = supply;
    const button = (text, onClick) => {
      const node = element("button", { type: "button", class: "main" }, text);
      node.addEventListener("click", onClick);
      return element("p", {}, node);
    };
    const retryButton = () => button(t("Try again"), () => queue.send().then(() => session.next()));
    const text = this.work.round === "adjudication"
      ? t("Thank you. Every decision is saved. You can still view and change your answers with Recent and Search above.")
      : t("Thank you. Every decision is saved. With Recent and Search above you can view your answers, and change answers that no adjudicator has seen.");
    let [heading, ...children] = [t("All done"), element("p", {}, text)];
    if (failure) {
      [heading, ...children] = [t("No more cards while the server is unreachable"), element("p", {}, failure), retryButton()];
    } else if (aside.length) {
      const asideButton = button(t("Show"), () => {
        supply.skippedAgain = new Set();
        session.next();
      });
      [heading, ...children] = [t("All done except the cards you set aside"), element("p", {}, tn("{n} card is left.", "{n} cards are left.", aside.length)), asideButton, cardList(aside, session)];
    } else if (queue.waiting.length) {
      [heading, ...children] = [t("All decided"), element("p", {}, t("Leave this page open until everything is saved.")), retryButton()];
    }
    this.#replaceCard(heading, ...children);
  }

  #replaceCard(heading, ...children) {
    for (const id of ["answer", "examples-section", "first-answers", "trouble", "suggestion"]) at(id).hidden = true;
    at("units").replaceChildren();
    at("card").dataset.id = "";
    delete at("card").dataset.ready;
    at("rest").replaceChildren(element("h2", {}, heading), ...children);
    at("rest").hidden = false;
    at("card").classList.add("resting");
    at("card").setAttribute("aria-label", heading);
    at("card").focus({ preventScroll: true });
  }

  showProgress({ asked, done, aside }) {
    at("bar").max = Math.max(1, asked);
    at("bar").value = done;
    const values = { done: number(done), asked: number(asked), aside: number(aside) };
    at("progress-text").textContent = aside ? t("{done} of {asked}, {aside} set aside", values) : t("{done} of {asked}", values);
  }

  // Show a message in the status line, which screen readers announce; return its number.
  say(...children) {
    at("message").replaceChildren(...children);
    this.messageNumber += 1;
    return this.messageNumber;
  }

  showWaiting({ count, connectionError, isPersistent, refusedCount }) {
    at("waiting").dataset.count = count;
    at("waiting").hidden = !connectionError && !refusedCount;
    at("send-now").hidden = count === 0;
    if (at("waiting").hidden) {
      at("waiting-text").textContent = "";
      return;
    }
    const hint = isPersistent
      ? t("Unsaved decisions are kept in this browser and sent again; leave this window open until they are saved.")
      : t("This browser cannot store decisions: leave this page open until they are saved.");
    const text = [
      ...(connectionError ? [connectionError.hasResponse ? connectionError.message : t("Server unreachable: {why}.", { why: connectionError.message })] : []),
      ...(count ? [tn("{n} decision is not saved yet.", "{n} decisions are not saved yet.", count), hint] : []),
      ...(refusedCount ? [tn("{n} decision was not accepted and returns after this card: decided in another window, or refused.",
        "{n} decisions were not accepted and return after this card: decided in another window, or refused.", refusedCount)] : []),
    ].join(" ");
    if (at("waiting-text").textContent !== text) at("waiting-text").textContent = text;
    at("waiting").classList.toggle("severe", !isPersistent && count > 0);
  }
}
