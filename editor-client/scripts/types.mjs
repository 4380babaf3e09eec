// Writes src/protocol/types.ts from what `codelaw schema` prints.
// `--check` writes nothing and fails where the file is not what it would write.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";
import { schema } from "./schema.mjs";

const folder = new URL("../src/protocol/", import.meta.url);
const HEADER = "// Generated from `codelaw schema` by `npm run types`; do not edit.\n";

/** The text of types.ts for a schema. */
async function typesOf(schema) {
  const definitions = structuredClone(schema.$defs);
  for (const definition of Object.values(definitions)) strip(definition);
  const names = Object.keys(definitions);
  const root = {
    title: "Definitions",
    type: "object",
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    $defs: definitions,
  };
  const types = await compile(root, "Definitions", {
    bannerComment: "",
    additionalProperties: false,
    format: false,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: true,
    unreachableDefinitions: true,
  });
  const reference = ({ $ref }) => $ref.slice($ref.lastIndexOf("/") + 1);
  const map = (name, comment, entries) =>
    `/** ${comment} */\nexport interface ${name} {\n${entries.map((line) => `  ${line};\n`).join("")}}\n`;
  const pair = ([method, { params, result }]) =>
    `"${method}": { params: ${reference(params)}; result: ${reference(result)} }`;
  return [
    HEADER,
    types,
    `export const VERSION = ${schema.version};\n`,
    map("Methods", "Requests to the server.", Object.entries(schema.methods).map(pair)),
    map(
      "Commands",
      "Commands of code actions, lenses and chat files.",
      Object.entries(schema.commands ?? {}).map(pair),
    ),
    map("Requests", "Requests from the server.", Object.entries(schema.requests).map(pair)),
    map(
      "Notifications",
      "Notifications from the server.",
      Object.entries(schema.notifications).map(
        ([method, { params }]) => `"${method}": { params: ${reference(params)} }`,
      ),
    ),
    `export const METHODS = ${JSON.stringify(Object.keys(schema.methods), null, 2)} as const;\n`,
    `export type RefusalCode = ${schema.refusals.map((code) => JSON.stringify(code)).join(" | ")};\n`,
  ].join("\n");
}

/** Without the titles that would become an alias for every field, and with constants told apart by their value. */
function strip(value) {
  if (Array.isArray(value)) return value.forEach(strip);
  if (value === null || typeof value !== "object") return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "properties") {
      for (const field of Object.values(inner)) {
        delete field.title;
        delete field.default;
        strip(field);
      }
    } else strip(inner);
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const text = await typesOf(schema());
  const file = new URL("types.ts", folder);
  if (process.argv.includes("--check")) {
    if ((await readFile(file, "utf8")) !== text) {
      process.stderr.write("types.ts is not what `codelaw schema` says: npm run types\n");
      process.exitCode = 1;
    }
  } else await writeFile(file, text);
}
