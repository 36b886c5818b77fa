/** Settings, section by section. A new section is a file under `settings` and a line here. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { me } from "../api/queries";
import { may } from "../live/workspace";
import { useTitle } from "../parts/title";
import "../styles/settings.css";
import { AgentsSection } from "./settings/agents";
import { AppearanceSection } from "./settings/appearance";
import { KeysSection } from "./settings/keys";
import { ToolsSection } from "./settings/tools";
import { MenuButton } from "./shell";

interface Section {
  id: string;
  title: string;
  /** What a key must be allowed for the section to be shown. */
  needs?: "administer";
  View: ComponentType;
}

const SECTIONS: [Section, ...Section[]] = [
  { id: "appearance", title: "Appearance", View: AppearanceSection },
  { id: "tools", title: "Tools", View: ToolsSection },
  { id: "agents", title: "Agents", View: AgentsSection },
  { id: "keys", title: "Keys", needs: "administer", View: KeysSection },
];

export function SettingsPage() {
  const { data: who } = useQuery(me);
  const { section } = useParams({ strict: false });
  const sections = SECTIONS.filter(({ needs }) => !needs || may(who, needs));
  const { id, title, View } = sections.find(({ id }) => id === section) ?? SECTIONS[0];
  useTitle(`${title} · Settings`);
  return (
    <>
      <header className="page-head">
        <MenuButton />
        <h1 className="title">Settings</h1>
      </header>
      <div className="page-body settings">
        <nav className="tabs" aria-label="Settings">
          {sections.map((section) => (
            <Link
              key={section.id}
              to="/settings/$section"
              params={{ section: section.id }}
              aria-current={section.id === id ? "page" : undefined}
            >
              {section.title}
            </Link>
          ))}
        </nav>
        <section aria-label={title}>
          <View />
        </section>
      </div>
    </>
  );
}
