/** What waits for a person: the frame around it, which takes single keys while it has the focus. */
import { type KeyboardEvent, type ReactNode, useId } from "react";
import "../styles/questions.css";

/** Finds the questions that a shortcut goes to. */
export const QUESTION = "question";

interface Props {
  title: ReactNode;
  facts?: ReactNode;
  /** A box to choose it with. */
  before?: ReactNode;
  /** What each key does; none while nothing can be answered. */
  keys?: Record<string, () => void>;
  /** Whether it waits; else it is only shown. */
  open: boolean;
  className: string;
  children: ReactNode;
}

export function QuestionCard({ title, facts, before, keys, open, className, children }: Props) {
  const heading = useId();
  const press = (event: KeyboardEvent) => {
    if (isWritten(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys?.[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div
      className={`card ${className} ${open ? QUESTION : ""}`}
      role="group"
      aria-labelledby={heading}
      tabIndex={open ? 0 : undefined}
      onKeyDown={press}
    >
      <header>
        {before}
        <h3 id={heading}>{title}</h3>
        <span className="facts">{facts}</span>
      </header>
      <div className="body">{children}</div>
    </div>
  );
}

/** Whether keys are letters there. */
function isWritten(target: EventTarget): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" && target.type !== "radio";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Alt+A goes to the question that waits; pressed again, to the next one. */
export function goToQuestion(event: globalThis.KeyboardEvent) {
  if (!event.altKey || event.code !== "KeyA") return;
  const all = [...document.querySelectorAll<HTMLElement>(`.${QUESTION}`)];
  const here = all.findIndex((question) => question.contains(document.activeElement));
  const next = all[(here + 1) % all.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
