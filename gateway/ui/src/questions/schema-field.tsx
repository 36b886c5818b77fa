/** One value of a form that is made from a JSON schema. */
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { fields } from "../tools/fields";
import { empty, type JsonSchema, resolved, shapeOf } from "./schema";

export interface Flaw {
  pointer: string;
  expected: string;
}

interface Props {
  name: string;
  /** Where the value is, for what the server says of it. */
  pointer: string;
  schema: JsonSchema;
  root: JsonSchema;
  value: unknown;
  required: boolean;
  flaws: Flaw[];
  onChange: (value: unknown) => void;
}

export function SchemaField(props: Props) {
  const { name, pointer, root, value, required, flaws, onChange } = props;
  const schema = resolved(props.schema, root);
  const shape = shapeOf(schema);
  const id = useId();
  const about = `${id}-about`;
  const own = flaws.filter((flaw) => flaw.pointer === pointer);
  const hint = schema.default === undefined ? undefined : String(schema.default);
  const described = { "aria-describedby": about, "aria-invalid": own.length > 0 || undefined };

  if (shape.kind === "members") {
    return (
      <fieldset className="members">
        <legend>{name}</legend>
        <SchemaMembers {...props} schema={schema} />
      </fieldset>
    );
  }
  if (shape.kind === "list" && (value === undefined || Array.isArray(value))) {
    return <SchemaList {...props} of={shape.of} items={value ?? []} />;
  }
  if (shape.kind === "switch") {
    return (
      <div className="field">
        <label className="check">
          <input
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
            {...described}
          />
          {name}
        </label>
        <About id={about} text={schema.description} flaws={own} />
      </div>
    );
  }
  // What is left empty and may be, is left out.
  const text = (text: string) => onChange(text === "" && !required ? undefined : text);
  const isText = value === undefined || value === null || typeof value === "string";
  const control = { id, ...described };
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      {shape.kind === "choice" && isText ? (
        <select value={value ?? ""} onChange={(event) => text(event.target.value)} {...control}>
          {!required && <option value="">{hint ? `${hint}, as usual` : "not given"}</option>}
          {shape.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : shape.kind === "number" && (value === undefined || typeof value === "number") ? (
        <input
          type="number"
          value={value ?? ""}
          placeholder={hint}
          min={shape.least}
          max={shape.most}
          step={shape.whole ? 1 : "any"}
          onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
          {...control}
        />
      ) : shape.kind === "text" && isText ? (
        <TextField text={value ?? ""} long={shape.long} hint={hint} onChange={text} control={control} />
      ) : (
        <JsonField value={value} onChange={onChange} rows={3} control={control} />
      )}
      <About id={about} text={schema.description} flaws={own} />
    </div>
  );
}

interface TextProps {
  text: string;
  long: boolean;
  hint?: string;
  onChange: (text: string) => void;
  control: object;
}

function TextField({ text, long, hint, onChange, control }: TextProps) {
  if (!long && !text.includes("\n"))
    return (
      <input
        value={text}
        placeholder={hint}
        onChange={(event) => onChange(event.target.value)}
        {...control}
      />
    );
  return (
    <textarea
      className="mono"
      rows={Math.min(14, Math.max(3, text.split("\n").length))}
      value={text}
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
      {...control}
    />
  );
}

/** All members of an object. */
export function SchemaMembers({
  schema,
  root,
  pointer,
  value,
  flaws,
  onChange,
}: Omit<Props, "name" | "required">) {
  const shape = shapeOf(resolved(schema, root));
  const known = fields(value);
  // What was given when the form was opened stays in its place, whatever is typed.
  const [given] = useState(() => new Set(Object.keys(known)));
  if (shape.kind !== "members") return null;
  const { properties, required } = shape;
  const isFirst = (name: string) => required.includes(name) || given.has(name);
  const place = (name: string) => (required.includes(name) ? required.indexOf(name) : required.length);
  const names = Object.keys(properties).sort((a, b) => place(a) - place(b));
  const others = names.filter((name) => !isFirst(name));
  const field = (name: string) => (
    <SchemaField
      key={name}
      name={name}
      pointer={`${pointer}/${name}`}
      schema={properties[name] ?? {}}
      root={root}
      value={known[name]}
      required={required.includes(name)}
      flaws={flaws}
      onChange={(value) => {
        const { [name]: _, ...rest } = known;
        // In its place, where it was.
        onChange(value === undefined ? rest : { ...known, [name]: value });
      }}
    />
  );
  return (
    <>
      {names.filter(isFirst).map(field)}
      {others.length > 0 && (
        <details className="others">
          <summary>Other arguments</summary>
          {others.map(field)}
        </details>
      )}
    </>
  );
}

function SchemaList({
  name,
  pointer,
  of,
  items,
  root,
  required,
  flaws,
  onChange,
}: Props & { of: JsonSchema; items: unknown[] }) {
  const change = (items: unknown[]) => onChange(items.length === 0 && !required ? undefined : items);
  return (
    <fieldset className="members">
      <legend>{name}</legend>
      {items.map((item, nth) => (
        <div className="list-item" key={nth}>
          <SchemaField
            name={`${name} ${nth + 1}`}
            pointer={`${pointer}/${nth}`}
            schema={of}
            root={root}
            value={item}
            required
            flaws={flaws}
            onChange={(value) => change(items.map((other, place) => (place === nth ? value : other)))}
          />
          <IconButton
            name={`Remove ${name} ${nth + 1}`}
            className="small"
            onClick={() => change(items.filter((_, place) => place !== nth))}
          >
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ))}
      <Button size="small" onClick={() => change([...items, empty(of, root)])}>
        <Plus size={14} aria-hidden /> Add to {name}
      </Button>
    </fieldset>
  );
}

interface JsonProps {
  value: unknown;
  rows: number;
  /** With nothing when the text is no JSON. */
  onChange: (value: unknown) => void;
  control?: object;
  label?: string;
}

/** A value as JSON text. While the text is no JSON there is no value. */
export function JsonField({ value, rows, onChange, control, label }: JsonProps) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [wrong, setWrong] = useState<string>();
  return (
    <>
      <textarea
        className="mono"
        rows={rows}
        value={text}
        spellCheck={false}
        aria-label={label}
        onChange={(event) => {
          setText(event.target.value);
          const { value, wrong } = parsed(event.target.value);
          setWrong(wrong);
          onChange(value);
        }}
        {...control}
      />
      {wrong && <span className="flaw">This is no JSON: {wrong}</span>}
    </>
  );
}

function parsed(text: string): { value?: unknown; wrong?: string } {
  if (text.trim() === "") return {};
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

function About({ id, text, flaws }: { id: string; text?: string; flaws: Flaw[] }) {
  return (
    <span id={id} className="about">
      {text}
      {flaws.map((flaw) => (
        <span className="flaw" key={flaw.expected}>
          {flaw.expected}
        </span>
      ))}
    </span>
  );
}
