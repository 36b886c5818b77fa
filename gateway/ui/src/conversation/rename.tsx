/** Changing a conversation's title in place, wherever the title stands. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../api/client";
import { announce } from "../parts/announcer";

export function useRename(id: string, title: string) {
  const [text, setText] = useState<string>();
  const rename = useMutation({
    mutationFn: (title: string) =>
      data(api.PATCH("/v1/conversations/{id}", { params: { path: { id } }, body: { title } })),
    onError: (error) => announce(error.message, true),
  });
  const stop = () => setText(undefined);
  return {
    // What was asked for is shown until the fact says it, or it was refused.
    shown: rename.isPending ? rename.variables : title,
    /** What is being typed; undefined while nothing is. */
    text,
    type: setText,
    begin: () => setText(title),
    stop,
    done: () => {
      const next = text?.trim();
      stop();
      if (next && next !== title) rename.mutate(next);
    },
  };
}

/** The field in the title's place. */
export function TitleField({ of, className }: { of: ReturnType<typeof useRename>; className: string }) {
  return (
    <input
      className={className}
      aria-label="Title"
      value={of.text}
      maxLength={200}
      onChange={(event) => of.type(event.target.value)}
      onBlur={of.done}
      onKeyDown={(event) => {
        if (event.key === "Enter") of.done();
        if (event.key === "Escape") of.stop();
      }}
      autoFocus
    />
  );
}
