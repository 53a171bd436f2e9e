// Why a card is open again, in a sentence.

import { isolated } from "./text.js";

export function troubled({ kind, answer, trouble }, card, keying) {
  const said = (text) => isolated(text === null ? "no answer" : keying && text === "-" ? "not found" : text, "bdi", 200);
  const chose = kind === "label" ? ["You chose ", said(answer), " here. "] : [];
  if (trouble.kind === "refused") return ["Not saved: ", isolated(trouble.why), ". ", ...chose, "Choose again, or leave it unchanged."];
  return ["Decided in another window: ", said(card.answer), ". ", ...chose, "Choose again to replace it, or leave it unchanged."];
}
