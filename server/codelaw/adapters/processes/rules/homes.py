"""What of a home folder a sandboxed command may read, and what nobody's command may (S-4).

The home is hidden as a whole, because nobody can list the places where programs keep secrets; what builds need of it
is laid back, read-only, and of each tool only the parts that hold programs and what they have downloaded: settings and
tokens lie beside them. Within a workspace that holds a home folder, the known secrets are hidden one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from codelaw.adapters.processes.rules.areas import mode_of
from codelaw.adapters.processes.rules.listings import Listings, among

_VERSIONS = "bin completions libexec plugins shims version versions"
_CONDA = "bin conda-meta condabin envs include lib libexec pkgs share shell ssl"
_TOOL = "bin include jmods jre legal lib lib64 libexec release sbin share shims"
"""What lies around a folder of programs and belongs to them."""

# Programs that users install for themselves, and the run-times behind them; what was downloaded before: without a
# network a build finds its dependencies there or nowhere.
_BY_TOOL = f"""
.asdf asdf.sh bin completions installs lib libexec plugins shims
.bun bin install/cache install/global
.cabal bin lib packages share store
.cargo .crates.toml .crates2.json .package-cache bin env git registry
.conda environments.txt envs pkgs
.coursier cache
.deno bin
.dotnet dotnet host library-packs metadata packs sdk sdk-manifests shared store templates tools
.elan bin env settings.toml toolchains
.fnm aliases node-versions
.gem jruby ruby specs
.ghcup bin cabal cache env ghc hls share stack
.gradle caches jdks native wrapper
.ivy2 cache jars local
.jenv available-plugins {_VERSIONS}
.julia artifacts bin clones compiled environments juliaup packages registries
.linuxbrew Cellar etc opt {_TOOL}
.local/pipx shared venvs
.local/share/fnm aliases node-versions
.local/share/mise installs plugins shims
.local/share/pipx py shared venvs
.local/share/rtx installs plugins shims
.local/share/uv python tools
.m2 repository wrapper
.mix archives elixir escripts
.n n {_TOOL}
.nodenv {_VERSIONS}
.npm _cacache _npx _prebuilds
.nvm alias bash_completion nvm-exec nvm.sh versions
.poetry bin lib venv
.pub-cache bin git global_packages hosted hosted-hashes
.pyenv pyenv.d {_VERSIONS}
.rbenv rbenv.d {_VERSIONS}
.rustup settings.toml toolchains update-hashes
.rvm bin config environments gems lib rubies scripts wrappers
.rye py self shims tools uv
.sbt 1.0/zinc boot launchers
.sdkman bin candidates contrib libexec src var
.stack global-project indices pantry programs setup-exe-cache setup-exe-src snapshots
.volta bin tools
.yarn berry bin cache switch
anaconda3 {_CONDA}
flutter bin packages version
go bin pkg
mambaforge {_CONDA}
miniconda3 {_CONDA}
miniforge3 {_CONDA}
"""
TOOLS: Mapping[str, tuple[str, ...]] = {
    tool: tuple(parts) for tool, *parts in map(str.split, _BY_TOOL.strip().splitlines())
}
"""By the folder of a tool, which parts of it are laid back."""


def _listed(text: str) -> tuple[str, ...]:
    """The words of a table, which are easier to look over side by side."""
    return tuple(text.split())


WHOLE = _listed(
    "bin sdk .bundle/cache .hex/packages .jdks .juliaup .local/bin .local/lib .local/share/containers/cache "
    ".local/share/pnpm .local/share/virtualenvs .nix-defexpr .nix-profile .node-gyp .nuget/packages .opam "
    ".pnpm-store .swiftpm/cache .virtualenvs .cache/Cypress .cache/coursier .cache/huggingface/hub "
    ".cache/ms-playwright .cache/node .cache/pip .cache/pre-commit .cache/puppeteer .cache/pypoetry .cache/torch "
    ".cache/yarn .agents/skills .copilot/skills .config/pip/constraints.txt .config/git/ignore "
    ".config/git/attributes .gitignore .gitattributes .gitignore_global .editorconfig .clang-format .rustfmt.toml "
    ".tool-versions"
)
"""Programs and downloads, skills of the user's, whose scripts are commands, and how the user's programs behave, where
that says no secret."""

KEPT: tuple[str, ...] = (*WHOLE, *(f"{tool}/{part}" for tool, parts in TOOLS.items() for part in parts))
"""Places in a home folder that are laid back. Of git's own settings there is a copy of what says no secret."""

