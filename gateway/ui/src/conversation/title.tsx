/** The conversation's title, which can be changed in place. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../api/client";
import { announce } from "../parts/announcer";

export function Title({ id, title, canRename }: { id: string; title: string; canRename: boolean }) {
  const [text, setText] = useState<string>();
  const rename = useMutation({
    mutationFn: (title: string) =>
      data(api.PATCH("/v1/conversations/{id}", { params: { path: { id } }, body: { title } })),
    onError: (error) => announce(error.message, true),
  });
  const done = () => {
    const next = text?.trim();
    setText(undefined);
    if (next && next !== title) rename.mutate(next);
  };
  // What was asked for is shown until the fact says it, or it was refused.
  const shown = rename.isPending ? rename.variables : title;
  if (text === undefined) {
    return (
      <h1 className="title">
        {canRename ? (
          <button type="button" title="Rename" onClick={() => setText(title)}>
            {shown || " "}
          </button>
        ) : (
          shown
        )}
      </h1>
    );
  }
  return (
    <input
      className="title"
      aria-label="Title"
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === "Enter") done();
        if (event.key === "Escape") setText(undefined);
      }}
      autoFocus
    />
  );
}
