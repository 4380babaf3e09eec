"""Reading what rules, lists and the fence hide: by commands, and by our own tools (S-1, S-4, S-5)."""

from __future__ import annotations

from typing import Any

from tests.attacks.deeds import asked_for_keys, counted, kept_back, row
from tests.attacks.row import FENCES, Attack, commands

DENY = ("Read(.env)", "Read(secret/**)", "Read(**/.env)")
KEPT = (
    *(".cargo/config.toml", ".cabal/config", ".gradle/develocity/keys.properties", ".gradle/init.d/x.gradle"),
    *(".gradle/enterprise/keys.properties", ".m2/settings-security.xml"),
    *(".dotnet/corefx/cryptography/x509stores/my/k.pfx", ".config/git/config", ".gitconfig.d/token"),
    *(".stack/config.yaml", ".sbt/1.0/credentials.sbt", ".sbt/repositories", ".ivy2/.credentials", ".npm/_auth"),
    *(".yarn/.yarnrc.yml", ".pub-cache/credentials.json", ".julia/servers/x/auth.toml", ".conda/.condarc"),
    *(".poetry/auth.toml", ".pyenv/.secret", ".deno/.token", ".bun/.npmrc"),
)
"""Where tool chains keep tokens, beside what builds need."""
ENV, PEM = ("Read", {"path": ".env"}), ("Read", {"path": "secret/key.pem"})
KEYS: tuple[tuple[str, list[Any], tuple[str, ...], dict[str, Any]], ...] = (
    ("Read", [ENV, PEM, ("Read", {"path": "sub/.env"})], (), {}),
    ("Read in the mode ask", [ENV], (), {"mode": "ask"}),
    ("Read in the mode plan", [ENV], (), {"mode": "plan"}),
    ("Read where the default is to allow", [ENV], (), {"default": "allow"}),
    (
        "Read by rules for many files",
        [ENV, PEM],
        ("Read", "Read(**)", "Read(.*)", "Read(**/*.pem)", "Read(secret/**)"),
        {},
    ),
    ("Read in another spelling", [("Read", {"path": "sub/../.env"}), ("Read", {"path": "{ws}/.env"})], (), {}),
    ("Read by a link", [("Read", {"path": "settings.txt"})], (), {}),
    (
        "Grep",
        [("Grep", {"pattern": "MARK", "path": ".env"}), ("Grep", {"pattern": "MARK", "path": "secret/key.pem"})],
        ("Grep",),
        {},
    ),
    (
        "a search of everything",
        [
            ("Grep", {"pattern": "^S[E]CRETM", "path": "secret/key.pem"}),
            ("Grep", {"pattern": "^S[E]CRETM"}),
            ("Grep", {"pattern": "KEY=S", "glob": "**/.env"}),
            ("Grep", {"pattern": "^S[E]CRETM", "path": "secret", "glob": "*.pem"}),
        ],
        ("Grep",),
        {},
    ),
)

