"""Descriptors of what is bound into the sandbox, so that no name is followed twice (S-4).

A command that still runs may put a link where a folder was when the next one was drawn.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codelaw.adapters.processes.rules.areas import below_any
from codelaw.adapters.processes.rules.profile import Place, Profile
from codelaw.adapters.processes.rules.withheld import ChangedError

_SPARE = 512
"""Descriptors that the rest of the server may need."""


@contextmanager
def gripped(profile: Profile) -> Generator[tuple[Profile, list[int]]]:
    """The profile with descriptors of whatever lies in a folder that commands write, and all of these descriptors.

    They are closed when it fails inside; else whoever got them closes them. Touches the disk.

    Raises:
        ChangedError: a name is no longer what it was when it was drawn.
        OSError: there are too many.
    """
    writable = frozenset(map(str, profile.inside("write")))
    made: list[int] = []

    def gripped_one(place: Place) -> Place:
        if not below_any(place.path.parent, writable):
            return place
        made.append(_grip(place.path))
        return replace(place, descriptor=made[-1])

    _make_room(len(profile.places))
    try:
        places = tuple(gripped_one(place) if place.access in ("write", "read") else place for place in profile.places)
        yield replace(profile, places=places), made
    except BaseException:
        for descriptor in made:
            os.close(descriptor)
        raise


def _grip(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ChangedError(path) from error
    if _name_of(descriptor) == str(path):
        return descriptor
    os.close(descriptor)
    raise ChangedError(path)


def _name_of(descriptor: int) -> str:
    """Where the kernel says that it is, with no link on the way."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - it is not a path but what is told
    except OSError:
        return ""


def _make_room(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _SPARE
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
