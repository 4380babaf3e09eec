"""What decides later behaviour, by its name: who writes such a file decides what runs, or what agents are told (S-8).

One table, with the reason of each row and how it is held. What settings name beside it is `domain/safety/obeyed_paths`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, cast

Held = Literal["kept", "home", "asked"]
"""`kept`: read-only for commands where it exists, taken away when one makes it anew, and always asked about.
`home`: the same where the workspace holds a home, else always asked about. `asked`: always asked about and no more,
because git writes such files at every checkout and would stop half-way."""


@dataclass(frozen=True, slots=True)
class ObeyedName:
    """A row of the table: a name, or the end of a path, at any depth."""

    who: str
    why: str
    """What its being written may come to, as the end of a sentence."""
    held: Held


_WHY = {
    "runs": "what is written there may run outside of codelaw",
    "offered": "what is written there is a command that it offers to run",
    "told": "what is written there tells agents what to do",
    "built": "it runs on another machine, with the secrets of the repository",
    "found": "it says which programs a name stands for",
}
# How it is held, why it matters, who obeys it, and the names, folded: with a slash behind a folder, and a star before
# the end of names, which are kept and watched at the top of a workspace alone.
_ROWS = """
kept runs    | Visual Studio Code | .vscode/ .devcontainer/ .devcontainer.json *.code-workspace
kept runs    | JetBrains' editor | .idea/ .fleet/
asked offered| JetBrains' editor | .run/
kept runs    | Visual Studio | .vs/
kept runs    | Theia | .theia/
kept runs    | Helix | .helix/
kept runs    | Zed | .zed/
kept runs    | Nova | .nova/
kept runs    | Sublime Text | *.sublime-project
kept runs    | Emacs | .dir-locals.el .dir-locals-2.el
kept runs    | vi | .exrc .vimrc .gvimrc
kept runs    | Neovim | .nvim.lua .nvimrc
kept runs    | Claude Code | .claude/
kept runs    | Cursor | .cursor/
kept runs    | OpenCode | opencode.json opencode.jsonc .opencode/
kept runs    | Codex | .codex/
kept runs    | Gemini CLI | .gemini/
kept runs    | Roo Code | .roo/
kept runs    | Kiro | .kiro/
kept runs    | Windsurf | .windsurf/
kept runs    | Continue | .continue/
kept runs    | Aider | .aider.conf.yml
kept runs    | Qwen Code | .qwen/
kept runs    | Kilo Code | .kilocode/
kept runs    | Amazon Q | .amazonq/
kept runs    | Junie | .junie/
kept runs    | Trae | .trae/
kept runs    | Crush | crush.json .crush.json
kept runs    | Cline | .clinerules/hooks/
kept runs    | Copilot | .github/hooks/
kept runs    | Whatever starts MCP servers | .mcp.json
asked told   | codelaw | code_law.md
asked told   | An agent | agents.md agents.override.md claude.md claude.local.md gemini.md .goosehints .agents/
asked told   | An agent | qwen.md agent.md
asked told   | An agent | .github/prompts/ .github/skills/ .github/agents/ .github/instructions/ .github/chatmodes/
asked told   | Copilot | .github/copilot-instructions.md
asked told   | Cline | .clinerules
asked told   | Cursor | .cursorrules
asked told   | Windsurf | .windsurfrules
asked told   | Roo Code | .roomodes .roorules
kept runs    | git | .husky/ .gitmodules
kept runs    | pre-commit | .pre-commit-config.yaml .pre-commit-config.yml
kept runs    | lefthook | *lefthook.yml *lefthook.yaml *lefthook.toml *lefthook.json
kept runs    | lefthook | *lefthook-local.yml *lefthook-local.yaml *lefthook-local.toml *lefthook-local.json
asked built  | GitHub | .github/workflows/ .github/actions/
asked built  | GitLab | .gitlab-ci.yml
asked built  | A server that builds | .gitea/workflows/ .forgejo/workflows/ .circleci/ .buildkite/ .travis.yml
asked built  | A server that builds | .drone.yml .woodpecker.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile
kept runs    | direnv | .envrc
kept runs    | mise | mise.toml .mise.toml mise.local.toml .mise.local.toml
asked found  | asdf | .tool-versions
home runs    | Your shell | .bashrc .bash_profile .bash_login .bash_logout .profile .kshrc .mkshrc .inputrc
home runs    | Your shell | .zshrc .zshenv .zprofile .zlogin .zlogout .login .cshrc .tcshrc
home runs    | Your session | .xprofile .xinitrc .xsession .xsessionrc .pam_environment
"""


def _rows() -> Iterator[tuple[str, ObeyedName]]:
    for line in _ROWS.strip().splitlines():
        facts, who, names = (part.strip() for part in line.split("|"))
        held, why = facts.split()
        for name in names.split():
            yield name, ObeyedName(who, _WHY[why], cast("Held", held))


_NAMED = tuple(_rows())
TABLE: Mapping[str, ObeyedName] = {name.rstrip("/"): row for name, row in _NAMED if name[0] != "*"}
"""By name: one that others obey, or two that follow each other in a path."""
ENDINGS: Mapping[str, ObeyedName] = {name[1:]: row for name, row in _NAMED if name[0] == "*"}
"""By what a name ends with."""
FOLDERS = tuple(name.rstrip("/") for name, row in _NAMED if row.held == "kept" and name[-1] == "/")
FILES = tuple(name for name, row in _NAMED if row.held == "kept" and name[-1] != "/" and name[0] != "*")
"""Kept with everything in them, and files that are kept."""
START_UP = tuple(name for name, row in _NAMED if row.held == "home")
"""Files that a shell or a session reads when it starts; obeyed in a home folder."""
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""What some file systems leave out when they compare names."""

_INTENTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\bgit\b[^|;&\n]*\b(config|remote|submodule|sparse-checkout|maintenance)\b"), (".git/config",)),
    (re.compile(r"\bgit\b[^|;&\n]*\binit\b"), (".git",)),
    (re.compile(r"\bgit\b[^|;&\n]*\blfs\s+(install|update)\b"), (".git/config", ".git/hooks")),
    (re.compile(r"\b(pre-commit|lefthook|overcommit)\b[^|;&\n]*\binstall\b"), (".git/hooks",)),
    (re.compile(r"\bhusky\b"), (".husky", ".git/config")),
)
"""What commands are about that do not always say on which path they failed."""


_EDITORS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\bzed\b"), (".zed",)),
    (re.compile(r"\bhelix\b"), (".helix",)),
    (re.compile(r"intellij|jetbrains|pycharm|webstorm|goland|lsp4ij"), (".idea",)),
    (re.compile(r"vim\b"), (".exrc", ".nvim.lua", ".nvimrc")),
    (re.compile(r"emacs|eglot"), (".dir-locals.el", ".dir-locals-2.el")),
    (re.compile(r"cursor"), (".vscode", ".cursor", ".devcontainer", ".devcontainer.json")),
)


def at_once(editor: str) -> tuple[str, ...]:
    """The names that an editor obeys as soon as they appear, by what it calls itself; unknown ones are like VS Code."""
    found = (names for pattern, names in _EDITORS if pattern.search(editor.casefold()))
    return next(found, (".vscode", ".devcontainer", ".devcontainer.json"))


def about(command: str) -> list[str]:
    """What a command is about that it may not name: paths in the folder that it runs in."""
    return [name for pattern, names in _INTENTS if pattern.search(command) for name in names]


def obeyed(parts: Sequence[str]) -> str | None:
    """What of a path's parts other programs obey, folded, one name or two; None for a path that nobody obeys.

    `.git` and `.codelaw` are not among them: the file tools never write these (T-2).
    """
    names = [folded(part) for part in parts]
    pairs = (f"{one}/{other}" for one, other in pairwise(names))
    return next((name for name in (*names, *pairs) if row_of(name) is not None), None)


def row_of(name: str) -> ObeyedName | None:
    """The row of a folded name, or of two with a slash between them."""
    return TABLE.get(name) or next((row for end, row in ENDINGS.items() if name.endswith(end)), None)


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A file's name as the file systems that fold most compare it: case, accents, what is not seen, dots at the end.

    A stream of NTFS, `.envrc:x`, is the file before the colon.
    """
    plain = unicodedata.normalize("NFD", _IGNORED.sub("", name)).casefold()
    return unicodedata.normalize("NFC", plain).partition(":")[0].rstrip(". ")


def who_obeys(path: str) -> ObeyedName | None:
    """Which program does what the file says, and why that matters; None for a file that nobody obeys."""
    parts: Sequence[str] = path.replace("\\", "/").split("/")
    name = obeyed(parts)
    if name is not None:
        return row_of(name)
    return TABLE[".gitmodules"] if ".git" in (part.casefold() for part in parts) else None
