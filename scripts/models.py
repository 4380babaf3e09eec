# ruff: noqa: INP001
"""Make server/codelaw/data/models.json from the price list of the Python package `litellm` (MIT).

    pip download --no-deps litellm && python scripts/models.py litellm-*.whl

Facts alone are carried over: windows, output limits, prices, whether a model sees pictures. What
scripts/models_overlay.json says about a model stands against the list: the windows codelaw works in, models that the
list does not know, and under `seeing` the names of those of which it does not say that they see. The list fills in the
prices that are missing there. Equal sources give equal bytes. Where the overlay and the list differ, that is printed.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "server" / "codelaw" / "data" / "models.json"
OVERLAY = ROOT / "scripts" / "models_overlay.json"
LIST = "litellm/model_prices_and_context_window_backup.json"

sys.path.insert(0, str(ROOT / "server"))

from codelaw.adapters.models.catalog import RELEASE, find  # noqa: E402

Row = dict[str, Any]

PROMPT = 64_000
"""Tokens of the prompt whose price is taken where the price depends on the length: a usual step of an agent."""


@dataclass(frozen=True)
class Origin:
    """Where the list has the models of a vendor: under which of its providers, and how it spells them."""

    vendor: str
    providers: str
    names: str
    prefix: str = ""
    suffix: str = ""


_VERSION = r"(?:-v\d+)?(?::\d+)?"

# The vendor's own service first: what a later origin has too is not taken from there.
ORIGINS = (
    Origin("anthropic", "anthropic", "claude-"),
    Origin("openai", "openai", r"gpt-|o\d|chat-|codex", "(?:openai/)?"),
    Origin("google", "gemini", "gemini-|gemma-", "(?:gemini/)?"),
    Origin("google", "vertex_ai-language-models vertex_ai", "gemini-", "(?:vertex_ai/)?"),
    Origin("deepseek", "deepseek", "deepseek-", "(?:deepseek/)?"),
    Origin("qwen", "dashscope", "qwen|qwq", "dashscope/"),
    Origin("moonshot", "moonshot", "kimi|moonshot", "moonshot/"),
    Origin("zai", "zai", "glm", "zai/"),
    Origin("zai", "bigmodel", "glm", "bigmodel/"),
    Origin("mistral", "mistral", "codestral|devstral|labs-|magistral|ministral|mistral|open-|pixtral", "mistral/"),
    Origin("xai", "xai", "grok", "xai/"),
    Origin("meta", "meta", "muse", "meta/"),
    Origin("meta", "meta_llama", "llama", "meta_llama/"),
    Origin("cohere", "cohere_chat", "command|c4ai"),
    Origin("ai21", "ai21", "jamba"),
    Origin("amazon", "amazon_nova", "nova", "amazon-nova/"),
    Origin("minimax", "minimax", "minimax", "minimax/"),
    Origin("bytedance", "volcengine", "doubao", "volcengine/"),
    Origin("xiaomi", "xiaomi_mimo", "mimo", "xiaomi_mimo/"),
    Origin("inception", "inception", "mercury", "inception/"),
    Origin("perplexity", "perplexity", "sonar", "perplexity/"),
    # What a vendor sells no more, or only through a cloud.
    Origin("anthropic", "bedrock_converse bedrock", r"claude-(?!instant|v\d)", r"anthropic\.", _VERSION),
    Origin("anthropic", "vertex_ai-anthropic_models", "claude-", "vertex_ai/", "(?:@.*)?"),
    Origin("amazon", "bedrock_converse", "nova", r"amazon\.", _VERSION),
    Origin("meta", "bedrock_converse bedrock", "llama", r"meta\.", _VERSION),
)

# Models that speak, draw, search or steer a robot, tuned copies, and routers between models.
_NO_CHAT = re.compile(
    r"audio|computer-use|deep-research|image|live|native|realtime|robotics|search|tts|transcribe|vision-exp"
)


def models(source: Row, overlay: list[Row], seeing: Sequence[str] = ()) -> list[Row]:
    """The rows of the data: the overlay in its order, then the others by vendor and name."""
    found = Found(overlay)
    # The shortest name is the model's, the longer ones are its releases; the newest release comes first.
    keys = sorted(sorted(source, reverse=True), key=len)
    for origin in ORIGINS:
        spelled = re.compile(rf"{origin.prefix}((?:{origin.names})[^/]*?){origin.suffix}", re.IGNORECASE)
        for key in keys:
            if source[key].get("litellm_provider") not in origin.providers.split() or _NO_CHAT.search(key):
                continue
            if (match := spelled.fullmatch(key)) and (row := _row(match[1], origin.vendor, source[key])):
                found.add(row)
    for key in keys:
        found.add_smaller(key, source[key])
    for name in map(str.lower, seeing):
        if name in found.rows:
            found.rows[name]["images"] = True
    others = [row for name, row in found.rows.items() if name not in found.ours]
    return list(found.ours.values()) + sorted(others, key=lambda row: (row["provider"], row["name"].lower()))


class Found:
    """The models found so far, by their name in lower case."""

    def __init__(self, overlay: list[Row]) -> None:
        self.ours = {row["name"].lower(): dict(row) for row in overlay}
        self.rows = dict(self.ours)

    def add(self, row: Row) -> None:
        """Add a model, unless its name leads to one with the same facts; one of ours takes the prices it lacks."""
        name, known = row["name"].lower(), self.known(row["name"])
        if known is None:
            # A release that nothing shorter stands for gives the model its name.
            row["name"] = RELEASE.sub("", row["name"])
            self.rows[row["name"].lower()] = row
        elif known in self.ours:
            if known == name and "prices" in row:
                self.ours[known].setdefault("prices", row["prices"])
        elif known != name and _facts(self.rows[known]) != _facts(row):
            self.rows[name] = row

    def add_smaller(self, key: str, facts: Row) -> None:
        """Add a cloud's spelling under which a model has a smaller window than its name promises."""
        known = self.known(key)
        if known is None or known in self.ours or known == key.lower():
            return
        row = _row(key, self.rows[known]["provider"], facts)
        if row and row["context_window"] < self.rows[known]["context_window"]:
            self.rows[key.lower()] = row

    def known(self, name: str) -> str | None:
        return find({known: row["provider"] for known, row in self.rows.items()}, name)


