"""Paths by which the file tools would leave the workspace, or write what guards it (T-2, S-3, S-8)."""

from __future__ import annotations

from tests.attacks.deeds import by_tools, row, unasked
from tests.attacks.row import Attack
from tests.attacks.starts import EDITORS, OBEYED, START_UP

OUT = {
    "dots": "../out/a.txt", "dots in the middle": "in/../../out/a.txt",
    "dots through a file that is not there": "none/../../out/a.txt", "dots and a space": " ../out/a.txt",
    "a dot and a slash": "./../out/a.txt", "many slashes": "..//out///a.txt", "dots from the root": "{ws}/../out/a.txt",
    "an absolute path": "{out}/a.txt", "a folder whose name begins alike": "{ws}-too/a.txt",
    "a link to a file": "file-link", "a link to a folder": "folder-link/a.txt", "a chain of links": "chain/a.txt",
    "a link upwards": "up/out/a.txt", "a link to the root": "root{out}/a.txt",
    "links and dots": "folder-link/../out/a.txt", "a loop": "loop/a.txt",
    "the root of the own process": "/proc/self/root{out}/a.txt",
    "the folder of the own process": "/proc/self/cwd/../out/a.txt", "an endless device": "zero",
    "a device by its path": "/dev/zero", "the standard input": "/dev/stdin",
    "the own environment": "/proc/self/environ", "the own environment by a link": "environ", "a pipe": "fifo",
    "a socket": "socket", "a tilde": "~/.ssh/id_ed25519", "another user's tilde": "~root/.ssh/id_ed25519",
    "a variable": "$HOME/.netrc", "percents": "%2e%2e/out/a.txt", "percents for the slash": "..%2fout%2fa.txt",
    "percents twice": "%252e%252e%252fout/a.txt", "backslashes": "..\\out\\a.txt",
    "a drive": "C:\\Windows\\system32\\config", "a share": "\\\\server\\share\\a.txt",
    "one dot leaders": "\u2024\u2024/out/a.txt", "wide dots": "\uff0e\uff0e/out/a.txt",
    "a wide slash": "..\uff0fout\uff0fa.txt", "a division slash": "..\u2215out\u2215a.txt",
    "a NUL": "in/a.txt\0/../../out/a.txt", "a newline": "in\n/../../out/a.txt",
    "a newline at the end": "../out/a.txt\n", "half a pair": "\ud83d/../../out/a.txt",
    "a file uri": "file://{out}/a.txt", "a file uri with dots": "file:///{ws}/../out/a.txt",
    "an unknown untitled document": "untitled:{out}/a.txt", "untitled and dots": "untitled:../../out/a.txt",
    "a long name": "a" * 300 + "/../../out/a.txt", "a long path": "a/" * 3000 + "../" * 3001 + "out/a.txt",
    "a result of another chat": "result:../../out/a.txt",
}  # fmt: skip
GUARDED = {
    "git's settings": ".git/config", "git's settings in capitals": ".GIT/config",
    "git's settings in mixed case": ".gIt/CONFIG", "git's settings with a dot": ".git/./config",
    "git's settings with two slashes": ".git//config", "git's settings from below": "in/../.git/config",
    "git's settings by a link": "git-link/config", "git's settings by their whole path": "{ws}/.git/config",
    "a hook": ".git/hooks/pre-commit", "a hook by a link": "git-link/hooks/pre-commit",
    "the file of a submodule": "sub/.git", "a new repository deeper down": "in/.git/config",
    "a git folder with a dot at the end": ".git./config", "a git folder with a space at the end": ".git /config",
    "codelaw's rules": ".codelaw/config.toml", "codelaw's rules in capitals": ".CODELAW/config.toml",
    "codelaw's rules from below": "in/../.codelaw/config.toml", "codelaw's rules by a link": "rules-link",
    "new rules of codelaw's": ".codelaw/more.toml", "codelaw's rules deeper down": "in/.codelaw/config.toml",
}  # fmt: skip
CASES = (".VSCODE/tasks.json", ".Envrc", "sub/.Husky/pre-commit", "./.vscode/../.vscode/tasks.json", "sub//.mcp.json")


def writing(path: str) -> list[tuple[str, dict[str, object]]]:
    """Every way to change a file: made, changed, changed in several places."""
    return [
        ("Write", {"path": path, "content": "pwned"}),
        ("Read", {"path": path}),
        ("Edit", {"path": path, "old_string": "as it was", "new_string": "pwned"}),
        ("MultiEdit", {"path": path, "edits": [{"old_string": "as it was", "new_string": "pwned"}]}),
        ("Write", {"path": path, "content": "pwned"}),
    ]


PATHS: tuple[Attack, ...] = (
    *(
        row(f"by a tool: {name}", "out", by_tools(path), f"each file tool with the path {path[:80]!r}", "tools", start="places around the workspace")
        for name, path in OUT.items()
    ),
    *(
        row(f"by a tool: {name}", "obeyed", by_tools(path, ("Read", "Write", "Edit")), f"writes {path!r} by file tools", "tools", start="places around the workspace")
        for name, path in GUARDED.items()
    ),
    *(
        row(
            f"by a tool, with a rule for all files: {name} {where}",
            "obeyed",
            unasked(writing(prefix + name), [prefix + name], "Edit", "Edit(**)", "Edit(.*/**)", f"Edit({prefix}{name})"),
            f"makes or changes {prefix}{name} by Write, Edit and MultiEdit",
            "tools",
            start=start,
        )
        for name in (*OBEYED, *START_UP)
        for where, prefix, start in (("at the top", "", "files that others obey"), ("below", "sub/", "files that others obey"), ("anew", "new/", "a repository"))
    ),
    *(
        row(f"by a tool, with a rule for all files: {name}", "obeyed", unasked(writing(name), [name], "Edit", f"Edit({name})"), f"makes or changes {name}", "tools")
        for name in EDITORS
    ),
    *(
        row(f"by a tool, with a rule for all files: {path} in another spelling", "obeyed", unasked(writing(path), [path], "Edit"), f"writes {path}", "tools", start="files that others obey")
        for path in CASES
    ),
    row("by a tool: a new file where the settings wait for hooks", "obeyed", unasked(writing("tools/hooks/pre-commit"), ["tools/hooks/pre-commit"], "Edit"), "writes a hook that `core.hooksPath` names", "tools", start="hooks that are not there"),
    row("by a tool: the hook of the workspace", "obeyed", unasked(writing("tools/hooks/pre-commit"), ["tools/hooks/pre-commit"], "Edit"), "changes a hook that `core.hooksPath` names", "tools", start="hooks in the workspace"),
    row("by a tool: settings that are included", "obeyed", unasked(writing("tools/gitconfig"), ["tools/gitconfig"], "Edit"), "changes a file that git's settings include", "tools", start="included settings"),
    row("by a tool: a bare repository at the top", "obeyed", unasked([("Write", {"path": name, "content": "x"}) for name in ("HEAD", "config", "objects/x", "refs/x")], ["HEAD"], "Edit"), "makes the workspace a repository by HEAD, config, objects and refs", "tools", start="no repository"),
    row("by a tool: permissions.default is allow", "obeyed", unasked(writing(".envrc"), [".envrc"], default="allow"), "writes .envrc where the default is to allow", "tools", start="files that others obey"),
    row("by a tool in a folder that the editor does not trust", "unasked", unasked(writing("a.txt"), ["a.txt"], "Edit", restricted=True), "writes a file by a rule in restricted mode", "tools"),
)  # fmt: skip