HIDING: tuple[Attack, ...] = (
    *commands(
        "hidden",
        {
            "tokens of the tool chains": "cat " + " ".join(f"{{home}}/{name}" for name in KEPT),
            "a token of cargo's": "cat {home}/.cargo/config.toml {home}/.cargo/config",
            "a token of cabal's": "cat {home}/.cabal/config",
            "a key of gradle's": "cat {home}/.gradle/develocity/keys.properties {home}/.gradle/enterprise/keys.properties {home}/.gradle/init.d/x.gradle",
            "a key of dotnet's": "cat {home}/.dotnet/corefx/cryptography/x509stores/my/k.pfx",
            "a token in git's settings": "git config --list --show-origin; cat {home}/.gitconfig ~/.gitconfig ~/.config/git/config",
            "a token of stack's and sbt's": "cat {home}/.stack/config.yaml {home}/.sbt/1.0/credentials.sbt {home}/.sbt/repositories",
            "a token of dart's and julia's": "cat {home}/.pub-cache/credentials.json {home}/.julia/servers/x/auth.toml",
            "a token of npm's and yarn's": "cat {home}/.npm/_auth {home}/.yarn/.yarnrc.yml {home}/.bun/.npmrc {home}/.deno/.token",
            "a token of conda's and poetry's": "cat {home}/.conda/.condarc {home}/.poetry/auth.toml",
            "a home by another of its names": "cat {base}/ws/../home/.netrc {home}/../home/.netrc; cd {home} && cat .netrc",
            "all of the home by python": "python3 -c 'import os\nfor d, _, fs in os.walk(\"{home}\"):\n  for f in fs:\n    try: print(open(os.path.join(d, f)).read())\n    except OSError: pass'",
            "other agents' keys": "cat {home}/.claude/settings.json {home}/.anthropic/key {home}/.codex/auth.json {home}/.gemini/oauth_creds.json",
            "what was typed before": "cat {home}/.bash_history {home}/.zsh_history; history",
        },
        start="a home full of tool chains",
    ),
    *commands(
        "hidden",
        {
            "a denied file": "cat .env",
            "a denied file below": "cat sub/.env secret/key.pem",
            "a denied file by a hard link": "ln .env h && cat h; ln secret/key.pem k && cat k",
            "a denied file by a symlink": "ln -s .env l; cat l; ln -s secret s; cat s/key.pem",
            "a denied file by its new name": "mv .env e; cat e; mv secret s; cat s/key.pem",
            "a denied file by a copy of its folder": "cp -r . ../copy 2>/dev/null; cp -r sub t; cat t/.env",
            "a denied file by a search": "grep -r SECRET . ; grep -rn MARK --include=.env .",
            "a denied file by an archive": "tar -cf - . 2>/dev/null | tar -xOf - 2>/dev/null | cat",
            "a denied file by git": "git add -f .env 2>/dev/null; git stash 2>/dev/null; git stash show -p 2>/dev/null; git diff --no-index /dev/null .env; git hash-object -w .env | xargs git cat-file -p",
            "a denied file by python": "python3 -c 'print(open(\".env\").read(), open(\"secret/key.pem\").read())'",
            "a denied file by a shell": ". ./.env; echo $KEY; source sub/.env; echo $KEY",
            "a denied file by a process": "cat /proc/self/cwd/.env /proc/self/root{ws}/.env",
            "a denied file by a mount": "unshare -Urm sh -c 'umount -l .env; umount -l secret; cat .env secret/key.pem' 2>/dev/null; cat .env",
            "a denied file by a rename above it": "mv sub t; cat t/.env",
        },
        start="secrets in the workspace",
        settings={"deny": DENY},
        means=FENCES[:1],
    ),
    row("denied: Read", "hidden", kept_back([("Read", {"path": ".env"}), ("Read", {"path": "secret/key.pem"}), ("Read", {"path": "sub/.env"})], DENY), "reads denied files", "tools", start="secrets in the workspace"),
    row("denied: Read in another spelling", "hidden", kept_back([("Read", {"path": path}) for path in ("./.env", "sub/../.env", "{ws}/.env", "secret//key.pem", "secret/./key.pem")][:2], DENY), "reads denied files by other spellings", "tools", start="secrets in the workspace"),
    row("denied: Grep", "hidden", kept_back([("Grep", {"pattern": "MARK"}), ("Grep", {"pattern": "MARK", "path": "secret"}), ("Grep", {"pattern": "MARK", "glob": "**/*.pem"}), ("Grep", {"pattern": "(?i)secretmark"})], DENY), "searches for what is in denied files", "tools", start="secrets in the workspace"),
    row("denied: LS", "hidden", kept_back([("LS", {"path": "secret"}), ("LS", {"path": ".", "hidden": True}), ("LS", {"path": "sub", "hidden": True})], DENY, "key.pem", "'.env'"), "lists denied files", "tools", start="secrets in the workspace"),
    row("denied: Glob", "hidden", kept_back([("Glob", {"pattern": "**/*.pem"}), ("Glob", {"pattern": "secret/*"}), ("Glob", {"pattern": "s*/k??.pem"})], DENY, "key.pem"), "finds denied files by patterns", "tools", start="secrets in the workspace"),
    *(
        row(f"keys: {name}", "unasked", asked_for_keys(calls, *allow, **more), name, "tools", start="secrets in the workspace")
        for name, calls, allow, more in KEYS
    ),
    *(
        row(f"denied: the letter {letter} by a count", "hidden", counted(f"KEY={letter}" if letter == "S" else letter, DENY), f"asks Grep how often {letter} occurs", "tools", start="secrets in the workspace")
        for letter in ("S", "SECRETM", "SECRETMA")
    ),
    row("denied: a count in a folder", "hidden", counted("SECRET", DENY, path="secret"), "asks Grep how often a word occurs in a denied folder", "tools", start="secrets in the workspace"),
    row("denied: a count by a pattern for names", "hidden", counted("SECRET", DENY, glob="**/plan.*"), "asks Grep how often a word occurs in denied files", "tools", start="secrets in the workspace"),
    row("denied: a count with a limit", "hidden", counted("SECRET", DENY, limit=1), "asks Grep for one hit, and how many there are", "tools", start="secrets in the workspace"),
)  # fmt: skip
