// Before anything is painted: the theme that a person chose, if they chose one.
try {
  const theme = localStorage.getItem("oxagen.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is off: the system's theme is shown.
}
