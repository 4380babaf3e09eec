"""Whether what a server of the user's own runs lies in a workspace, so that it starts in the sandbox (X-3).

`permissions/command_files` reads its words. A file that is named counts, whatever it is for; a folder counts where
something may be run of it, and is data elsewhere. What a program outside names by itself is not seen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from codelaw.domain.served import Program
from codelaw.permissions.command_files import TOO_MANY, files_of_program
from codelaw.ports.leading import leads_over, looked_up

_MOST_PLACES = 8


def runs_from(program: Program, folders: Sequence[Path], environment: Mapping[str, str]) -> bool:
    """Whether a program, or what it loads, lies in one of `folders`, as far as its words and variables tell.

    `environment` is what it gets beside its own variables. Touches the disk.
    """
    around = {"HOME": "/", **environment, **program.env}
    words = (program.command, *program.args)
    places = [str(program.cwd or around["HOME"])]
    entries = around.get("PATH", os.defpath)
    for place in places:
        files = files_of_program(words, place, program.env, around)
        started = (one for name in files.programs for one in looked_up(name, entries, places[0]))
        folded = [path for path in (*files.loaded, *files.folders) if os.path.isdir(path)]  # noqa: PTH112 - never raises
        lying = (path for path in files.named if leads_over(path, folders) and not os.path.isdir(path))  # noqa: PTH112 - as above
        said = "\n".join((*words, *program.env.values()))
        if (
            files.unknown == TOO_MANY
            or any(leads_over(path, folders) for path in (place, *files.loaded, *files.folders, *started))
            or any(os.path.lexists(path) or path in said or os.path.relpath(path, place) in said for path in lying)
        ):
            return True
        # A shell may go there first.
        places += [path for path in dict.fromkeys(folded) if path not in places][: _MOST_PLACES - len(places)]
    return False
