// The quiet page: all is done, or only what was set aside is left, or nothing can be fetched.

import { element } from "./text.js";
import { list } from "./lists.js";

export function rest(session, away) {
  const { supply, view } = session;
  const aside = supply.aside;
  const again = element("button", { type: "button", class: "main" }, "Try again");
  again.addEventListener("click", () => session.queue.send().then(() => session.next()));
  if (away) {
    view.rest("No more cards while the server is unreachable", element("p", {}, `The server: ${away}.`), again);
  } else if (aside.length) {
    const many = aside.length === 1 ? "1 card is" : `${aside.length} cards are`;
    view.rest(`All done except the cards you set aside`, element("p", {}, `${many} left.`), through(session), list(aside, session));
  } else if (session.queue.waiting.length) {
    view.rest("All decided", element("p", {}, "Leave this page open until everything is saved."), again);
  } else {
    view.rest("All done", element("p", {}, "Thank you. Every decision is saved. You can still view and change your answers with Recent and Search above."));
  }
}

function through(session) {
  const button = element("button", { type: "button", class: "main" }, "Show them");
  button.addEventListener("click", () => {
    session.supply.passed = new Set();
    session.next();
  });
  return element("p", {}, button);
}
