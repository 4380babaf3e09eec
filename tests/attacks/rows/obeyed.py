"""Commands that write files which other programs obey (S-8): they are read-only, at the top and in folders below."""

from __future__ import annotations

from tests.attacks.row import FENCES, Attack, commands
from tests.attacks.starts import EDITORS, OBEYED, START_UP

WAYS = {
    "changed": "echo x > {name}",
    "appended to": "echo x >> sub/{name}",
    "renamed over": "echo x > n; mv n {name}; echo x > n; mv n sub/{name}",
    "deleted": "rm -f {name} sub/{name}",
    "linked to": "ln {name} h && echo x > h; ln -s {name} l; echo x > l",
}
FOLDERS = (".vscode", ".idea", ".husky")

CHANGED: tuple[Attack, ...] = tuple(
    row
    for name in OBEYED
    for row in commands(
        "obeyed",
        {f"{name} {how}": line.replace("{name}", name) for how, line in WAYS.items()},
        start="files that others obey",
        means=FENCES if name == ".vscode/tasks.json" else FENCES[:2],
    )
)
AT_HOME: tuple[Attack, ...] = tuple(
    row
    for name in START_UP
    for row in commands(
        "obeyed",
        {f"{name} {how}": line.split("; echo x > n; mv n sub")[0].replace("sub/{name}", "{name}").replace("{name}", name) for how, line in WAYS.items()},
        start="a home as the workspace",
        means=FENCES[:2],
    )
)  # fmt: skip
MORE: tuple[Attack, ...] = commands(
    "obeyed",
    {
        "a folder of an editor's, moved away": "mv .vscode v; mkdir .vscode; echo x > .vscode/tasks.json",
        "a new file in an editor's folder": "echo x > .vscode/launch.json; echo x > .idea/x.xml; echo x > .husky/post-commit",
        "a folder of an editor's, deleted": "rm -rf .vscode .idea .husky",
        "the files that others obey, by git": "git add -A -f >/dev/null; git stash -q; git rm -qrf --ignore-unmatch .vscode .envrc; git clean -qfdx",
        "a file that others obey, by a descriptor": "exec 9< .vscode; echo x > /proc/self/fd/9/tasks.json",
        "a file that others obey, by sed": "sed -i s/as/was/ .envrc .mcp.json .vscode/tasks.json",
        "a file that others obey, by python": 'python3 -c \'import os; os.rename("a.txt", ".envrc")\'',
        "a file that others obey, by an archive": "mkdir -p t/.vscode; echo x > t/.vscode/tasks.json; tar -C t -cf t.tar .; tar -xf t.tar",
        "the mode of a file that others obey": "chmod 777 .husky/pre-commit .envrc",
        "a file that others obey, truncated": "truncate -s 0 .envrc .pre-commit-config.yaml; : > .mcp.json",
        "files that others obey, swapped": "for n in $(seq 40); do mv .vscode v 2>/dev/null; mkdir .vscode 2>/dev/null; echo x > .vscode/tasks.json; done 2>/dev/null; true",
    },
    start="files that others obey",
)
OTHERS: tuple[Attack, ...] = (
    *commands(
        "obeyed",
        {f"{name} {how}": WAYS[how].replace("{name}", name) for name in EDITORS for how in ("changed", "renamed over")},
        start="files that more editors obey",
        means=FENCES[:1],
    ),
    *commands(
        "obeyed",
        {f"a new {name}": f"mkdir -p $(dirname {name}); echo x > {name}; echo x > n; mv n {name}" for name in EDITORS},
        start="a place for files that more editors obey",
        means=FENCES[:1],
    ),
)
NEW: tuple[Attack, ...] = commands(
    "obeyed",
    {
        f"a new {name}": f"mkdir -p $(dirname {name}); echo x > {name}; echo x > n; mv n {name}"
        for name in (".vscode/tasks.json", ".idea/workspace.xml", ".husky/pre-commit", ".envrc", ".mcp.json", ".pre-commit-config.yaml")
    }
    | {"a new .vscode in a folder that is locked then": "mkdir .vscode; echo x > .vscode/tasks.json; chmod 555 ."},
    start="a place for files that others obey",
)  # fmt: skip
OUTSIDE: tuple[Attack, ...] = commands(
    "out",
    {
        "an editor's folder that leads out": "echo x > .vscode/victim; echo x > .vscode/new; echo x > .idea/.netrc",
        "links of the repository that lead out": "echo x > file-link; echo x > folder-link/victim; cat home-link/.netrc home-link/.ssh/id_ed25519",
    },
    start="links that lead out",
)
LINKS: tuple[Attack, ...] = commands(
    "obeyed",
    {
        "a link that others obey, replaced": "rm -f .envrc sub/.envrc; echo x > .envrc; echo x > sub/.envrc",
        "a link that others obey, renamed over": "echo x > sub/n; mv sub/n sub/.envrc; mv a.txt .envrc",
        "a link that others obey, turned elsewhere": "mkdir sub/e; ln -sfn sub/e .vscode; ln -sfn ../sub/e sub/.vscode",
        "a link that others obey, moved with its folder": "mv sub s; mkdir sub; echo x > sub/.envrc",
        "a link that others obey, written through": "echo x > .envrc; echo x > sub/.vscode/tasks.json; mv kept k",
    },
    start="links that others obey",
    means=("bubblewrap",),
)
