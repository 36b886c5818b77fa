/** Settings, section by section. A new section is a file under `settings` and a line here. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, useEffect, useRef } from "react";
import { me } from "../api/queries";
import { may } from "../live/workspace";
import { useTitle } from "../parts/title";
import "../styles/settings.css";
import { AgentsSection } from "./settings/agents";
import { AppearanceSection } from "./settings/appearance";
import { KeysSection } from "./settings/keys";
import { PolicySection } from "./settings/policy";
import { StandingSection } from "./settings/standing";
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
  { id: "policy", title: "Policy", View: PolicySection },
  { id: "standing", title: "Standing approvals", View: StandingSection },
  { id: "agents", title: "Agents", View: AgentsSection },
  { id: "keys", title: "Keys", needs: "administer", View: KeysSection },
];

export function SettingsPage() {
  const { data: who } = useQuery(me);
  const { section } = useParams({ strict: false });
  const sections = SECTIONS.filter(({ needs }) => !needs || may(who, needs));
  const { id, title, View } = sections.find(({ id }) => id === section) ?? SECTIONS[0];
  useTitle(`${title} · Settings`);
  const tabs = useRef<HTMLElement>(null);
  // Where there is little room, the tab that is shown may be out of sight.
  useEffect(() => {
    tabs.current?.querySelector(`#tab-${id}`)?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [id]);
  return (
    <>
      <header className="page-head">
        <MenuButton />
        <h1 className="title">Settings</h1>
      </header>
      <div className="page-body settings">
        <nav className="tabs" aria-label="Settings" ref={tabs}>
          {sections.map((section) => (
            <Link
              key={section.id}
              id={`tab-${section.id}`}
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
