// What a tool gave, for people: the content of its message is a JSON object with a status, texts and data.

export interface ToolResult {
  error: string;
  text: string;
  /** Longer texts in it by name, such as what a program printed. */
  bodies: { name: string; text: string }[];
  /** All else, as `name: value`. */
  facts: { name: string; value: string }[];
}

/** The parts of a tool's result; what is not such an object is one text. */
export function partsOf(content: string): ToolResult {
  const envelope = objectIn(content);
  if (envelope === null) return { error: "", text: content, bodies: [], facts: [] };
  const result: ToolResult = { error: "", text: stringOf(envelope["text"]), bodies: [], facts: [] };
  const error = envelope["error"];
  if (isObject(error)) result.error = stringOf(error["message"]);
  const data = isObject(envelope["data"]) ? envelope["data"] : {};
  for (const [name, value] of Object.entries(data)) {
    if (value === null || value === undefined || value === "") continue;
    if (typeof value === "string" && (BODIES.has(name) || value.includes("\n") || value.length > 120)) {
      result.bodies.push({ name, text: value });
    } else if (name !== "diff") result.facts.push({ name, value: short(value) });
  }
  return result;
}

const BODIES = new Set(["stdout", "stderr", "content", "output", "diff"]);
/** The longest value that stands on a line. */
const LONGEST = 2000;

function short(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function objectIn(content: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) && "status" in value ? value : null;
  } catch {
    return null; // one that was cut, or of another kind
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
