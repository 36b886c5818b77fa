/** `agent.code.execute`: code, and what it printed. */
import { Badge } from "../parts/badge";
import { Code } from "../parts/code";
import { lasting } from "../parts/time";
import { Value } from "../parts/value";
import { fields } from "./fields";
import type { ToolView } from "./tool-view";

const LANGUAGES: Record<string, { name: string; colours: string }> = {
  python: { name: "Python", colours: "python" },
  node: { name: "Node.js", colours: "javascript" },
  shell: { name: "shell", colours: "bash" },
};

function language(input: unknown) {
  const name = String(fields(input).language ?? "");
  return LANGUAGES[name] ?? { name: name || "code", colours: "" };
}

function Arguments({ input }: { input: unknown }) {
  const { code, language: _, files, ...rest } = fields(input);
  // Arguments that are not of this form are shown as they are: they are what a person judges.
  if (typeof code !== "string") return <Value value={input} label="arguments" />;
  const { name, colours } = language(input);
  return (
    <>
      <Code code={code} language={colours} label={name} />
      {Array.isArray(files) &&
        files.map((file) => {
          const { path, content } = fields(file);
          return <Code key={String(path)} code={String(content)} label={String(path)} />;
        })}
      {Object.keys(rest).length > 0 && (
        <dl className="fields">
          {Object.entries(rest).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Result({ output }: { output: unknown }) {
  const { stdout, stderr, exitCode, durationMs, truncated, timedOut, oomKilled } = fields(output);
  if (typeof stdout !== "string") return <Value value={output} label="result" />;
  const nothing = !stdout && !stderr;
  return (
    <>
      <p className="facts">
        {exitCode !== undefined && (
          <Badge tone={exitCode === 0 ? "good" : "bad"}>
            {exitCode === null ? "killed" : `exit code ${exitCode}`}
          </Badge>
        )}
        {typeof durationMs === "number" && <Badge>ran {lasting(durationMs)}</Badge>}
        {timedOut === true && <Badge tone="bad">ended by the time limit</Badge>}
        {oomKilled === true && <Badge tone="bad">ended by the memory limit</Badge>}
        {truncated === true && <Badge tone="warn">output was cut</Badge>}
      </p>
      {stdout && <Code code={stdout} label="output" />}
      {typeof stderr === "string" && stderr && <Code code={stderr} label="errors" />}
      {nothing && <p className="muted">It printed nothing.</p>}
    </>
  );
}

function gist(output: unknown): string | undefined {
  const { stdout, stderr, exitCode, timedOut, oomKilled } = fields(output);
  if (timedOut === true) return "It was ended by its time limit.";
  if (oomKilled === true) return "It was ended by its memory limit.";
  const text = exitCode === 0 ? stdout : stderr || stdout;
  const last = typeof text === "string" ? text.trimEnd().split("\n").at(-1) : undefined;
  return last || (exitCode === 0 ? "It printed nothing." : `It ended with exit code ${String(exitCode)}.`);
}

export const codeExecute: ToolView = {
  title: (input) => `Run ${language(input).name}`,
  gist,
  Arguments,
  Result,
};
