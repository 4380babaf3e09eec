"""What of a home folder a sandboxed command may read, and what nobody's command may (S-4).

The home is hidden as a whole, because nobody can list the places where programs keep secrets; what builds need of it
is laid back, read-only. Within what is laid back, and within a workspace that holds a home folder, the known secrets
are hidden one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

KEPT: tuple[str, ...] = (
    # Programs that users install for themselves, and the run-times behind them.
    *("bin", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise"),
    *(".local/share/pnpm", ".local/share/fnm", ".local/share/rtx", ".local/share/virtualenvs"),
    *(".local/share/containers/cache", ".pyenv", ".rye", ".poetry", ".virtualenvs", ".conda", "miniconda3"),
    *("anaconda3", "miniforge3", "mambaforge", ".nvm", ".fnm", ".volta", ".asdf", ".bun", ".deno", ".nodenv", ".n"),
    *(".rbenv", ".rvm", ".gem", ".bundle/cache", ".sdkman", ".jenv", ".jdks", ".juliaup", ".julia", ".ghcup"),
    *(".stack", ".cabal", ".opam", ".elan", ".mix", ".hex/packages", ".nix-profile", ".nix-defexpr", ".dotnet"),
    *(".nuget/packages", ".cargo", ".rustup", "go", "sdk", ".swiftpm/cache", ".pub-cache", "flutter", ".linuxbrew"),
    # What was downloaded before: without a network a build finds its dependencies here or nowhere.
    *(".m2", ".gradle", ".ivy2", ".sbt", ".coursier", ".npm", ".yarn", ".pnpm-store", ".node-gyp"),
    *(".cache/pip", ".cache/pypoetry", ".cache/pre-commit", ".cache/ms-playwright", ".cache/Cypress"),
    *(".cache/puppeteer", ".cache/yarn", ".cache/node", ".cache/coursier", ".cache/huggingface/hub", ".cache/torch"),
    # How the user's programs behave, where that says no secret.
    *(".config/pip/constraints.txt", ".config/git/ignore", ".config/git/attributes", ".gitignore", ".gitattributes"),
    *(".gitignore_global", ".editorconfig", ".clang-format", ".rustfmt.toml", ".tool-versions"),
)
"""Places in a home folder that are laid back. Git's own settings are copied without what looks like a password."""

SECRETS: tuple[str, ...] = (
    # Keys and tokens by the program that keeps them.
    *(".ssh", ".gnupg", ".pki", ".password-store", ".aws", ".azure", ".oci", ".kube", ".minikube", ".docker"),
    *(
        ".config/gcloud",
        ".config/gh",
        ".config/glab-cli",
        ".config/hub",
        ".config/doctl",
        ".config/op",
        ".config/rclone",
    ),
    *(".config/containers", ".config/helm", ".config/git/credentials", ".config/sops", ".config/age", ".config/heroku"),
    *(".terraform.d", ".terraformrc", ".vault-token", ".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".pgpass"),
    *(".my.cnf", ".mylogin.cnf", ".git-credentials", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".boto", ".s3cfg"),
    *(".config/pip/pip.conf", ".pip/pip.conf", ".config/uv", ".local/share/uv/credentials", ".gem/credentials"),
    *(".bundle/config", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml"),
    *(".m2/settings-security.xml", ".gradle/gradle.properties", ".gradle/init.gradle", ".gradle/init.d"),
    *(".ivy2/.credentials", ".sbt/.credentials", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet"),
    *(".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".huggingface", ".hex/hex.config", ".keras"),
    *(".config/gopass", ".local/share/gopass", ".local/share/keyrings", ".local/share/kwalletd", ".secrets", ".step"),
    *(".config/github-copilot", ".config/configstore", ".config/jgit", ".config/Bitwarden", ".config/1Password"),
    *(".databrickscfg", ".snowflake", ".snowsql", ".kaggle", ".fly", ".railway", ".netlify", ".wrangler", ".cf"),
    # Other agents, and their keys.
    *(".anthropic", ".claude", ".claude.json", ".codex", ".gemini", ".aider.conf.yml", ".config/openai", ".continue"),
    *(".config/anthropic", ".config/goose", ".config/opencode", ".local/share/opencode", ".cursor", ".windsurf"),
    # What was typed, opened and visited.
    *(".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".local/share/fish", ".python_history"),
    *(".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".lesshst"),
    *(".viminfo", ".wget-hsts", ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium"),
    *(".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".config/Code"),
    *(".config/Slack", ".config/Signal", ".config/discord", "Library/Keychains", "Library/Application Support"),
    # What would run the next time the user logs in.
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile"),
    *(".config/autostart", ".config/systemd", ".config/fish", ".config/environment.d", ".pam_environment", ".xprofile"),
)
"""Places in a home folder that are hidden wherever they would still be seen."""

GIT_SETTINGS = (".gitconfig", ".config/git/config")
_TOOL_VARIABLES = re.compile(
    r"VIRTUAL_ENV|CONDA_PREFIX|JAVA_HOME|GOROOT|GOPATH|GOMODCACHE|CARGO_HOME|RUSTUP_HOME|PYENV_ROOT|NVM_DIR|NVM_BIN"
    r"|PNPM_HOME|M2_HOME|MAVEN_HOME|GRADLE_HOME|GRADLE_USER_HOME|RBENV_ROOT|PIPX_HOME|PIPX_BIN_DIR|UV_PYTHON_INSTALL_DIR"
)
_BIN = frozenset({"bin", "sbin", "shims", "condabin"})
_TELLING = re.compile(
    r"extraheader|password|passwd|token|secret|authorization|cookie|credential|://[^/\s]*@|^\s*\[\s*credential",
    re.IGNORECASE,
)


def kept_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """What of `home` is laid back: the known places, and those that PATH and the tools' own variables name."""
    named = [home / name for name in KEPT]
    found = [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if Path(entry).is_absolute()]
    found = [_tool_root(entry, home) for entry in found]
    found += [
        Path(value)
        for name, value in environment.items()
        if _TOOL_VARIABLES.fullmatch(name) and Path(value).is_absolute()
    ]
    secrets = [home / name for name in SECRETS]
    return [
        *named,
        *(
            place
            for place in found
            if home in place.parents
            and place not in named
            and ".." not in place.parts
            # Who put `~/.aws/bin` on PATH shall have that folder and not what lies beside it.
            and not any(place == secret or place in secret.parents for secret in secrets)
        ),
    ]


def git_settings(text: str) -> str:
    """A user's git settings without the lines that look like a password, and without sections for credentials."""
    kept: list[str] = []
    silent = False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            silent = _TELLING.search(line) is not None
        if not silent and not _TELLING.search(line):
            kept.append(line)
    return "\n".join(kept) + "\n"


def _tool_root(entry: Path, home: Path) -> Path:
    """`~/tool` for `~/tool/bin`, else the folder itself."""
    parent = entry.parent
    if entry.name in _BIN and home in parent.parents and parent.name not in {".local", ".config", ".cache"}:
        return parent
    return entry
