// Highlighted code. A grammar is set up when it is first needed.
import core from "highlight.js/lib/core";
import type { LanguageFn } from "highlight.js";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** A longer block is shown as it is. */
export const MOST_HIGHLIGHTED = 100_000;

const GRAMMARS = new Map<string, LanguageFn>(
  Object.entries({
    bash,
    c,
    cpp,
    csharp,
    css,
    diff,
    dockerfile,
    go,
    ini,
    java,
    javascript,
    json,
    kotlin,
    lua,
    makefile,
    markdown,
    php,
    powershell,
    python,
    ruby,
    rust,
    scss,
    shell,
    sql,
    swift,
    typescript,
    xml,
    yaml,
  }),
);

const ALIASES = new Map(
  Object.entries({
    "c++": "cpp",
    "cc": "cpp",
    "h": "c",
    "hpp": "cpp",
    "cs": "csharp",
    "c#": "csharp",
    "patch": "diff",
    "docker": "dockerfile",
    "golang": "go",
    "toml": "ini",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "jsonc": "json",
    "json5": "json",
    "jsonl": "json",
    "kt": "kotlin",
    "make": "makefile",
    "md": "markdown",
    "ps1": "powershell",
    "py": "python",
    "pyi": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "zsh": "bash",
    "console": "shell",
    "shellsession": "shell",
    "ts": "typescript",
    "tsx": "typescript",
    "html": "xml",
    "htm": "xml",
    "svg": "xml",
    "vue": "xml",
    "yml": "yaml",
  }),
);

/** HTML of the code with classes, or null where it stays as it is: an unknown language, or too long. */
export function highlighted(code: string, language: string): string | null {
  if (code.length > MOST_HIGHLIGHTED) return null;
  const asked = language.toLowerCase();
  const name = ALIASES.get(asked) ?? asked;
  const grammar = GRAMMARS.get(name);
  if (grammar === undefined) return null;
  if (core.getLanguage(name) === undefined) {
    core.registerLanguage(name, grammar);
    // Markdown, HTML and shell sessions have others inside.
    for (const inner of INSIDE.get(name) ?? []) {
      const its = GRAMMARS.get(inner);
      if (its !== undefined && core.getLanguage(inner) === undefined) core.registerLanguage(inner, its);
    }
  }
  return core.highlight(code, { language: name, ignoreIllegals: true }).value;
}

const INSIDE = new Map([
  ["xml", ["css", "javascript"]],
  ["markdown", ["xml"]],
  ["shell", ["bash"]],
  ["php", ["xml"]],
]);
