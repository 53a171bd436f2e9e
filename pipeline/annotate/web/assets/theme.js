// Dark or light: as the system has it until somebody chooses.

const NAME = "lexassay:theme";

export function theme(button) {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  try {
    const chosen = localStorage.getItem(NAME);
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  } catch {
    // Forbidden: as the system has it.
  }
  button.addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(NAME, root.dataset.theme);
    } catch {
      // It holds for this page.
    }
  });
}
