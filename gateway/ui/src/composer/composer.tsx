/** Where a message is written. It is kept until the runtime has taken it. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { ArrowUp, ListPlus, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import type { Turn } from "../history/model";
import { useStore } from "../live/store";
import { may } from "../live/workspace";
import { announce } from "../parts/announcer";
import { Button, IconButton } from "../parts/button";
import { ErrorNote } from "../parts/states";
import { draftOf } from "./draft";
import { ModeSwitch } from "./mode-switch";
import { Options } from "./options";

interface Props {
  /** The conversation; none for a new one. */
  conversation?: string;
  /** The message that the next one follows, when it is not the newest. */
  parent?: string;
  /** The turn that runs or waits. */
  running?: Turn;
  archived?: boolean;
  sent?: (receipt: Schema["TurnReceipt"]) => void;
}

/** The longest message, in bytes. */
const LONGEST = 256 * 1024;

export function Composer({ conversation, parent, running, archived, sent }: Props) {
  const store = draftOf(conversation ?? "new");
  const draft = useStore(store);
  const { data: who } = useQuery(me);
  const box = useRef<HTMLTextAreaElement>(null);
  // A repeat after a lost answer must not become a second message.
  const key = useRef(crypto.randomUUID());

  const send = useMutation({
    mutationFn: (text: string) =>
      data(
        api.POST("/v1/turns", {
          body: {
            text,
            conversationId: conversation ?? null,
            parentMessageId: parent ?? null,
            model: draft.model.trim() || null,
            agentId: draft.agentId || null,
            mode: draft.mode,
            onBusy: running ? "enqueue" : "reject",
            ...(Object.keys(draft.budget).length > 0 && { budget: draft.budget }),
          },
          headers: { "Idempotency-Key": key.current },
        }),
      ),
    onSuccess: (receipt) => {
      key.current = crypto.randomUUID();
      store.set({ ...store.get(), text: "", mode: "act" });
      announce(running ? "Your message waits for its turn." : "Sent.");
      sent?.(receipt);
    },
  });

  const { text } = draft;
  useAutoHeight(box, text);
  const tooLong = text.length > LONGEST / 4 && new TextEncoder().encode(text).length > LONGEST;
  const canSend = text.trim() !== "" && !send.isPending && !tooLong;
  const submit = () => {
    if (canSend) send.mutate(text);
  };
  const write = (text: string) => {
    if (send.error) send.reset();
    key.current = crypto.randomUUID();
    store.set({ ...store.get(), text });
  };
  const keys = (event: KeyboardEvent) => {
    if (event.altKey && event.code === "KeyP") {
      event.preventDefault();
      store.set({ ...draft, mode: draft.mode === "plan" ? "act" : "plan" });
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  if (archived)
    return <p className="composer-closed">This conversation is archived and takes no more messages.</p>;
  if (who && !may(who, "act")) return <p className="composer-closed">Your key ({who.role}) only reads.</p>;
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {send.error && <ErrorNote error={send.error} retry={submit} />}
      {tooLong && <ErrorNote error="A message has at most 256 KiB." />}
      <div className="composer-box">
        <textarea
          ref={box}
          value={text}
          rows={1}
          aria-label="Message"
          placeholder={
            running
              ? "Write what comes next"
              : draft.mode === "plan"
                ? "Ask for a plan; nothing runs before you approve it"
                : "Ask anything"
          }
          onChange={(event) => write(event.target.value)}
          onKeyDown={keys}
          autoFocus={!matchMedia("(pointer: coarse)").matches}
        />
        <div className="composer-row">
          <ModeSwitch draft={store} />
          <Options draft={store} />
          <span className="grow" />
          {running && <StopButton turn={running} />}
          {running ? (
            <Button size="small" type="submit" disabled={!canSend} busy={send.isPending}>
              <ListPlus size={15} aria-hidden /> Queue
            </Button>
          ) : (
            <IconButton name="Send" keys="Enter" type="submit" className="send" disabled={!canSend}>
              <ArrowUp size={18} aria-hidden />
            </IconButton>
          )}
        </div>
      </div>
    </form>
  );
}

function StopButton({ turn }: { turn: Turn }) {
  const stop = useMutation({
    mutationFn: () =>
      data(api.POST("/v1/turns/{id}/cancel", { params: { path: { id: turn.id } }, body: {} })),
    onError: (error) => announce(error.message, true),
  });
  const asked = turn.cancelRequested || stop.isPending || stop.isSuccess;
  return (
    <Button size="small" onClick={() => stop.mutate()} busy={asked}>
      <Square size={13} fill="currentColor" aria-hidden /> {asked ? "Stopping…" : "Stop"}
    </Button>
  );
}

/** As high as its text, within what the style sheet allows. */
function useAutoHeight(box: React.RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text, box]);
  useEffect(() => {
    const end = box.current?.value.length ?? 0;
    box.current?.setSelectionRange(end, end);
  }, [box]);
}