def differences(source: Row, overlay: list[Row]) -> list[str]:
    """What the list says otherwise about the models of the overlay."""
    reported: list[str] = []
    for ours in overlay:
        theirs = _row(ours["name"], ours["provider"], source.get(ours["name"], {}))
        for key, value in ours.items():
            if theirs and theirs.get(key, value) != value:
                reported.append(f"{ours['name']}: {key} is {value} here and {theirs[key]} in the list")
    return reported


def text(rows: list[Row], version: str) -> str:
    """The file: one model on a line."""
    head = {
        "source": f"litellm {version}, {LIST.partition('/')[2]}; facts only; see scripts/models.py",
        "licence": "MIT, Copyright (c) 2023 Berri AI",
    }
    lines = [f'  "{key}": {json.dumps(value)},\n' for key, value in head.items()]
    body = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return "{\n" + "".join(lines) + '  "models": [\n' + body + "\n  ]\n}\n"


def _facts(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "name"}


def _row(name: str, vendor: str, facts: Row) -> Row | None:
    """What the list says of a model; None when it is none to chat with or its limits are not told."""
    window, output = facts.get("max_input_tokens"), facts.get("max_output_tokens")
    if facts.get("mode") not in {"chat", "responses"} or not isinstance(window, int) or not isinstance(output, int):
        return None
    if window <= 0 or output <= 0:
        return None
    row: Row = {
        "name": name,
        "provider": vendor,
        "context_window": window,
        "max_output": min(output, window),
        "tools": facts.get("supports_function_calling") is True,
        "caching": facts.get("supports_prompt_caching") is True
        or bool(_priced(facts).get("cache_read_input_token_cost")),
        "images": facts.get("supports_vision") is True,
    }
    return row | ({"prices": prices} if (prices := _prices(_priced(facts))) else {})


def _priced(facts: Row) -> Row:
    """Where the prices stand: in the model's facts, or in the tier of its tiers that holds for a usual prompt."""
    for tier in facts.get("tiered_pricing") or ():
        low, high = tier.get("range") or (0, 0)
        if low <= PROMPT < high:
            return tier
    return facts


def _prices(facts: Row) -> Row | None:
    """US dollars per million tokens; None when the list has none, or says that nothing is to be paid."""
    paid = facts.get("input_cost_per_token")
    answered = facts.get("output_cost_per_token")
    if not paid or not answered:
        return None
    read = facts.get("cache_read_input_token_cost") or paid
    write = facts.get("cache_creation_input_token_cost") or paid
    each = {"input": paid, "output": answered, "cache_read": min(read, paid), "cache_write": write}
    return {kind: _plain(round(price * 1_000_000, 6)) for kind, price in each.items()}


def _plain(price: float) -> float:
    return int(price) if price == int(price) else price


def read(path: Path) -> tuple[Row, str]:
    """The list, and the version of the package, from the wheel or from the JSON taken out of it."""
    if path.suffix != ".whl":
        return json.loads(path.read_text(encoding="utf-8")), "of an unknown version"
    with zipfile.ZipFile(path) as wheel:
        return json.loads(wheel.read(LIST)), path.name.split("-")[1]


def main(arguments: list[str]) -> int:
    """Write the data; a second argument names another file to write."""
    if len(arguments) not in {1, 2}:
        print("usage: python scripts/models.py WHEEL_OR_JSON [TARGET]", file=sys.stderr)  # noqa: T201
        return 2
    target = Path(arguments[1]) if len(arguments) > 1 else TARGET
    source, version = read(Path(arguments[0]))
    ours = json.loads(OVERLAY.read_text(encoding="utf-8"))
    overlay: list[Row] = ours["models"]
    rows = models(source, overlay, ours["seeing"])
    target.write_text(text(rows, version), encoding="utf-8", newline="\n")
    for line in differences(source, overlay):
        print(line)  # noqa: T201
    print(f"{target}: {len(rows)} models, {target.stat().st_size} bytes")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
