/** Arguments to be changed: as a form that is made from the tool's schema, or as the JSON that they are. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { tool } from "../api/queries";
import { ErrorNote, Skeleton } from "../parts/states";
import "../styles/questions.css";
import type { JsonSchema } from "./schema";
import { type Flaw, JsonField, SchemaMembers } from "./schema-field";

interface Props {
  capability: string;
  /** The arguments; nothing while what is written is no JSON. */
  value: unknown;
  onChange: (value: unknown) => void;
  /** What the server did not like, with pointers into the arguments. */
  flaws?: Flaw[];
}

export function InputEditor({ capability, value, onChange, flaws = [] }: Props) {
  const { data, isPending, error } = useQuery(tool(capability));
  const group = useId();
  const [chosen, setChosen] = useState<"form" | "json">();
  const schema = data?.inputSchema as JsonSchema | undefined;
  // A tool from elsewhere may have no schema here.
  const way = error ? "json" : (chosen ?? "form");
  const general = flaws.filter((flaw) => way === "json" || !flaw.pointer);
  if (isPending) return <Skeleton lines={3} />;
  return (
    <div className="input-editor">
      <div className="segments" role="radiogroup" aria-label="How to edit">
        {(["form", "json"] as const).map((option) => (
          <label key={option}>
            <input
              type="radio"
              name={group}
              checked={way === option}
              // A form cannot show what is no JSON.
              disabled={option === "form" && (!schema || value === undefined)}
              onChange={() => setChosen(option)}
            />
            {option === "form" ? "Form" : "JSON"}
          </label>
        ))}
      </div>
      {general.map((flaw) => (
        <ErrorNote key={flaw.pointer} error={`${flaw.pointer} ${flaw.expected}`.trim()} />
      ))}
      {way === "form" && schema ? (
        <SchemaMembers
          schema={schema}
          root={schema}
          pointer=""
          value={value}
          flaws={flaws}
          onChange={onChange}
        />
      ) : (
        <div className="field">
          <JsonField label="Arguments as JSON" value={value} rows={12} onChange={onChange} />
        </div>
      )}
    </div>
  );
}
