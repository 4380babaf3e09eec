"""How commands run under the settings (T-6, S-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.web.fetching import WebFetcher
from codelaw.app.ruling import limits_of_commands, withheld_from_commands

if TYPE_CHECKING:
    from codelaw.adapters.crash_journal.crash_journal import CrashJournal
    from codelaw.adapters.processes.sandbox import Sandbox
    from codelaw.domain.files import Folder
    from codelaw.settings import Settings


def web_of(settings: Settings) -> WebFetcher | None:
    """What fetches pages, under the network's rule for commands; None where that lets nothing be reached."""
    network = settings.tools.bash.network
    return WebFetcher(network if isinstance(network, bool) else tuple(network)) if network else None


async def processes_of(
    settings: Settings,
    environment: Mapping[str, str],
    sandbox: Sandbox,
    folders: Sequence[Folder],
    *,
    leftovers: CrashJournal,
) -> LocalProcesses:
    """What runs commands as those settings say: in the sandbox unless it is switched off."""
    bash = settings.tools.bash
    off = bash.sandbox == "off"
    return LocalProcesses(
        environment,
        sandbox=None if off else sandbox,
        means=None if off else await sandbox.means(),
        network=bash.network if isinstance(bash.network, bool) else tuple(bash.network),
        withheld=withheld_from_commands(settings, folders),
        limits=await limits_of_commands(bash),
        leftovers=leftovers,
    )
