// What `codelaw schema` prints: the wire's types, methods and settings, from the checkout's own server.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../.venv/bin/codelaw", import.meta.url));

export const schema = () => JSON.parse(execFileSync(program, ["schema"], { encoding: "utf8", maxBuffer: 1 << 26 }));
