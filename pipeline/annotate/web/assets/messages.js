// Texts of the interface in the language of the page; the English text is the key of its translation.

const { lang } = document.documentElement;
const catalog = JSON.parse(document.getElementById("messages")?.textContent ?? "{}");
const rules = new Intl.PluralRules(lang);

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export function t(text, values = {}) {
  return fill(catalog[text] ?? text, values);
}

// One of two forms, by a number, which stands in the text as {n}.
export function tn(one, many, n, values = {}) {
  const form = rules.select(n) === "one" ? 0 : 1;
  return fill(catalog[one]?.[form] ?? [one, many][form], { n: number(n), ...values });
}

// The parts of a text whose values are nodes.
export function phrase(text, values) {
  return (catalog[text] ?? text).split(/(\{\w+\})/).filter(Boolean).flatMap((part) => values[part.slice(1, -1)] ?? part);
}

export function number(value) {
  return value.toLocaleString(lang);
}

// The menu of languages: a choice holds for all pages below an address.
export function offerLanguages(address) {
  document.getElementById("language").addEventListener("change", ({ target }) => {
    document.cookie = `lexassay-language=${target.value}; path=${address}; max-age=31536000; samesite=strict`;
    location.reload();
  });
}
