/** An earlier message said differently: the conversation branches there, and nothing is lost. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../api/client";
import type { Turn } from "../history/model";
import { Button } from "../parts/button";
import { ErrorNote } from "../parts/states";

/** What the first message of a conversation follows: nothing. */
const BEGINNING = "00000000-0000-0000-0000-000000000000";

export function EditMessage({
  turn,
  conversation,
  close,
}: {
  turn: Turn;
  conversation: string;
  close: () => void;
}) {
  const [text, setText] = useState(turn.text);
  const [key] = useState(() => crypto.randomUUID());
  const send = useMutation({
    mutationFn: () =>
      data(
        api.POST("/v1/turns", {
          body: {
            text,
            conversationId: conversation,
            parentMessageId: turn.parentId ?? BEGINNING,
            mode: turn.asked,
            onBusy: "reject",
          },
          headers: { "Idempotency-Key": `${key}-${text.length}` },
        }),
      ),
    onSuccess: close,
  });
  return (
    <form
      className="edit-message"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      {send.error && <ErrorNote error={send.error} />}
      <textarea
        aria-label="Message"
        value={text}
        rows={3}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && close()}
        autoFocus
      />
      <div className="message-row">
        <Button size="small" onClick={close}>
          Cancel
        </Button>
        <Button size="small" look="primary" type="submit" busy={send.isPending} disabled={!text.trim()}>
          Send as a new branch
        </Button>
      </div>
    </form>
  );
}
