// The editor's settings as the server takes them: only what somebody has set, never a default.
/** How one setting was set, as `WorkspaceConfiguration.inspect` tells it. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
}

/** Sections of settings that are the extension's own and mean nothing to the server. */
const OWN = ["server.", "panel."];

/** The key stays in the secret storage: what stands in a settings file is not read. */
const SECRET = new Set(["model.apiKey", "model.authToken"]);

/** The declared settings that go to the server, without the prefix `codelaw.`. */
export const serverKeys = (manifest: unknown, wanted: (spec: unknown) => boolean = () => true): string[] =>
  declared(manifest)
    .filter(([, spec]) => wanted(spec))
    .map(([name]) => name)
    .filter((name) => name.startsWith("codelaw."))
    .map((name) => name.slice("codelaw.".length))
    .filter((key) => !OWN.some((prefix) => key.startsWith(prefix)) && !SECRET.has(key));

/** The settings that a folder must not set, named in the same way. */
export const guardedKeys = (manifest: unknown): ReadonlySet<string> =>
  new Set(serverKeys(manifest, (spec) => isRecord(spec) && spec["scope"] !== "window"));

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const declared = (manifest: unknown): [name: string, spec: unknown][] => {
  const contributes = isRecord(manifest) ? manifest["contributes"] : undefined;
  const configuration = isRecord(contributes) ? contributes["configuration"] : undefined;
  const sections: unknown[] = Array.isArray(configuration) ? configuration : [configuration];
  return sections.flatMap((section) => {
    const properties = isRecord(section) ? section["properties"] : undefined;
    return isRecord(properties) ? Object.entries(properties) : [];
  });
};

/**
 * What was set of `keys`, nested by their dots, with the API key put in. A folder counts once the user trusts it, and
 * for `guarded` keys never: editors have let `"codelaw.model": {"baseUrl": …}` past the scope of `codelaw.model.baseUrl`.
 */
export const settingsFor = (
  keys: readonly string[],
  inspect: (key: string) => Inspected | undefined,
  options: { trusted: boolean; apiKey: string | undefined; guarded: ReadonlySet<string> },
): Record<string, unknown> => {
  const settings: Record<string, unknown> = {};
  for (const key of keys) {
    const set = inspect(key);
    if (set === undefined) continue;
    const folder = options.trusted && !options.guarded.has(key);
    const value = folder ? over(set.globalValue, set.workspaceValue) : set.globalValue;
    // A field of the settings page that was emptied is not set.
    if (value !== undefined && value !== null && value !== "") put(settings, key.split("."), value);
  }
  if (options.apiKey !== undefined && options.apiKey !== "") put(settings, ["model", "apiKey"], options.apiKey);
  return settings;
};

/** Objects are laid over each other, as the editor does it; anything else takes the other's place. */
const over = (below: unknown, above: unknown): unknown => {
  if (above === undefined) return below;
  if (!isTable(below) || !isTable(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) merged[key] = over(merged[key], value);
  return merged;
};

const isTable = (value: unknown): value is Record<string, unknown> => isRecord(value) && !Array.isArray(value);

const put = (into: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  const below = into[key];
  const table = isTable(below) ? { ...below } : {};
  put(table, rest, value);
  into[key] = table;
};
