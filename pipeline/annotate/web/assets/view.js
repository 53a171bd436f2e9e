// The page's places, and what is shown in them.

import { element, fill, isolated, parts, put } from "./text.js";
import { spelt } from "./keys.js";

const at = (id) => document.getElementById(id);
const SHOWN = 3;

export class View {
  constructor(work, plan) {
    this.work = work;
    this.keying = work.kind === "keying";
    this.#labels(plan);
    for (const { name, title, keys } of plan.commands) this.#hint(name, title, keys);
    at("forms-spelt").hidden = !this.keying || !work.instructions;
    if (this.keying) put(at("forms-spelt"), work.instructions);
    at("keying").hidden = !this.keying;
    document.body.classList.toggle("typed", this.keying);
    at("answer").classList.toggle("crowded", work.labels.length > 6);
    at("labels").hidden = this.keying;
  }

  #labels({ acts }) {
    for (const { label } of this.work.labels) {
      const keys = [...acts].filter(([, act]) => act.label === label).map(([key]) => key);
      const button = element("button", { type: "button", class: "label", "aria-pressed": "false" });
      button.dataset.label = label;
      button.append(...keys.map((key) => element("kbd", { "aria-hidden": "true" }, spelt(key))), isolated(label));
      if (keys.length) button.setAttribute("aria-keyshortcuts", keys.join(" "));
      at("labels").append(button);
    }
  }

  #hint(name, title, keys) {
    for (const button of document.querySelectorAll(`[data-act="${name}"]:not(#more)`)) {
      if (!keys.length) continue;
      button.append(" ", element("kbd", { "aria-hidden": "true" }, spelt(keys[0])));
      button.setAttribute("aria-keyshortcuts", keys.join(" "));
      button.title = title;
    }
    if (name === "more") this.moreKey = keys[0] ?? "";
  }

  // Show a card; `stands` is what it was answered with, `sentence` what the person should know of it.
  card(card) {
    at("rest").hidden = true;
    at("card").dataset.id = card.id;
    at("card").classList.remove("resting");
    at("card").setAttribute("aria-label", this.keying ? "Headword" : "Card");
    at("units").replaceChildren(...card.units.map(([name, text]) => this.#unit(name, text)));
    at("units").classList.toggle("many", card.units.length > 2);
    this.#first(card.first);
    this.#examples(card.examples ?? []);
    this.#form(card);
    this.stands(card);
    at("answer").hidden = false;
    at("card").scrollTop = 0;
    scrollTo(0, 0);
    at("card").focus({ preventScroll: true });
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
    at("more").replaceChildren(hidden === 1 ? "1 more example " : `${hidden} more examples `);
    if (this.moreKey) at("more").append(element("kbd", { "aria-hidden": "true" }, spelt(this.moreKey)));
  }

  // Show the examples that are left out; false if none is.
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
    const names = ["Who", this.keying ? "Forms" : "Label", "Note"];
    const head = element("tr", {}, ...names.map((text) => element("th", { scope: "col" }, text)));
    const rows = first.map(({ annotator, answer, unsure, note }) => element("tr", {},
      element("th", { scope: "row" }, isolated(annotator)),
      element("td", {}, ...(this.keying ? this.#keyed(answer, first) : [isolated(answer ?? "none")]),
        unsure ? " (unsure)" : "", this.#use(annotator, answer)),
      element("td", {}, isolated(note ?? ""))));
    at("first").replaceChildren(element("table", {}, element("caption", {}, this.keying ? "First forms" : "First labels"),
      element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  // A person's forms; those that not everybody gives are marked.
  #keyed(answer, first) {
    if (answer === "-") return ["not found"];
    const forms = (text) => (text ?? "").split(/[,;\n،、]+/).map((form) => form.trim().normalize("NFC")).filter(Boolean);
    const others = first.map((each) => new Set(forms(each.answer)));
    return forms(answer).flatMap((form, number) => {
      const shared = others.every((each) => each.has(form));
      return [number ? ", " : "", isolated(form, shared ? "bdi" : "mark")];
    });
  }

  // A button that puts a person's forms in the field.
  #use(annotator, answer) {
    if (!this.keying || !answer || answer === "-") return "";
    const button = element("button", { type: "button", class: "use", "aria-label": `Use the forms of ${annotator}` }, "Use");
    button.dataset.forms = answer;
    return button;
  }

  #form(card) {
    if (!this.keying) return;
    const lemma = card.units.map(([, text]) => text).join(" ");
    at("forms-label").replaceChildren("Forms of ", isolated(lemma, "bdi", 60));
    at("keyed").hidden = !card.keyed_forms;
    at("keyed").replaceChildren(element("strong", {}, "Keyed in: "), isolated(card.keyed_forms ?? ""));
    at("lexicon").hidden = !card.lexicon_forms;
    at("lexicon").replaceChildren(element("strong", {}, "In the lexicon: "), isolated(card.lexicon_forms ?? ""));
  }

  // What the card is answered with.
  stands({ answer, unsure, note }) {
    const answered = answer !== null && answer !== undefined;
    at("stands").hidden = !answered;
    if (answered) {
      const said = this.keying && answer === "-" ? "not found" : answer;
      at("stands").replaceChildren("Your answer: ", element("strong", {}, isolated(said, "bdi", 200)),
        unsure ? " (unsure)" : "", note ? "; note: " : "", note ? isolated(note, "bdi", 200) : "");
    }
    for (const button of at("labels").children) {
      button.setAttribute("aria-pressed", String(answered && button.dataset.label === answer));
    }
    at("not-found").setAttribute("aria-pressed", String(answer === "-"));
  }

  trouble(sentence) {
    at("trouble").hidden = !sentence;
    at("trouble-text").replaceChildren(...(sentence ?? []));
  }

  unsure(on) {
    at("unsure").setAttribute("aria-pressed", String(on));
  }

  busy(on) {
    at("answer").setAttribute("aria-busy", String(on));
  }

  // A page without a card: a heading, and what else is to be said or chosen.
  rest(heading, ...children) {
    for (const id of ["answer", "shown", "first", "trouble"]) at(id).hidden = true;
    at("units").replaceChildren();
    at("card").dataset.id = "";
    at("rest").replaceChildren(element("h2", {}, heading), ...children);
    at("rest").hidden = false;
    at("card").classList.add("resting");
    at("card").setAttribute("aria-label", heading);
    at("card").focus({ preventScroll: true });
  }

  progress({ asked, done, aside }) {
    at("bar").max = Math.max(1, asked);
    at("bar").value = done;
    const number = (value) => value.toLocaleString("en");
    at("far").textContent = `${number(done)} of ${number(asked)}${aside ? `, ${number(aside)} set aside` : ""}`;
  }

  // Said once, to eyes and ears.
  say(...children) {
    at("said").replaceChildren(...children);
  }

  waiting({ count, why, lasting, refused }) {
    at("waiting").hidden = count === 0 && !why && !refused;
    at("send-now").hidden = count === 0;
    if (at("waiting").hidden) {
      at("waiting-text").textContent = "";
      return;
    }
    const many = count === 1 ? "1 decision is not saved yet" : `${count} decisions are not saved yet`;
    const kept = lasting
      ? "They are kept here and sent again; leave this window open until then."
      : "This browser cannot store them: leave this page open until they are saved.";
    const comes = refused === 1 ? "1 decision was not accepted and returns" : `${refused} decisions were not accepted and return`;
    const text = [
      ...(why ? [`Server unreachable: ${why}.`] : []),
      ...(count ? [`${many}. ${kept}`] : []),
      ...(refused ? [`${comes} after this card: decided in another window, or refused.`] : []),
    ].join(" ");
    if (at("waiting-text").textContent !== text) at("waiting-text").textContent = text;
    at("waiting").classList.toggle("grave", !lasting && count > 0);
  }
}
