"use strict";
// The theme follows the system setting until the user chooses one. It is not stored, since pages opened
// from a file may have no storage.
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector(".theme");
  let theme = null;
  function applyTheme() {
    root.dataset.theme = theme ?? (prefersDark.matches ? "dark" : "light");
    document.dispatchEvent(new Event("themechange"));
  }
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = root.dataset.theme === "dark" ? "light" : "dark";
    applyTheme();
  });
  prefersDark.addEventListener("change", applyTheme);
  applyTheme();
})();

// The contents are beside the page if it is wide enough, and mark the current section.
(() => {
  const wide = matchMedia("(min-width: 84rem)");
  const contents = document.querySelector("details.contents");
  const openIfWide = () => { contents.open = wide.matches; };
  wide.addEventListener("change", openIfWide);
  openIfWide();
  const links = [...contents.querySelectorAll("a")];
  const sections = links.map((a) => document.getElementById(a.hash.slice(1)));
  let isScheduled = false;
  // The current section is the last one that begins in or above the upper fifth of the viewport; at the
  // end of the page, the last one.
  function markCurrent() {
    isScheduled = false;
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
    const passed = sections.filter((each) => each.getBoundingClientRect().top <= innerHeight / 5);
    const current = sections.indexOf(isAtEnd ? sections.at(-1) : passed.at(-1) ?? sections[0]);
    links.forEach((link, index) => {
      if (index === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  function scheduleMark() { if (!isScheduled) { isScheduled = true; requestAnimationFrame(markCurrent); } }
  for (const type of ["scroll", "resize", "toggle"]) addEventListener(type, scheduleMark, {capture: true, passive: true});
  markCurrent();
})();

// A link to an element in a closed section opens the section.
(() => {
  function reveal() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* not a valid encoding: no such element */ }
    const target = document.getElementById(id);
    const start = target?.querySelector(":scope > details.stage") ?? target;
    for (let node = start; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
