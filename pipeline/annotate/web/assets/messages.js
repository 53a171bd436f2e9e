// Translations of the interface. The English text is the key.

const { lang } = document.documentElement;
const catalog = JSON.parse(document.getElementById("messages")?.textContent ?? "{}");
const rules = new Intl.PluralRules(lang);

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
}

export function t(text, values = {}) {
  return fill(catalog[text] ?? text, values);
}

// Return the singular or plural form for a number, which replaces {n}.
export function tn(one, many, n, values = {}) {
  const form = rules.select(n) === "one" ? 0 : 1;
  return fill(catalog[one]?.[form] ?? [one, many][form], { n: number(n), ...values });
}

// Return the parts of a text with nodes in place of its placeholders.
export function phrase(text, values) {
  return (catalog[text] ?? text).split(/(\{\w+\})/).filter(Boolean).flatMap((part) => values[part.slice(1, -1)] ?? part);
}

export function number(value) {
  return value.toLocaleString(lang);
}

// Set up the language menu; a choice applies to all pages below an address.
export function offerLanguages(address) {
  document.getElementById("language").addEventListener("change", ({ target }) => {
    document.cookie = `lexassay-language=${target.value}; path=${address}; max-age=31536000; samesite=strict`;
    location.reload();
  });
}
