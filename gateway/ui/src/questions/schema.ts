/** What a form needs to know of a JSON schema. What it does not understand is edited as JSON. */

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  anyOf?: JsonSchema[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

export type Shape =
  | { kind: "text"; long: boolean; most?: number }
  | { kind: "number"; whole: boolean; least?: number; most?: number }
  | { kind: "choice"; options: string[] }
  | { kind: "switch" }
  | { kind: "list"; of: JsonSchema }
  | { kind: "members"; properties: Record<string, JsonSchema>; required: string[] }
  | { kind: "json" };

/** Beyond so many characters a text gets several lines. */
const LONG = 1000;

/** Follows a reference into the schema's own definitions, and takes `X or null` for X. */
export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (schema.$ref) {
    const found = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return found
      ? resolved({ ...found, description: schema.description ?? found.description }, root)
      : schema;
  }
  const others = schema.anyOf?.filter((option) => option.type !== "null");
  if (others?.length === 1 && others[0])
    return resolved({ ...others[0], description: schema.description }, root);
  return schema;
}

export function shapeOf(schema: JsonSchema): Shape {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (schema.enum?.every((option) => typeof option === "string"))
    return { kind: "choice", options: schema.enum as string[] };
  if (types.length !== 1) return { kind: "json" };
  switch (types[0]) {
    case "string":
      return { kind: "text", long: (schema.maxLength ?? 0) > LONG, most: schema.maxLength };
    case "integer":
    case "number":
      return {
        kind: "number",
        whole: types[0] === "integer",
        least: schema.minimum,
        most: schema.maximum,
      };
    case "boolean":
      return { kind: "switch" };
    case "array":
      return schema.items ? { kind: "list", of: schema.items } : { kind: "json" };
    case "object":
      return schema.properties
        ? { kind: "members", properties: schema.properties, required: schema.required ?? [] }
        : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

/** An empty value of that form, for an item that is added. */
export function empty(schema: JsonSchema, root: JsonSchema): unknown {
  const shape = shapeOf(resolved(schema, root));
  switch (shape.kind) {
    case "text":
      return "";
    case "number":
      return shape.least ?? 0;
    case "choice":
      return shape.options[0] ?? "";
    case "switch":
      return false;
    case "list":
      return [];
    case "members":
      return Object.fromEntries(
        shape.required.map((name) => [name, empty(shape.properties[name] ?? {}, root)]),
      );
    case "json":
      return {};
  }
}
