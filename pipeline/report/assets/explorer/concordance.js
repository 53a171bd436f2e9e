/* Concordance lines, with the marked words aligned in columns. */
const Concordance = (() => {
  "use strict";
  const CONTEXT_LENGTH = 90;
  const MIDDLE_LENGTH = 44;
  const { make } = Values;

  /** Splits "a [[b]] c" into ["a ", "b", " c"]: marked words have odd indices. */
  function splitMarked(text) {
    return text.split(/\[\[([\s\S]*?)\]\]/);
  }

  function shorten(text, index, last) {
    if (index === 0) return text.length > CONTEXT_LENGTH ? `…${text.slice(-CONTEXT_LENGTH)}` : text;
    if (index === last) return text.length > CONTEXT_LENGTH ? `${text.slice(0, CONTEXT_LENGTH)}…` : text;
    if (text.length <= MIDDLE_LENGTH) return text;
    const half = MIDDLE_LENGTH / 2;
    return `${text.slice(0, half)} … ${text.slice(-half)}`;
  }

  function lineElement(parts, columnCount) {
    const last = parts.length - 1;
    const element = make("div", { class: "explorer-line", dir: "auto", title: parts.join("") });
    parts.forEach((part, index) => {
      const context = index === 0 ? "before" : index === last ? "after" : "between";
      if (index % 2) element.append(make("mark", {}, part));
      else element.append(make("span", { class: context }, shorten(part, index, last)));
    });
    if (parts.length < columnCount) element.lastChild.style.gridColumnEnd = "-1";
    return element;
  }

  /** Returns a list of lines with aligned marked words; a line may have a source, such as its document. */
  function concordance(lines) {
    const list = make("div", { class: "explorer-lines" });
    const partsOfLines = lines.map(({ text }) => splitMarked(text));
    const columnCount = Math.max(3, ...partsOfLines.map((parts) => parts.length));
    list.style.gridTemplateColumns = `minmax(6rem, 1fr) repeat(${columnCount - 2}, max-content) minmax(6rem, 1fr)`;
    lines.forEach(({ source }, index) => {
      list.append(lineElement(partsOfLines[index], columnCount));
      if (source) list.append(make("div", { class: "explorer-source" }, source));
    });
    return list;
  }

  return { concordance, splitMarked };
})();