# Keys and tokens by the program that keeps them; other agents; what was typed, opened and visited; what would run the
# next time the user logs in.
SECRETS = (
    "Library/Application Support",
    *_listed(
        ".ssh .gnupg .pki .password-store .aws .azure .oci .kube .minikube .docker .config/gcloud .config/gh "
        ".config/glab-cli .config/hub .config/doctl .config/op .config/rclone .config/containers .config/helm "
        ".config/git/credentials .config/sops .config/age .config/heroku .terraform.d .terraformrc .vault-token "
        ".netrc _netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf .git-credentials .npmrc .yarnrc "
        ".yarnrc.yml .pypirc .boto .s3cfg .config/pip/pip.conf .pip/pip.conf .config/uv .local/share/uv/credentials "
        ".gem/credentials .bundle/config .cargo/credentials .cargo/credentials.toml .m2/settings.xml "
        ".m2/settings-security.xml .gradle/gradle.properties .gradle/init.gradle .gradle/init.d .ivy2/.credentials "
        ".sbt/.credentials .composer/auth.json .config/composer/auth.json .nuget/NuGet .cache/huggingface/token "
        ".cache/huggingface/stored_tokens .huggingface .hex/hex.config .keras .config/gopass .local/share/gopass "
        ".local/share/keyrings .local/share/kwalletd .secrets .step .config/github-copilot .config/configstore "
        ".config/jgit .config/Bitwarden .config/1Password .databrickscfg .snowflake .snowsql .kaggle .fly .railway "
        ".netlify .wrangler .cf .cabal/config .cargo/config .cargo/config.toml .condarc .config/dart .config/nix "
        ".config/pnpm .config/pypoetry .config/yarn .dotnet/corefx .gradle/develocity .gradle/enterprise "
        ".julia/servers .npm/_logs .opam/repo/repos-config .pub-cache/credentials.json .rye/config.toml "
        ".rye/credentials .sbt/credentials .stack/config.yaml .anthropic .claude .claude.json .codex .gemini "
        ".aider.conf.yml .config/openai .continue .config/anthropic .config/goose .config/opencode "
        ".local/share/opencode .cursor .windsurf .bash_history .zsh_history .zhistory .histfile .sh_history "
        ".local/share/fish .python_history .node_repl_history .psql_history .mysql_history .sqlite_history "
        ".rediscli_history .lesshst .viminfo .wget-hsts .mozilla .thunderbird .config/google-chrome .config/chromium "
        ".config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera .config/Code .config/Slack "
        ".config/Signal .config/discord Library/Keychains .bashrc .bash_profile .bash_login .bash_logout .profile "
        ".zshrc .zshenv .zprofile .config/autostart .config/systemd .config/fish .config/environment.d "
        ".pam_environment .xprofile"
    ),
)
"""Places in a home folder that are hidden wherever they would still be seen."""

_NEVER = frozenset(
    part for name in SECRETS for part in (name, *(name[:at] for at, char in enumerate(name) if char == "/"))
)
"""Nobody's folder of programs: secrets, and what holds them."""

