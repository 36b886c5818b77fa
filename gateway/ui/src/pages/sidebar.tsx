/** Conversations, the inbox, and who is signed in. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Inbox, LogOut, Search, Settings, SquarePen } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { me } from "../api/queries";
import { session } from "../api/session";
import { useStore } from "../live/store";
import { connection, useInbox } from "../live/workspace";
import { IconButton } from "../parts/button";
import { ConnectionState } from "../parts/connection";
import { ConversationList } from "./conversation-list";

export function Sidebar() {
  const [search, setSearch] = useState("");
  const { data: who } = useQuery(me);
  const { count } = useInbox();
  const state = useStore(connection);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || !box.current?.offsetParent) return;
      event.preventDefault();
      box.current.focus();
    };
    addEventListener("keydown", find);
    return () => removeEventListener("keydown", find);
  }, []);
  return (
    <nav className="sidebar" aria-label="Main">
      <div className="brand">
        <img src="/favicon.svg" alt="" width={24} height={24} />
        <strong>Oxagen</strong>
        <span className="grow" />
        <ConnectionState connection={state} />
      </div>
      <Link to="/" className="nav-item new" activeOptions={{ exact: true }}>
        <SquarePen size={17} aria-hidden /> New conversation
      </Link>
      <Link to="/approvals" className="nav-item">
        <Inbox size={17} aria-hidden /> Approvals
        {count > 0 && (
          <span className="count">
            {count}
            <span className="unseen"> open</span>
          </span>
        )}
      </Link>
      <label className="search">
        <Search size={15} aria-hidden />
        <input
          ref={box}
          type="search"
          placeholder="Search"
          aria-label="Search conversations"
          aria-keyshortcuts="Control+K"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && setSearch("")}
        />
        <kbd>Ctrl K</kbd>
      </label>
      <ConversationList search={search} />
      <div className="side-foot">
        <Link to="/settings" className="nav-item">
          <Settings size={17} aria-hidden /> Settings
        </Link>
        <span className="grow muted small">{who?.role}</span>
        <IconButton name="Sign out" onClick={() => session.signOut()}>
          <LogOut size={16} aria-hidden />
        </IconButton>
      </div>
    </nav>
  );
}
