"""Names that models give arguments by habit, read as the declared ones where only one can be meant (T-11)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from pydantic import BaseModel

_HABITS: dict[str, str] = {
    "path": (
        "file_path filepath file_name filename file target_file target_path absolute_path relative_path pathname "
        "dir_path directory_path folder_path directory dir folder search_path"
    ),
    "old_string": "old_str old_text old_content old_code old search search_string search_text find original_text",
    "new_string": "new_str new_text new_content new_code new replace replacement replace_string replace_with",
    "replace_all": "all all_occurrences replace_all_occurrences",
    "edits": "changes replacements operations",
    "content": "contents text file_text file_content",
    "command": "cmd script shell_command bash_command",
    "pattern": "query regex regexp glob glob_pattern search search_pattern pattern_string",
    "query": "question search search_query search_text search_term pattern text keywords q",
    "glob": "include file_pattern include_pattern glob_pattern",
    "start_line": "line_start from_line first_line",
    "limit": "max_results max_count head_limit max_lines num_lines line_count",
    "hidden": "show_hidden include_hidden",
    "todos": "todo todo_list items tasks",
    "status": "state",
    "text": "memory fact content",
    "name": "tool tool_name",
    "arguments": "args parameters params input tool_input tool_arguments",
}
"""The names that models give an argument, by its own name. What would need another value is not among them: a
`timeout` may be in seconds, an `offset` may count from zero."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class RenamedArguments:
    """Arguments under the names that the tool declares, in the order and with the values that were given."""

    arguments: Mapping[str, Any]
    renamed: tuple[tuple[str, str], ...] = ()
    """As written and as declared, each pair once."""

    @property
    def reported(self) -> str:
        """What the model is told of it; empty where every name was right."""
        pairs = ", ".join(f"`{written}` as `{meant}`" for written, meant in self.renamed)
        return f"Argument names: took {pairs}." if pairs else ""


def named(declared: type[BaseModel], arguments: Mapping[str, Any]) -> RenamedArguments:
    """The arguments with every name that can mean only one declared argument replaced by that argument's name.

    Where an argument is given under two names both stay as they are, for the validation to refuse.
    """
    fields = declared.model_fields
    meant = {name: name if name in fields else _meant(name, fields) for name in arguments}
    times = Counter(meant.values())
    names = {name: to if times[to] == 1 else name for name, to in meant.items()}
    renamed = {(name, to): None for name, to in names.items() if name != to}
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        field = fields.get(names[name])
        given[names[name]], inside = (value, ()) if field is None else _items(field.annotation, value)
        renamed |= dict.fromkeys(inside)
    return RenamedArguments(given, tuple(renamed))


def _meant(name: str, fields: Mapping[str, object]) -> str:
    """The one field that a foreign name stands for; the name itself where there is none, or several."""
    snake = _CAPITAL.sub("_", name).replace("-", "_").lower()
    if snake in fields:
        return snake
    candidates = [field for field in fields if snake in _HABITS.get(field, "").split()]
    return candidates[0] if len(candidates) == 1 else name


def _items(annotation: object, value: Any) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """A list of objects with their names replaced; any other value as it is."""
    model = next((one for one in get_args(annotation) if isinstance(one, type) and issubclass(one, BaseModel)), None)
    if model is None or not isinstance(value, list):
        return value, ()
    read = [
        named(model, cast("Mapping[str, Any]", item)) if isinstance(item, Mapping) else item
        for item in cast("list[Any]", value)
    ]
    renamed = {pair: None for item in read if isinstance(item, RenamedArguments) for pair in item.renamed}
    return [item.arguments if isinstance(item, RenamedArguments) else item for item in read], tuple(renamed)
