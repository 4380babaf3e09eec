"""Every word said to a model comes from a template in `prompts/`, rendered here."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def prompts_folder() -> Path:
    """Where the templates lie: inside the installed package, or beside `server/` in a checkout."""
    packaged = Path(str(resources.files("codelaw"))) / "prompts"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "prompts"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - not needed to answer `initialize`

    return Environment(
        loader=FileSystemLoader(prompts_folder()),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - the reader is a language model, not a browser
    )


def render(name: str, **values: Any) -> str:
    """The template `prompts/<name>.md` with `values`, without leading or trailing blank lines.

    Raises:
        jinja2.UndefinedError: the template uses a value that was not given.
    """
    return _environment().get_template(f"{name}.md").render(**values).strip("\n")


def preload() -> None:
    """Read and compile every template. Touches the disk, so that `render` later does not."""
    environment = _environment()
    for name in environment.list_templates(extensions=["md"]):
        environment.get_template(name)
