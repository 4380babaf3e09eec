// Writes package.json's settings (`contributes.configuration`) from those that `codelaw schema` prints.
// `--check` writes nothing and fails where package.json is not what it would write.
import { readFile, writeFile } from "node:fs/promises";
import { format } from "prettier";
import { schema } from "./schema.mjs";

const packageFile = new URL("../package.json", import.meta.url);

/** Where programs and files lie: decided on each machine, never by a folder. */
const OF_THE_MACHINE = [
  "server.",
  "model.platform",
  "model.script",
  "store.url",
  "mcp.",
  "skills.",
  "hooks.",
  "embedding.path",
];

/** What happens without asking, where text and keys go, and who the model is: decided by the user, everywhere. */
const OF_THE_USER = [
  "permissions.",
  "model.provider",
  "model.baseUrl",
  "tools.",
  "editor.review",
  "embedding.provider",
  "embedding.baseUrl",
  "prompts.",
  "law.",
];

const scopeOf = (path) => {
  const among = (list) => list.some((start) => path === start || (start.endsWith(".") && path.startsWith(start)));
  if (among(OF_THE_MACHINE)) return "machine";
  return among(OF_THE_USER) ? "application" : "window";
};

/** Keys and tokens live in the editor's secret storage (or in the environment), never in settings files. */
const SECRET = new Set(["model.apiKey", "model.authToken", "embedding.apiKey"]);

const TITLES = {
  model: "Model",
  models: "Model",
  context: "Context",
  prompts: "Prompts",
  law: "Law",
  turn: "Turns",
  memory: "Memory",
  embedding: "Embeddings",
  retrieval: "Retrieval",
  permissions: "Permissions",
  tools: "Tools",
  editor: "Editing",
  store: "Store",
  mcp: "MCP",
  skills: "Skills",
  agents: "Agents",
  hooks: "Hooks",
};

/** The groups as the settings page shows them: first what most people set. */
const ORDER = [
  "Model",
  "Panel",
  "Permissions",
  "Tools",
  "Editing",
  "Turns",
  "Agents",
  "Context",
  "Prompts",
  "Law",
  "Memory",
  "Retrieval",
  "Embeddings",
  "MCP",
  "Skills",
  "Hooks",
  "Store",
  "Server",
];

/** What is said here beside the server's own words. */
const MORE = {
  "model.name":
    " The API key is kept in the editor's secret storage: [Set API Key](command:codelaw.setKey). It is never read from settings.",
  "model.baseUrl": " Set the key with [Set API Key](command:codelaw.setKey).",
  "embedding.provider": " The key for `openai` is read from the environment variable `CODELAW_EMBEDDING__API_KEY`.",
};

/** Settings of the extension itself; the server never sees them. */
const OWN = {
  "codelaw.server.command": {
    type: "array",
    items: { type: "string" },
    default: [],
    markdownDescription:
      'The command that starts the server, with its arguments: `["~/venv/bin/codelaw", "serve"]`. Empty: the server is searched for in the selected Python interpreter and on `PATH`, or installed into an environment of its own.',
    scope: "machine",
  },
};

const OF_THE_PANEL = {
  "codelaw.panel.sendEditor": {
    type: "boolean",
    default: true,
    markdownDescription:
      "Send what you look at with every message: the active file, the cursor's line, the selected text and the lines on the screen. The panel shows it above the message, where it can be removed. A folder may switch this off, never on.",
    scope: "window",
  },
  "codelaw.panel.save": {
    type: "string",
    enum: ["accepted", "turn", "never"],
    default: "accepted",
    markdownDescription:
      "When open files that codelaw has changed are saved. `accepted`: when you accept their changes, or reject the last of them. `turn`: when the turn ends, too. `never`: you save them yourself. Whatever you choose, before a command runs those are saved that had been saved before codelaw changed them.",
    scope: "window",
  },
  "codelaw.panel.notify": {
    type: "boolean",
    default: true,
    markdownDescription:
      "Say so when a turn ends, fails or asks while no view shows its chat. The number on the icon tells it in any case; no sound is made.",
    scope: "window",
  },
};

