/** Tells a screen reader what happens in the conversation, once, in few words. */
import { useEffect, useRef } from "react";
import { isEnded, type Turn } from "../history/model";
import { announce } from "../parts/announcer";
import { toolView } from "../tools/tool-view";

/** What is read of an answer; the rest is in the page. */
const READ = 600;

export function useAnnouncements(turn: Turn | undefined, live: boolean) {
  const before = useRef<{ turn?: Turn; live: boolean }>({ live: false });
  useEffect(() => {
    const was = before.current;
    before.current = { turn, live };
    // What was there when the page came is read by going through it.
    if (!turn || !live || !was.live) return;
    const same = was.turn?.id === turn.id ? was.turn : undefined;
    for (const approval of Object.values(turn.approvals)) {
      if (approval.status === "open" && !same?.approvals[approval.id]) {
        const what = toolView(approval.capability).title(approval.input);
        announce(`The agent asks for approval: ${what}. Press Alt and A to go there.`, true);
      }
    }
    for (const plan of Object.values(turn.plans)) {
      if (plan.status === "proposed" && same?.plans[plan.id]?.version !== plan.version)
        announce(`The agent puts a plan to you: ${plan.title}. Press Alt and A to go there.`, true);
    }
    for (const call of Object.values(turn.calls)) {
      if (call.status === "in_doubt" && same?.calls[call.id]?.status !== "in_doubt")
        announce(`It is unknown what became of: ${toolView(call.capability).title(call.input)}.`, true);
    }
    if (turn.status === same?.status) return;
    if (turn.status === "running" && !same) announce("The agent is working.");
    if (isEnded(turn)) announce(turn.error ? turn.error.message : answer(turn));
  }, [turn, live]);
}

function answer(turn: Turn): string {
  const text = turn.steps.at(-1)?.text ?? "";
  return `The agent answered: ${text.slice(0, READ)}`;
}
