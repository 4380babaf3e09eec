// A Python that only records what it is told, and fails or waits on demand; and what an extension carries.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

// `$FAKE` is the folder with its records and orders; `$CODELAW_SERVER` is the server that an installed one becomes.
const PYTHON = `#!/bin/sh
echo "$*" >> "$FAKE/calls"
[ -n "$PIP_USER" ] && echo "PIP_USER=$PIP_USER" >> "$FAKE/calls"
case "$*" in
  *"-m venv"*)
    [ -f "$FAKE/no-venv" ] && { echo "The virtual environment was not created: ensurepip is not available." >&2; exit 1; }
    for folder; do :; done
    mkdir -p "$folder/bin" "$folder/lib/python3.11/site-packages" && cp "$0" "$folder/bin/python" ;;
  *"--target"*)
    [ -f "$FAKE/no-network" ] && { echo "ERROR: No matching distribution found for mcp" >&2; exit 1; }
    [ -f "$FAKE/wrong-hash" ] && { echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE." >&2; exit 1; }
    [ -f "$FAKE/slow" ] && { (while echo >> "$FAKE/beats"; do sleep 0.02; done) & wait; }
    while [ "$1" != "--target" ]; do shift; done
    mkdir -p "$2/mcp/tests" "$2/bin" && touch "$2/mcp/__init__.py" "$2/bin/mcp" ;;
  *"--require-hashes"*)
    echo "Collecting numpy==2.3.0"
    [ -f "$FAKE/slow" ] && { (while echo >> "$FAKE/beats"; do sleep 0.02; done) & wait; }
    [ -f "$FAKE/no-network" ] && { echo "ERROR: Could not find a version" >&2; echo "ERROR: No matching distribution found for numpy" >&2; exit 1; }
    exit 0 ;;
  *"--no-deps"*) touch "$(dirname "$0")/installed" ;;
  *"-c import sys"*) echo "python 3.11.2" ;;
  *"-m codelaw serve"*) exec "$CODELAW_SERVER" serve ;;
  *"-m codelaw --version"*)
    [ -f "$(dirname "$0")/installed" ] || { echo "No module named codelaw" >&2; exit 1; }
    echo "codelaw 0.1.0" ;;
esac
`;

/** Put the fake Python into a folder; gives its path. */
export const fakePython = async (folder: string): Promise<string> => {
  const file = path.join(folder, "python3");
  await writeFile(file, PYTHON);
  await chmod(file, 0o755);
  return file;
};

/** Make a folder like the one that an extension carries the server in. */
export const fakeBundle = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "codelaw-0.1.0-py3-none-any.whl"), "a wheel");
  await writeFile(path.join(folder, "requirements.lock"), "numpy==2.3.0 --hash=sha256:00");
  await mkdir(path.join(folder, "extras"));
  await writeFile(path.join(folder, "extras", "mcp.lock"), "mcp==2.3.0 --hash=sha256:00");
  return folder;
};
