"""Packages that not every installation has: which are missing, what that changes, and the command that adds them."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from codelaw.ranking.code.symbols import PACKAGES


@dataclass(frozen=True, slots=True)
class Extra:
    """Packages that one part of codelaw needs, and what is different without them."""

    modules: tuple[str, ...]
    """As they are imported; a package is called like its module, with dashes."""
    without: str


EXTRAS = {
    "grammars": Extra(PACKAGES, "the code search tells what code of these languages defines by how its lines begin"),
    "mcp": Extra(("mcp",), "servers of the Model Context Protocol do not start"),
    "openai": Extra(("openai",), "models behind the APIs of OpenAI cannot be asked"),
    "local": Extra(("safetensors", "tokenizers"), '`embedding.provider = "local"` does not work'),
    "postgresql": Extra(("psycopg",), "`store.url` cannot name a PostgreSQL database"),
    "tokenizer": Extra(("tiktoken",), "tokens of models of other vendors are estimated"),
}


def missing(name: str) -> list[str]:
    """The modules of an extra that cannot be imported. Imports the others, which can take a second."""
    return [module for module in EXTRAS[name].modules if not _is_there(module)]


def adding(name: str) -> str:
    """The shell command that adds an extra, or what is missing of it, to the environment this process runs in.

    It names the packages themselves, as codelaw's own metadata bound them: codelaw is in no package index, and its
    name there could be anybody's.
    """
    wanted = shlex.join(_requirements(missing(name) or list(EXTRAS[name].modules)))
    if (Path(sys.prefix) / "pipx_metadata.json").is_file():
        return f"pipx inject {shlex.quote(Path(sys.prefix).name)} {wanted}"
    python = shlex.quote(sys.executable)
    install = f"{python} -m pip install {wanted}"
    # The extension takes pip out of the environment that it makes.
    return install if importlib.util.find_spec("pip") else f"{python} -m ensurepip && {install}"


def _is_there(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _requirements(modules: list[str]) -> list[str]:
    """Each package with its bounds; by its name alone where codelaw runs without being installed."""
    try:
        lines = metadata.requires("codelaw") or []
    except metadata.PackageNotFoundError:
        lines = []
    wanted = [line.partition(";")[0].strip() for line in lines]
    bound = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower(): line for line in wanted}
    names = [module.replace("_", "-") for module in modules]
    return [bound.get(name, name) for name in names]
