// What is typed or toggled on a card and not decided yet; it outlives a reload.

import { t } from "./messages.js";

const at = (id) => document.getElementById(id);

export class Drafts {
  #id = null;
  #unsure = false;

  constructor(store, view, keying) {
    Object.assign(this, { store, view, keying });
    for (const field of [at("note"), at("forms")]) field.addEventListener("input", () => this.#keep());
  }

  // What goes with the answer.
  get given() {
    return { unsure: this.#unsure, note: at("note").value };
  }

  get forms() {
    return at("forms").value.replace(/\s*[\r\n]+\s*/g, ", ").trim();
  }

  open(card) {
    this.#id = card.id;
    const kept = this.store.get(`d:${card.id}`);
    const forms = this.keying && card.answer && card.answer !== "-" ? card.answer : "";
    this.#fill(kept ?? { unsure: card.unsure, note: card.note, forms });
    this.note(Boolean(at("note").value), false);
    at("note-hint").textContent = card.answer === null ? t("Saved with your answer.") : t("Saved when you leave the field.");
    if (this.keying) at("forms").focus({ preventScroll: true });
  }

  // Forms that somebody keyed in, to be changed or saved.
  use(forms) {
    at("forms").value = forms;
    this.#keep();
    at("forms").focus();
  }

  // What was decided and not taken is there to be chosen again.
  set({ unsure, note, answer }) {
    this.#fill({ unsure: Boolean(unsure), note: note ?? "", forms: answer && answer !== "-" ? answer : "" });
    this.note(Boolean(note), false);
  }

  // What was typed for an answer that is taken back need not be typed again.
  keep({ unsure, note, answer }) {
    const forms = this.keying && answer && answer !== "-" ? answer : "";
    if (at("note").value || at("forms").value || !(unsure || note || forms)) return;
    this.#fill({ unsure, note, forms });
    this.note(Boolean(note), false);
    this.#keep();
  }

  forget(id) {
    this.store.remove(`d:${id}`);
  }

  toggleUnsure() {
    this.#unsure = !this.#unsure;
    this.view.unsure(this.#unsure);
    this.#keep();
    return this.#unsure;
  }

  // Open or close the note's field.
  note(open, focus = true) {
    at("note-box").hidden = !open;
    at("note-button").setAttribute("aria-expanded", String(open));
    if (open && focus) at("note").focus();
  }

  #fill({ unsure, note, forms }) {
    this.#unsure = Boolean(unsure);
    this.view.unsure(this.#unsure);
    at("note").value = note ?? "";
    at("forms").value = forms ?? "";
  }

  #keep() {
    const { unsure, note } = this.given;
    this.store.set(`d:${this.#id}`, { unsure, note, forms: at("forms").value });
  }
}