GIT_SETTINGS = (".gitconfig", ".config/git/config")
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "CARGO_HOME": TOOLS[".cargo"],
    "CONDA_PREFIX": _listed(_CONDA),
    "GOPATH": TOOLS["go"],
    "GRADLE_USER_HOME": TOOLS[".gradle"],
    "NVM_DIR": TOOLS[".nvm"],
    "PIPX_HOME": TOOLS[".local/share/pipx"],
    "PYENV_ROOT": TOOLS[".pyenv"],
    "RBENV_ROOT": TOOLS[".rbenv"],
    "RUSTUP_HOME": TOOLS[".rustup"],
    **{
        name: _listed(f"{more} {_TOOL}")
        for name, more in {
            "GOROOT": "VERSION api go.env misc pkg src",
            "GRADLE_HOME": "",
            "JAVA_HOME": "conf",
            "M2_HOME": "boot conf/logging",
            "MAVEN_HOME": "boot conf/logging",
            "VIRTUAL_ENV": "pyvenv.cfg",
        }.items()
    },
}
"""By the variable with which a tool says where it lies, which parts of that folder are laid back."""
_CACHES: Mapping[str, re.Pattern[str]] = {
    "GOMODCACHE": re.compile(r"cache|[\w-]+(\.[\w-]+)+"),
    "UV_PYTHON_INSTALL_DIR": re.compile(r"(cpython|graalpy|pypy)-[\w.+-]+"),
}
"""The same for folders whose parts have no fixed names."""
_PROGRAMS = ("PIPX_BIN_DIR", "NVM_BIN", "PNPM_HOME")
_BIN = frozenset({"bin", "sbin", "shims", "condabin"})
_MOST_PROGRAMS = 300
"""Entries of one folder that are laid back one by one."""


_TOPS = frozenset(name.partition("/")[0] for name in (*KEPT, *SECRETS))


def kept_places(home: Path, environment: Mapping[str, str], listings: Listings) -> list[Path]:
    """What of `home` is laid back: the known places, and those that PATH and the tools' own variables name.

    Only what is there. Touches the disk.
    """
    root, tops = f"{home}/", among(listings, str(home), _TOPS)
    found = {str(place) for place in _named_by(environment, home) if ".." not in place.parts}
    # Who put `~/.aws/bin` on PATH shall have that folder and not what lies beside it.
    kept = {f"{root}{name}" for name in KEPT if name.partition("/")[0] in tops} | {
        place for place in found if place.startswith(root) and place[len(root) :] not in _NEVER
    }
    return [Path(place) for place in sorted(kept) if os.path.lexists(place)]


def secret_places(home: Path, listings: Listings) -> list[Path]:
    """Which of the places that hold secrets `home` may have. Touches the disk."""
    tops = among(listings, str(home), _TOPS)
    names = [name for name in SECRETS if name.partition("/")[0] in tops]
    return [home / name for name in names if mode_of(f"{home}/{name}") is not None]


def _named_by(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    below = f"{home}/"
    programs = [*environment.get("PATH", "").split(os.pathsep), *(environment.get(name, "") for name in _PROGRAMS)]
    for entry in programs:
        if entry.startswith(below):
            yield from _programs(Path(entry), home)
    for name, parts in _VARIABLES.items():
        if (root := environment.get(name, "")).startswith(below):
            yield from (Path(root, part) for part in parts)
    for name, pattern in _CACHES.items():
        if (root := environment.get(name, "")).startswith(below):
            yield from (entry for entry in _entries(Path(root)) if pattern.fullmatch(entry.name))


def _programs(folder: Path, home: Path) -> Iterator[Path]:
    """A folder of programs, and what belongs to them around it; of a folder that holds other things the files alone."""
    if home not in folder.parents:
        return
    root = folder.parent
    if folder.name in _BIN:
        yield folder
        if home in root.parents and root.name not in {".local", ".config", ".cache"}:
            yield from (root / part for part in _listed(_TOOL))
        return
    entries = _entries(folder)
    if not any(entry.name.startswith(".") or os.path.isdir(entry) for entry in entries):  # noqa: PTH112 - never raises
        yield folder
    else:
        programs = [entry for entry in entries if not entry.name.startswith(".") and os.access(entry, os.X_OK)]
        yield from (entry for entry in programs if os.path.isfile(entry))  # noqa: PTH113 - never raises


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return [Path(entry.path) for entry, _ in zip(found, range(_MOST_PROGRAMS), strict=False)]
    except OSError:
        return []
