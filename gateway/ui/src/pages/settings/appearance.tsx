import { useStore } from "../../live/store";
import { chooseTheme, type Theme, theme } from "../../parts/theme";

const THEMES: { value: Theme; label: string }[] = [
  { value: "system", label: "As the system has it" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function AppearanceSection() {
  const chosen = useStore(theme);
  return (
    <fieldset className="choices">
      <legend>Theme</legend>
      {THEMES.map(({ value, label }) => (
        <label className="check" key={value}>
          <input type="radio" name="theme" checked={chosen === value} onChange={() => chooseTheme(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
