// The page's places, and what is shown in them.

import { number, phrase, t, tn } from "./messages.js";
import { list } from "./lists.js";
import { direction, element, fill, isolated, parts, put } from "./text.js";
import { spelt } from "./keys.js";

const at = (id) => document.getElementById(id);
const SHOWN = 3;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  constructor(work, plan) {
    this.work = work;
    this.keying = work.kind === "keying";
    for (const { label } of work.labels) {
      const button = element("button", { type: "button", class: "label", "aria-pressed": "false" }, isolated(label));
      button.dataset.label = label;
      at("labels").append(button);
    }
    this.keys(plan);
    at("forms-spelt").hidden = !this.keying || !work.instructions;
    if (this.keying) put(at("forms-spelt"), work.instructions);
    at("keying").hidden = !this.keying;
    document.body.classList.toggle("typed", this.keying);
    document.body.classList.toggle("training", work.round === "training");
    at("answer").classList.toggle("crowded", work.labels.length > 6);
    at("labels").hidden = this.keying;
    for (const id of ["units", "examples"]) if (work.language) at(id).lang = work.language;
  }

  // Show on each button the keys that press it.
  keys({ rows }) {
    for (const { act, title, keys } of rows) {
      const own = act.label === undefined ? `[data-act="${act.command}"]` : `[data-label="${CSS.escape(act.label)}"]`;
      for (const button of document.querySelectorAll(`button${own}`)) {
        button.querySelectorAll("kbd").forEach((each) => each.remove());
        const shown = act.label === undefined ? keys.slice(0, 1) : keys;
        const kbds = shown.map((key) => element("kbd", { "aria-hidden": "true" }, spelt(key)));
        if (act.label === undefined) button.append(...kbds);
        else button.prepend(...kbds);
        button.toggleAttribute("aria-keyshortcuts", keys.length > 0);
        if (keys.length) button.setAttribute("aria-keyshortcuts", keys.join(" "));
        if (act.label === undefined) button.title = title;
      }
    }
  }

  card(card) {
    const texts = card.units.map(([, text]) => text);
    at("rest").hidden = true;
    at("card").dataset.id = card.id;
    delete at("card").dataset.ready;
    at("card").classList.remove("resting");
    at("card").setAttribute("aria-label", texts.map((text) => text.slice(0, 100)).join(" · "));
    at("units").dir = direction(texts[0] ?? "");
    at("units").replaceChildren(...card.units.map(([name, text]) => this.#unit(name, text)));
    at("units").classList.toggle("many", card.units.length > 2);
    at("suggestion").hidden = !card.suggestion;
    at("suggestion").replaceChildren(...(card.suggestion ? phrase("Suggestion of a model: {label}", { label: isolated(card.suggestion) }) : []));
    this.#first(card.first);
    this.#examples(card.examples ?? []);
    this.#form(card);
    this.stands(card);
    at("answer").hidden = false;
    at("card").scrollTop = 0;
    scrollTo(0, 0);
    at("card").focus({ preventScroll: true });
  }

  // The card takes decisions from now on.
  ready() {
    at("card").dataset.ready = "";
  }

  #unit(name, text) {
    const whole = fill(element("p", { class: "unit text", dir: "auto" }), [{ kind: "plain", text }]);
    if (text.length > 60) whole.classList.add("long");
    whole.dataset.unit = name;
    return whole;
  }

  #examples(examples) {
    const items = examples.map((text) => fill(element("li", { class: "text", dir: "auto" }), parts(text)));
    items.slice(SHOWN).forEach((each) => (each.hidden = true));
    at("examples").replaceChildren(...items);
    at("shown").hidden = items.length === 0;
    this.#more();
  }

  #more() {
    const hidden = at("examples").querySelectorAll("li[hidden]").length;
    at("more").hidden = hidden === 0;
    at("more-text").textContent = tn("{n} more example", "{n} more examples", hidden);
  }

  // Show the examples that are hidden; false if none is.
  more() {
    const hidden = [...at("examples").querySelectorAll("li[hidden]")];
    for (const each of hidden) each.hidden = false;
    this.#more();
    if (hidden.length) {
      hidden[0].tabIndex = -1;
      hidden[0].focus();
    }
    return hidden.length > 0;
  }

  #first(first) {
    at("first").hidden = !first?.length;
    if (!first?.length) return;
    const names = [t("Who"), this.keying ? t("Forms") : t("Label"), t("Note")];
    const head = element("tr", {}, ...names.map((text) => element("th", { scope: "col" }, text)));
    const rows = first.map(({ annotator, answer, unsure, note }) => element("tr", {},
      element("th", { scope: "row" }, isolated(annotator)),
      element("td", {}, ...(this.keying ? this.#keyed(answer, first) : [isolated(answer ?? t("none"))]),
        ...(unsure ? [" (", t("unsure"), ")"] : []), this.#use(annotator, answer)),
      element("td", {}, isolated(note ?? ""))));
    at("first").replaceChildren(element("table", {}, element("caption", {}, this.keying ? t("First forms") : t("First labels")),
      element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  // A person's forms; those that not everybody gives are marked.
  #keyed(answer, first) {
    if (answer === "-") return [t("not found")];
    const forms = (text) => (text ?? "").split(/[,;\n،、]+/).map((form) => form.trim().normalize("NFC")).filter(Boolean);
    const others = first.map((each) => new Set(forms(each.answer)));
    return forms(answer).flatMap((form, place) => {
      const shared = others.every((each) => each.has(form));
      return [place ? ", " : "", isolated(form, shared ? "bdi" : "mark")];
    });
  }

  // A button that puts a person's forms in the field.
  #use(annotator, answer) {
    if (!this.keying || !answer || answer === "-") return "";
    const button = element("button", { type: "button", class: "use", "aria-label": t("Use the forms of {name}", { name: annotator }) }, t("Use"));
    button.dataset.forms = answer;
    return button;
  }

  #form(card) {
    if (!this.keying) return;
    const lemma = isolated(card.units.map(([, text]) => text).join(" "), "bdi", 60);
    at("forms-label").replaceChildren(...phrase("Forms of {lemma}", { lemma }));
    for (const [id, title, forms] of [["keyed", t("Keyed in:"), card.keyed_forms], ["lexicon", t("In the lexicon:"), card.lexicon_forms]]) {
      at(id).hidden = !forms;
      at(id).replaceChildren(element("strong", {}, title), " ", isolated(forms ?? ""));
    }
  }

  // What the card is answered with.
  stands({ answer, unsure, note }) {
    const answered = answer !== null && answer !== undefined;
    at("stands").hidden = !answered;
    if (answered) {
      const said = this.keying && answer === "-" ? t("not found") : answer;
      at("stands").replaceChildren(...phrase("Your answer: {answer}", { answer: element("strong", {}, isolated(said, "bdi", 200)) }),
        ...(unsure ? [" (", t("unsure"), ")"] : []), ...(note ? phrase("; note: {note}", { note: isolated(note, "bdi", 200) }) : []));
    }
    for (const button of at("labels").children) {
      button.setAttribute("aria-pressed", String(answered && button.dataset.label === answer));
    }
    at("not-found").setAttribute("aria-pressed", String(answer === "-"));
  }

  // Why a card is open again; without an entry nothing.
  trouble(entry, card) {
    at("trouble").hidden = !entry;
    if (!entry) return;
    const said = (text) => isolated(text === null ? t("no answer") : this.keying && text === "-" ? t("not found") : text, "bdi", 200);
    const chose = entry.kind === "label" ? [...phrase("You chose {answer} here.", { answer: said(entry.answer) }), " "] : [];
    const { kind, why } = entry.trouble;
    const texts = kind === "refused"
      ? [...phrase("Not saved: {why}.", { why: isolated(why) }), " ", ...chose, t("Choose again, or leave it unchanged.")]
      : [...phrase("Decided in another window: {answer}.", { answer: said(card.answer) }), " ", ...chose, t("Choose again to replace it, or leave it unchanged.")];
    at("trouble-text").replaceChildren(...texts);
  }

  unsure(on) {
    at("unsure").setAttribute("aria-pressed", String(on));
  }

  // The button of a decision flashes, as it is the same for the next card.
  flash(answer) {
    const button = [...at("labels").children].find((each) => each.dataset.label === answer);
    if (button && !still.matches) button.animate([{ outline: "4px solid var(--tint)" }, { outline: "4px solid transparent" }], 400);
  }

  // Show in the training round whether an answer was right; resolves when somebody goes on.
  feedback(given, { correct, answer, explanation }) {
    const label = (text) => element("strong", {}, isolated(text, "bdi", 200));
    const verdict = correct ? phrase("Right: {answer}.", { answer: label(answer) })
      : phrase("You chose {given}; the answer is {answer}.", { given: label(given), answer: label(answer) });
    const on = element("button", { type: "button", class: "main", id: "continue" }, t("Continue"));
    at("feedback").className = correct ? "notice right" : "notice";
    at("feedback").replaceChildren(element("p", { role: "status" }, ...verdict), ...(explanation ? [put(element("p", { dir: "auto", class: "text lines" }), explanation)] : []), element("p", {}, on));
    at("feedback").hidden = false;
    on.focus();
    return new Promise((resolve) => on.addEventListener("click", () => {
      at("feedback").hidden = true;
      resolve();
    }));
  }

  again() {
    at("continue").focus();
  }

  // The result of the training round, with a button that goes on.
  trained({ asked, correct, mark, passed }, on) {
    const percent = (share) => share.toLocaleString(document.documentElement.lang, { style: "percent" });
    const values = { correct: number(correct), asked: number(asked), share: percent(correct / asked), mark: percent(mark) };
    const said = passed ? t("{correct} of {asked} answers were right ({share}); the pass mark is {mark}. You can begin.", values)
      : t("{correct} of {asked} answers were right ({share}); the pass mark is {mark}. Read the guidelines and try again.", values);
    const button = element("button", { type: "button", class: "main" }, passed ? t("Begin") : t("Try again"));
    button.addEventListener("click", on);
    this.#rest(passed ? t("Training passed") : t("Training not passed"), element("p", {}, said), element("p", {}, button));
  }

  // A press that was not taken shows, each time.
  refuse() {
    const count = Number(at("refused").dataset.count ?? 0) + 1;
    at("refused").dataset.count = count;
    at("refused").textContent = t("Not taken: the card had only just appeared. Press again.");
    at("refused").hidden = false;
    if (!still.matches) at("answer").animate([{ outline: "3px solid var(--warn)" }, { outline: "3px solid transparent" }], 500);
    clearTimeout(this.refusal);
    this.refusal = setTimeout(() => (at("refused").hidden = true), 2500);
  }

  // A page without a card: all is done, or only what was set aside is left, or nothing can be fetched.
  rest(session, away) {
    const { supply, queue } = session;
    const { aside } = supply;
    const button = (text, act) => {
      const made = element("button", { type: "button", class: "main" }, text);
      made.addEventListener("click", act);
      return element("p", {}, made);
    };
    const again = () => button(t("Try again"), () => queue.send().then(() => session.next()));
    let [heading, ...children] = [t("All done"), element("p", {}, t("Thank you. Every decision is saved. You can still view and change your answers with Recent and Search above."))];
    if (away) {
      [heading, ...children] = [t("No more cards while the server is unreachable"), element("p", {}, away), again()];
    } else if (aside.length) {
      const pass = button(t("Show them"), () => {
        supply.passed = new Set();
        session.next();
      });
      [heading, ...children] = [t("All done except the cards you set aside"), element("p", {}, tn("{n} card is left.", "{n} cards are left.", aside.length)), pass, list(aside, session)];
    } else if (queue.waiting.length) {
      [heading, ...children] = [t("All decided"), element("p", {}, t("Leave this page open until everything is saved.")), again()];
    }
    this.#rest(heading, ...children);
  }

  #rest(heading, ...children) {
    for (const id of ["answer", "shown", "first", "trouble", "suggestion"]) at(id).hidden = true;
    at("units").replaceChildren();
    at("card").dataset.id = "";
    delete at("card").dataset.ready;
    at("rest").replaceChildren(element("h2", {}, heading), ...children);
    at("rest").hidden = false;
    at("card").classList.add("resting");
    at("card").setAttribute("aria-label", heading);
    at("card").focus({ preventScroll: true });
  }

  progress({ asked, done, aside }) {
    at("bar").max = Math.max(1, asked);
    at("bar").value = done;
    const values = { done: number(done), asked: number(asked), aside: number(aside) };
    at("far").textContent = aside ? t("{done} of {asked}, {aside} set aside", values) : t("{done} of {asked}", values);
  }

  // Said once, to eyes and ears.
  say(...children) {
    at("said").replaceChildren(...children);
  }

  waiting({ count, away, lasting, refused }) {
    at("waiting").dataset.count = count;
    at("waiting").hidden = !away && !refused;
    at("send-now").hidden = count === 0;
    if (at("waiting").hidden) {
      at("waiting-text").textContent = "";
      return;
    }
    const kept = lasting
      ? t("Unsaved decisions are kept in this browser and sent again; leave this window open until they are saved.")
      : t("This browser cannot store decisions: leave this page open until they are saved.");
    const text = [
      ...(away ? [away.answered ? away.message : t("Server unreachable: {why}.", { why: away.message })] : []),
      ...(count ? [tn("{n} decision is not saved yet.", "{n} decisions are not saved yet.", count), kept] : []),
      ...(refused ? [tn("{n} decision was not accepted and returns after this card: decided in another window, or refused.",
        "{n} decisions were not accepted and return after this card: decided in another window, or refused.", refused)] : []),
    ].join(" ");
    if (at("waiting-text").textContent !== text) at("waiting-text").textContent = text;
    at("waiting").classList.toggle("grave", !lasting && count > 0);
  }
}
