"""codelaw, with a record of the files that its calls enter.

    python entering.py RECORD [ARGUMENT...]    `codelaw ARGUMENT...`

RECORD gets the name of a file below `server/codelaw`, without its ending and one a line, when the first of its functions
is called. What runs because a module is imported does not count.
"""

from __future__ import annotations

import inspect
import sys
import threading
from pathlib import Path
from types import FrameType

from codelaw.cli import main

FOLDER = f"{Path(main.__file__).parents[1]}/"


def record(place: Path) -> None:
    """Begin the record, in this thread and in all that start from now on."""
    out = place.open("w", buffering=1)
    seen: set[str] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name not in seen and name.startswith(FOLDER) and not importing(frame):
            seen.add(name)
            out.write(f"{name.removeprefix(FOLDER).removesuffix('.py')}\n")

    threading.setprofile(watch)
    sys.setprofile(watch)


def importing(frame: FrameType | None) -> bool:
    """Whether the body of a module or of a class runs below, or is, this frame."""
    while frame is not None and frame.f_code.co_filename.startswith(FOLDER):
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    place, *sys.argv[1:] = sys.argv[1:]
    record(Path(place))
    main.entry()
