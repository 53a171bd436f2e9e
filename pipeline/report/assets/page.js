"use strict";
// Dark or light: as the system has it until somebody chooses. Pages from a file may not remember.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector(".theme");
  let chosen = null;
  function show() {
    root.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
    document.dispatchEvent(new Event("themechange"));
  }
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
})();

// The contents stand beside the page where there is room, and mark where the reader is.
(() => {
  const wide = matchMedia("(min-width: 84rem)");
  const contents = document.querySelector("details.contents");
  const show = () => { contents.open = wide.matches; };
  wide.addEventListener("change", show);
  show();
  const links = [...contents.querySelectorAll("a")];
  const places = links.map((a) => document.getElementById(a.hash.slice(1)));
  let waits = false;
  // The reader is in the last section that begins above the upper fifth of the window; at the end
  // of the page in the last one.
  function mark() {
    waits = false;
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
    const begun = places.filter((each) => each.getBoundingClientRect().top <= innerHeight / 5);
    const here = places.indexOf(end ? places.at(-1) : begun.at(-1) ?? places[0]);
    links.forEach((link, index) => {
      if (index === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  function later() { if (!waits) { waits = true; requestAnimationFrame(mark); } }
  for (const type of ["scroll", "resize", "toggle"]) addEventListener(type, later, {capture: true, passive: true});
  mark();
})();

// A link into what is folded away opens it.
(() => {
  function reveal() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* it names nothing then */ }
    const place = document.getElementById(id);
    const first = place?.querySelector(":scope > details.stage") ?? place;
    for (let at = first; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place?.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