/** The settings of the extension, in groups with titles. */
export function configurationOf(schema) {
  const groups = new Map([
    ["Server", { ...OWN }],
    ["Panel", { ...OF_THE_PANEL }],
  ]);
  const groupOf = (section) => {
    const title = TITLES[section];
    if (!ORDER.includes(title)) throw new Error(`Settings of "${section}" have no group: give it a title and a place.`);
    if (!groups.has(title)) groups.set(title, {});
    return groups.get(title);
  };
  const look = (spec, path) => {
    const group = resolved(schema, spec);
    if (group.properties === undefined) {
      if (!SECRET.has(path)) groupOf(path.split(".")[0])[`codelaw.${path}`] = settingOf(schema, path, group);
      return;
    }
    for (const [name, inner] of Object.entries(group.properties)) look(inner, path === "" ? name : `${path}.${name}`);
  };
  look(schema.settings, "");
  return ORDER.map((title, place) => ({ title, order: place + 1, properties: inOrder(groups.get(title)) }));
}

/** The names of the settings that no folder decides about. */
export const restrictedOf = (configuration) =>
  configuration.flatMap(({ properties }) =>
    Object.entries(properties)
      .filter(([, { scope }]) => scope !== "window")
      .map(([name]) => name),
  );

/** package.json with the settings of that schema. */
export function manifestOf(manifest, schema) {
  const configuration = configurationOf(schema);
  const made = structuredClone(manifest);
  made.contributes.configuration = configuration;
  made.capabilities.untrustedWorkspaces.restrictedConfigurations = restrictedOf(configuration);
  return made;
}

/** The text of package.json. */
export const textOf = (manifest) => format(JSON.stringify(manifest), { parser: "json-stringify", printWidth: 120 });

/** The settings editor has no field for a text or null: there it is a text, and empty where nobody has set it. */
function asText(spec) {
  const { minLength: _least, ...rest } = spec;
  return Array.isArray(spec.type) && spec.type.includes("string") && spec.type.length === 2 && spec.enum === undefined
    ? { ...rest, type: "string", default: spec.default ?? "" }
    : spec;
}

function settingOf(schema, path, spec) {
  const { description, default: given, ...shape } = asText(plain(schema, spec));
  return {
    ...shape,
    ...(given === undefined ? {} : { default: given }),
    markdownDescription: `${description}${MORE[path] ?? ""}`,
    scope: scopeOf(path),
  };
}

/** A schema as the settings editor takes it: without references, `anyOf` with null as a list of types. */
function plain(schema, value) {
  const { anyOf, prefixItems, title: _title, ...spec } = resolved(schema, value);
  const options = anyOf?.map((option) => plain(schema, option)) ?? [];
  const kinds = options.filter(({ type }) => type !== "null");
  const nullable = kinds.length < options.length;
  if (kinds.length === 1) Object.assign(spec, kinds[0], nullable ? { type: [kinds[0].type, "null"] } : {});
  else if (kinds.length > 1) spec.anyOf = options;
  if (nullable && spec.enum !== undefined) spec.enum = [...spec.enum, null];
  if (prefixItems !== undefined) spec.items = plain(schema, prefixItems[0]);
  if (spec.items !== undefined) spec.items = plain(schema, spec.items);
  if (spec.properties !== undefined)
    spec.properties = Object.fromEntries(
      Object.entries(spec.properties).map(([name, inner]) => [name, plain(schema, inner)]),
    );
  if (typeof spec.additionalProperties === "object")
    spec.additionalProperties = plain(schema, spec.additionalProperties);
  return spec;
}

function resolved(schema, spec) {
  if (spec.$ref === undefined) return spec;
  return spec.$ref
    .split("/")
    .slice(1)
    .reduce((node, part) => node[part], schema);
}

const inOrder = (properties) =>
  Object.fromEntries(Object.entries(properties).map(([name, spec], place) => [name, { ...spec, order: place + 1 }]));

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const manifest = JSON.parse(await readFile(packageFile, "utf8"));
  const text = await textOf(manifestOf(manifest, schema()));
  if (process.argv.includes("--check")) {
    if ((await readFile(packageFile, "utf8")) !== text) {
      process.stderr.write("package.json has other settings than `codelaw schema`: npm run types\n");
      process.exitCode = 1;
    }
  } else await writeFile(packageFile, text);
}
