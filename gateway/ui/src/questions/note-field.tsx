/** A note to the agent, in a person's own words. */
import { useEffect, useRef } from "react";

interface Props {
  note: string;
  onChange: (note: string) => void;
  /** Ctrl+Enter. */
  onEnter: () => void;
  label?: string;
}

export function NoteField({ note, onChange, onEnter, label = "Note, which the agent reads" }: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <label className="field">
      {label}
      <textarea
        ref={box}
        value={note}
        maxLength={4000}
        rows={2}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && onEnter()}
        placeholder="Why, or what to do instead"
      />
    </label>
  );
}
