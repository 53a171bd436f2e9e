// What the keys do, and when a label is given.

import { element, isolated, put } from "./text.js";
import { spelt } from "./keys.js";

function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((each) => each.trim()).map((each) => put(element("p", { dir: "auto", class: "text lines" }), each));
}

const keyed = (keys) => keys.flatMap((key, place) => [...(place ? [" or "] : []), element("kbd", {}, spelt(key))]);

export function help(work, { acts, commands }) {
  const row = (keys, ...what) => element("tr", {}, element("th", { scope: "row" }, ...keyed(keys)), element("td", {}, ...what));
  const labels = work.labels.map(({ label }) => row([...acts].filter(([, act]) => act.label === label).map(([key]) => key), "Label, save, continue: ", isolated(label)));
  const others = commands.map(({ title, keys }) => row(keys, title));
  const keying = work.kind === "keying" ? [row(["Enter"], "In the field: save and continue")] : [];
  const table = element("table", {}, element("caption", {}, "Keys"), element("tbody", {}, ...keying, ...labels, ...others, row(["Escape"], "Close, or leave a field")));
  const body = document.querySelector("#help-box .body");
  body.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Keys" }, table),
    element("p", {}, "Keys are inactive while you type in a field. Each decision is saved before the next card appears; while the server is unreachable, this browser keeps decisions and sends them later."));
}

export function guidelines(work) {
  const body = document.querySelector("#guidelines-box .body");
  const counted = (label) => Object.entries(work.categories ?? {}).filter(([, labels]) => labels.includes?.(label)).map(([name]) => name);
  const said = work.labels.map(({ label, guideline }) => {
    const names = counted(label);
    const counts = names.flatMap((name, place) => [place ? ", " : "Counts as ", isolated(name)]);
    return [element("dt", {}, isolated(label)), element("dd", {}, ...(guideline ? paragraphs(guideline) : []),
      ...(names.length ? [element("p", { class: "hint" }, ...counts)] : []),
      ...(guideline || names.length ? [] : ["No guideline is given."]))];
  });
  body.replaceChildren(...paragraphs(work.instructions ?? ""), element("dl", {}, ...said.flat()));
  if (!work.labels.length && !work.instructions) body.append(element("p", {}, "No guidelines are given."));
}
