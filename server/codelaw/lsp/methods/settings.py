"""`codelaw/settings/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import models as wire
from codelaw.protocol.chats import Notice

if TYPE_CHECKING:
    from codelaw.lsp.context import Context


async def read(context: Context, _params: wire.ReadSettings) -> wire.SettingsReport:
    effective = context.configuration.effective
    described = effective.describe()["settings"]
    return wire.SettingsReport(
        settings={key: wire.Setting.model_validate(entry) for key, entry in described.items()},
        problems=[Notice.of(item) for item in (*effective.problems, *await context.session.permissions.rule_notices())],
        faults=[
            wire.SettingsFault(message=str(one), uri=one.file.as_uri() if one.file else None, line=one.line)
            for one in (*effective.faults, *effective.stale)
        ]
        or None,
    )


HANDLERS = {
    "codelaw/settings/read": read,
}
