"""`codelaw/model/*` and `codelaw/settings/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.methods.routing import route
from codelaw.protocol import models as wire

if TYPE_CHECKING:
    from codelaw.lsp.context import Context


@route("codelaw/model/list", wire.ListModels, wire.ModelList)
async def list_models(context: Context, _params: wire.ListModels) -> object:
    return {"models": context.session.models()}


@route("codelaw/settings/read", wire.ReadSettings, wire.SettingsReport)
async def read(context: Context, _params: wire.ReadSettings) -> object:
    effective = context.configuration.effective
    return {
        "settings": effective.describe()["settings"],
        "problems": [*effective.problems, *await context.session.permissions.rule_notices()],
        "faults": [
            wire.SettingsFault(message=str(one), uri=one.file.as_uri() if one.file else None, line=one.line)
            for one in (*effective.faults, *effective.stale)
        ]
        or None,
    }
