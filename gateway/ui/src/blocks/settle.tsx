/** A person says what became of a call of which nobody knows. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import { usePast } from "../conversation/past";
import { may } from "../live/workspace";
import { Button } from "../parts/button";
import { ErrorNote } from "../parts/states";
import { NoteField } from "../questions/note-field";

type Outcome = Schema["SettledAs"];

const CHOICES: { outcome: Outcome; name: string; about: string; button: string }[] = [
  {
    outcome: "done",
    name: "It happened",
    about: "The agent is told so, with the result that you write down.",
    button: "Settle as done",
  },
  {
    outcome: "not_done",
    name: "It did not happen",
    about: "The agent is told so, and may ask for it again.",
    button: "Settle as not done",
  },
  {
    outcome: "run_again",
    name: "Run it again",
    about: "It starts once more with the same arguments. If it did happen, it happens twice.",
    button: "Run it again",
  },
];

export function Settle({ callId }: { callId: string }) {
  const { data: who } = useQuery(me);
  const past = usePast();
  const [chosen, choose] = useState<Outcome>();
  const [output, setOutput] = useState("");
  const [note, setNote] = useState<string>();
  const name = useId();
  const settle = useMutation({
    mutationFn: (outcome: Outcome) =>
      data(
        api.POST("/v1/tool-calls/{id}/settle", {
          params: { path: { id: callId } },
          body: {
            outcome,
            note: note?.trim() || null,
            ...(outcome === "done" && { output: resultOf(output) }),
          },
        }),
      ),
  });
  if (past || !who) return null;
  if (!may(who, "decide"))
    return (
      <p className="muted">Your key ({who.role}) may not settle it. A member, an admin or an owner can.</p>
    );
  const choice = CHOICES.find(({ outcome }) => outcome === chosen);
  const given = settle.isPending || settle.isSuccess;
  const submit = () => chosen && !given && settle.mutate(chosen);
  return (
    <form
      className="settle"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <fieldset>
        <legend>What became of it?</legend>
        {CHOICES.map(({ outcome, name: label, about }) => (
          <label className="check" key={outcome}>
            <input
              type="radio"
              name={name}
              checked={chosen === outcome}
              onChange={() => choose(outcome)}
              disabled={given}
            />
            <span>
              {label}
              <span className="muted small">{about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen === "done" && (
        <label className="field">
          Its result, as JSON or in words
          <textarea
            className="mono"
            rows={3}
            value={output}
            spellCheck={false}
            onChange={(event) => setOutput(event.target.value)}
          />
        </label>
      )}
      {note !== undefined && <NoteField note={note} onChange={setNote} onEnter={submit} />}
      {settle.error && <ErrorNote error={settle.error} />}
      {choice && (
        <p className="row-head">
          <Button
            look={choice.outcome === "run_again" ? "danger" : "primary"}
            size="small"
            type="submit"
            busy={given}
          >
            {choice.button}
          </Button>
          {note === undefined && (
            <Button look="quiet" size="small" onClick={() => setNote("")}>
              Add a note
            </Button>
          )}
        </p>
      )}
    </form>
  );
}

/** JSON as the value that it is, anything else as the text that it is. */
function resultOf(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
