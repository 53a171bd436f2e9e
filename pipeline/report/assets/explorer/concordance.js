/* Lines of text with the marked words one below the other. */
const Concordance = (() => {
  "use strict";
  const OUTSIDE = 90;
  const BETWEEN = 44;
  const { make } = Values;

  /** "a [[b]] c" to ["a ", "b", " c"]: marked words at odd places. */
  function pieces(text) {
    return text.split(/\[\[([\s\S]*?)\]\]/);
  }

  function shortened(text, place, last) {
    if (place === 0) return text.length > OUTSIDE ? `…${text.slice(-OUTSIDE)}` : text;
    if (place === last) return text.length > OUTSIDE ? `${text.slice(0, OUTSIDE)}…` : text;
    if (text.length <= BETWEEN) return text;
    const half = BETWEEN / 2;
    return `${text.slice(0, half)} … ${text.slice(-half)}`;
  }

  function line(parts, most) {
    const last = parts.length - 1;
    const element = make("div", { class: "explorer-line", dir: "auto", title: parts.join("") });
    parts.forEach((part, place) => {
      const context = place === 0 ? "before" : place === last ? "after" : "between";
      if (place % 2) element.append(make("mark", {}, part));
      else element.append(make("span", { class: context }, shortened(part, place, last)));
    });
    if (parts.length < most) element.lastChild.style.gridColumnEnd = "-1";
    return element;
  }

  /** A list of lines, the marked words in columns; each may have the name of its document. */
  function concordance(lines) {
    const list = make("div", { class: "explorer-lines" });
    const apart = lines.map(({ text }) => pieces(text));
    const most = Math.max(3, ...apart.map((parts) => parts.length));
    list.style.gridTemplateColumns = `minmax(6rem, 1fr) repeat(${most - 2}, max-content) minmax(6rem, 1fr)`;
    lines.forEach(({ source }, number) => {
      list.append(line(apart[number], most));
      if (source) list.append(make("div", { class: "explorer-source" }, source));
    });
    return list;
  }

  return { concordance, pieces };
})();
