/** What is around every page: the sidebar, and on a narrow screen the button that opens it. */
import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { PanelLeft } from "lucide-react";
import { createContext, useContext, useEffect, useState } from "react";
import { me } from "../api/queries";
import { followWorkspace, useInbox } from "../live/workspace";
import { IconButton } from "../parts/button";
import { Sheet } from "../parts/sheet";
import { ErrorNote } from "../parts/states";
import { waiting } from "../parts/title";
import { Sidebar } from "./sidebar";

const Menu = createContext<() => void>(() => {});

/** Opens the sidebar where it has no room of its own. */
export function MenuButton() {
  return (
    <IconButton name="Menu" className="menu-button" onClick={useContext(Menu)}>
      <PanelLeft size={19} aria-hidden />
    </IconButton>
  );
}

export function Shell() {
  const { data: who, error, refetch } = useQuery(me);
  const { count } = useInbox();
  const [open, setOpen] = useState(false);
  const address = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => (who ? followWorkspace(who.workspaceId) : undefined), [who]);
  useEffect(() => waiting.set(count), [count]);
  useEffect(() => setOpen(false), [address]);
  return (
    <Menu value={() => setOpen(true)}>
      <div className="shell">
        <a className="skip" href="#page">
          Skip to the page
        </a>
        <aside className="side">
          <Sidebar />
        </aside>
        <Sheet open={open} onOpenChange={setOpen} title="Conversations" side="left" hideTitle>
          <Sidebar />
        </Sheet>
        <main id="page" tabIndex={-1}>
          {error && <ErrorNote error={error} retry={() => void refetch()} />}
          <Outlet />
        </main>
      </div>
    </Menu>
  );
}
