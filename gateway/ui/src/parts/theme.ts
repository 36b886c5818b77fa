/** Light, dark, or as the system has it. `public/theme.js` applies the choice before anything is painted. */
import { Store } from "../live/store";

export type Theme = "system" | "light" | "dark";

const NAME = "oxagen.theme";

export const theme = new Store<Theme>(
  (document.documentElement.dataset.theme as Theme | undefined) ?? "system",
);

export function chooseTheme(choice: Theme) {
  if (choice === "system") {
    localStorage.removeItem(NAME);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(NAME, choice);
    document.documentElement.dataset.theme = choice;
  }
  theme.set(choice);
}
