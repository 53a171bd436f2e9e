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
  const links = new Map([...contents.querySelectorAll("a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const each of entries.filter((entry) => entry.isIntersecting)) {
      for (const [id, link] of links) {
        if (id === each.target.id) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }
  }, {rootMargin: "-10% 0px -80% 0px"});
  for (const id of links.keys()) seen.observe(document.getElementById(id));
})();

// A link into what is folded away opens it.
(() => {
  function reveal() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place?.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
