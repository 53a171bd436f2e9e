// Input on a card before it is decided: stored in the browser, so that it survives a reload.

import { t } from "./messages.js";

const at = (id) => document.getElementById(id);

export class Drafts {
  #id = null;
  #unsure = false;

  constructor(store, view, keying) {
    Object.assign(this, { store, view, keying });
    for (const field of [at("note"), at("forms")]) {
      field.addEventListener("input", () => {
        view.say("");
        this.#save();
      });
    }
  }

  // The values that are saved together with the answer.
  get values() {
    return { unsure: this.#unsure, note: at("note").value };
  }

  get forms() {
    return at("forms").value.replace(/\s*[\r\n]+\s*/g, ", ").trim();
  }

  open(card) {
    this.#id = card.id;
    const draft = this.store.get(`d:${card.id}`);
    const forms = this.keying && card.answer && card.answer !== "-" ? card.answer : "";
    this.#fill(draft ?? { unsure: card.unsure, note: card.note, forms });
    this.toggleNote(Boolean(at("note").value), false);
    this.showHint(card);
    if (this.keying) this.focusCard();
  }

  // Leave the note field, which saves an edited note of a card that already has an answer.
  leaveNote() {
    if (document.activeElement === at("note")) this.focusCard();
  }

  // Focus where the user continues.
  focusCard() {
    at(this.keying ? "forms" : "card").focus({ preventScroll: true });
  }

  // Without a card, input belongs to none.
  close() {
    this.#id = null;
    at("note").blur();
    at("forms").blur();
  }

  // Say when the note is saved.
  showHint({ answer, note }) {
    const isSaved = at("note").value === note;
    at("note-hint").textContent = answer === null ? t("Saved with your answer.")
      : isSaved ? t("Saved when you leave the field.") : t("Not saved yet: choose “Done” to save the note.");
  }

  // Copy the forms that an annotator keyed in into the field, to be edited or saved.
  useForms(forms) {
    at("forms").value = forms;
    this.#save();
    at("forms").focus();
  }

  // Fill in a decision that the server did not accept, so that it can be chosen again.
  fill({ unsure, note, answer }) {
    this.#fill({ unsure: Boolean(unsure), note: note ?? "", forms: answer && answer !== "-" ? answer : "" });
    this.toggleNote(Boolean(note), false);
    at("note-hint").textContent = t("Saved with your answer.");
  }

  // Fill in the values of an undone answer, unless something has been typed already.
  restore({ unsure, note, answer }) {
    const forms = this.keying && answer && answer !== "-" ? answer : "";
    if (at("note").value || at("forms").value || !(unsure || note || forms)) return;
    this.#fill({ unsure, note, forms });
    this.toggleNote(Boolean(note), false);
    this.#save();
  }

  discard(id) {
    this.store.remove(`d:${id}`);
  }

  toggleUnsure() {
    this.#unsure = !this.#unsure;
    this.view.showUnsure(this.#unsure);
    this.#save();
    return this.#unsure;
  }

  // Open or close the note field.
  toggleNote(open, focus = true) {
    at("note-box").hidden = !open;
    at("note-button").setAttribute("aria-expanded", String(open));
    if (open && focus) at("note").focus();
  }

  #fill({ unsure, note, forms }) {
    this.#unsure = Boolean(unsure);
    this.view.showUnsure(this.#unsure);
    at("note").value = note ?? "";
    at("forms").value = forms ?? "";
  }

  #save() {
    if (this.#id === null) return;
    const { unsure, note } = this.values;
    this.store.set(`d:${this.#id}`, { unsure, note, forms: at("forms").value });
  }
}
