/** The arguments of a call while the model writes them. */
import { Code } from "../parts/code";
import { Spinner } from "../parts/states";
import type { BlockOf } from "./block";

/** The text of a `code` argument in JSON that is not whole yet, else the JSON itself. */
function readable(json: string): { text: string; language: string } {
  const code = /"code"\s*:\s*"((?:[^"\\]|\\.)*)/s.exec(json)?.[1];
  if (code === undefined) return { text: json, language: "json" };
  try {
    return { text: JSON.parse(`"${code}"`) as string, language: "python" };
  } catch {
    // Cut within an escape: the next piece brings the rest.
    return { text: code, language: "" };
  }
}

export function DraftBlock({ block }: { block: BlockOf<"draft"> }) {
  const { text, language } = readable(block.draft.text);
  return (
    <section className="card tool-call" aria-label="A call is being written">
      <header>
        <Spinner />
        <h3 className="shimmer">Writing a call</h3>
      </header>
      <div className="body">
        <Code code={text} language={language} label="so far" />
      </div>
    </section>
  );
}
