# ruff: noqa: INP001
"""Write the table of docs/settings.md from what `codelaw schema` says of the settings.

    .venv/bin/python scripts/settings.py [--check]

With `--check` nothing is written; the exit status is 1 where the table is another.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
BEGIN = "<!-- what `codelaw schema` says of the settings; `python3 dev.py fix` writes it -->\n"
END = "<!-- until here -->\n"


def rows(schema: dict[str, Any], group: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Dotted key, default and description of each setting below a group."""
    for name, field in group["properties"].items():
        inner = schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {})
        if inner.get("properties"):
            yield from rows(schema, inner, f"{prefix}{name}.")
        else:
            default = field.get("default")
            shown = "" if default in (None, [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"
            yield f"`{prefix}{name}`", shown, field.get("description", "")


def table(schema: dict[str, Any]) -> str:
    """The table in Markdown."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows(schema, schema)]
    return "\n".join(("| key | default | |", "|---|---|---|", *lines)) + "\n"


def page(text: str, schema: dict[str, Any]) -> str:
    """The page with its table written anew."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table(schema)}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write, or check; gives the exit status."""
    printed = subprocess.run([sys.executable, "-m", "codelaw", "schema"], capture_output=True, check=True).stdout
    old = PAGE.read_text("utf-8")
    new = page(old, json.loads(printed)["settings"])
    if "--check" in sys.argv:
        return int(old != new)
    PAGE.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
