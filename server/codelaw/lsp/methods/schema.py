"""The wire types as one JSON Schema document: `codelaw schema`, and the source of the TypeScript types."""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from codelaw.domain.errors import RefusalCode
from codelaw.lsp.methods.handlers import COMMANDS, METHODS
from codelaw.protocol import lending, services
from codelaw.protocol.base import Payload
from codelaw.protocol.events import ChatEventPayload
from codelaw.protocol.models import ModelChanged
from codelaw.protocol.names import (
    APPROVAL_REQUEST,
    CHAT_EVENT,
    EDITOR_DEFINITION,
    EDITOR_DIAGNOSTICS,
    EDITOR_MODEL,
    EDITOR_MODELS,
    EDITOR_OUTLINE,
    EDITOR_QUICK_FIX,
    EDITOR_REFERENCES,
    EDITOR_RENAME,
    EDITOR_SAVE,
    EDITOR_SYMBOLS,
    EDITOR_TERMINAL,
    EDITOR_TOOL,
    EDITOR_TOOLS,
    EDITOR_TRUST,
    MODEL_CHANGED,
    VERSION,
    command_name,
)
from codelaw.protocol.permissions import ApprovalReply, ApprovalRequest, EditorTrust

REQUESTS: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    APPROVAL_REQUEST: (ApprovalRequest, ApprovalReply),
    EDITOR_SAVE: (services.SaveDocuments, services.AnyReply),
    EDITOR_DIAGNOSTICS: (services.AskDiagnostics, services.DiagnosticsReply),
    EDITOR_DEFINITION: (services.AskPlace, services.LocationsReply),
    EDITOR_REFERENCES: (services.AskPlace, services.LocationsReply),
    EDITOR_RENAME: (services.AskRename, services.RenameReply),
    EDITOR_QUICK_FIX: (services.AskFixes, services.QuickFixReply),
    EDITOR_SYMBOLS: (services.AskSymbols, services.SymbolsReply),
    EDITOR_OUTLINE: (services.AskOutline, services.OutlineReply),
    EDITOR_TERMINAL: (services.AskTerminal, services.TerminalReply),
    EDITOR_MODELS: (lending.AskModels, lending.LentModels),
    EDITOR_MODEL: (lending.AskModel, lending.ModelAnswer),
    EDITOR_TOOLS: (lending.AskTools, lending.LentTools),
    EDITOR_TOOL: (lending.AskTool, lending.ToolAnswer),
}
"""From server to client: params and result."""


def schema() -> dict[str, Any]:
    """`$defs` holds every type by name; `methods`, `commands` and what comes from the server point into it."""
    roots: dict[str, type[BaseModel]] = {}
    for method in (*METHODS.values(), *COMMANDS.values()):
        for model in (method.params, method.result, method.started):
            if model is not None:
                roots[model.__name__] = model
    for model in (
        ChatEventPayload,
        EditorTrust,
        ModelChanged,
        lending.LentPart,
        lending.LentToolFacts,
        *(model for pair in REQUESTS.values() for model in pair),
    ):
        roots[model.__name__] = model
    _, document = models_json_schema(
        [(model, "validation") for model in roots.values()], ref_template="#/$defs/{model}"
    )
    definitions = cast("dict[str, dict[str, Any]]", document["$defs"])
    sent = _sent_names()
    for name, definition in definitions.items():
        for spec in definition.get("properties", {}).values():
            spec.pop("title", None)
        if name in sent:
            _spell_optional(definition)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "codelaw wire protocol",
        "version": VERSION,
        "methods": {
            name: {
                "command": command_name(name),
                "params": _ref(method.params),
                "result": _ref(method.result),
                "commandResult": _ref(method.started or method.result),
            }
            for name, method in METHODS.items()
        },
        "commands": {
            name: {"params": _ref(command.params), "result": _ref(command.result)} for name, command in COMMANDS.items()
        },
        "notifications": {
            CHAT_EVENT: {"params": _ref(ChatEventPayload)},
            MODEL_CHANGED: {"params": _ref(ModelChanged)},
        },
        "clientNotifications": {EDITOR_TRUST: {"params": _ref(EditorTrust)}},
        "requests": {
            name: {"params": _ref(params), "result": _ref(result)} for name, (params, result) in REQUESTS.items()
        },
        "refusals": list(RefusalCode.__args__),
        "$defs": definitions,
    }
    # What copies a class of the domain is called by its name on the wire.
    plain = json.loads(json.dumps(document).replace('Payload"', '"'))
    return plain | {"$defs": dict(sorted(plain["$defs"].items()))}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/$defs/{model.__name__}"}


def _sent_names() -> set[str]:
    """Names of every type that we send."""
    names: set[str] = set()
    waiting: list[type[Payload]] = [Payload]
    while waiting:
        for model in waiting.pop().__subclasses__():
            names.add(model.__name__)
            waiting.append(model)
    return names


def _spell_optional(definition: dict[str, Any]) -> None:
    """What we send leaves an absent value out: its schema says so, instead of offering null. Constants are required."""
    properties = cast("dict[str, dict[str, Any]]", definition.get("properties", {}))
    required: list[str] = []
    for name, spec in properties.items():
        if spec.get("default", ...) is not None:
            required.append(name)
            spec.pop("default", None)
            continue
        del spec["default"]
        kinds = [kind for kind in spec.pop("anyOf", []) if kind != {"type": "null"}]
        if len(kinds) == 1:
            spec.update(kinds[0])
        elif kinds:
            spec["anyOf"] = kinds
    if required:
        definition["required"] = required
