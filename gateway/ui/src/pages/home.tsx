/** A new conversation, and what can be asked. */
import { useNavigate } from "@tanstack/react-router";
import { Binary, Hand, ListChecks, Wrench } from "lucide-react";
import type { Schema } from "../api/client";
import { Composer } from "../composer/composer";
import { draftOf } from "../composer/draft";
import { useTitle } from "../parts/title";
import { MenuButton } from "./shell";

const EXAMPLES: { Icon: typeof Binary; title: string; text: string; mode?: Schema["Mode"] }[] = [
  {
    Icon: Binary,
    title: "Run code, with your approval",
    text: "Compute the 30th Fibonacci number with Python, printing progress as you go.",
  },
  {
    Icon: ListChecks,
    title: "See a plan first, and change it",
    text: "Plan first: compute the 20th and the 30th Fibonacci number, and compare them.",
    mode: "plan",
  },
  { Icon: Wrench, title: "Ask what it can do", text: "Which tools do you have?" },
  {
    Icon: Hand,
    title: "Say no, and see it obey",
    text: "Compute a Fibonacci number in the sandbox. I may well refuse.",
  },
];

export function Home() {
  const navigate = useNavigate();
  const draft = draftOf("new");
  useTitle("New conversation");
  const ask = (text: string, mode: Schema["Mode"] = "act") => {
    draft.set({ ...draft.get(), text, mode });
    document.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus();
  };
  return (
    <>
      <header className="page-head">
        <MenuButton />
      </header>
      <div className="home">
        <h1>What would you like done?</h1>
        <p className="muted">
          The agent asks before it runs code. Everything that it does is kept as a fact, and can be looked at
          later as it was.
        </p>
        <Composer
          sent={({ conversationId }) => void navigate({ to: "/c/$id", params: { id: conversationId } })}
        />
        <ul className="examples">
          {EXAMPLES.map(({ Icon, title, text, mode }) => (
            <li key={title}>
              <button type="button" onClick={() => ask(text, mode)}>
                <Icon size={18} aria-hidden />
                <strong>{title}</strong>
                <span>{text}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
