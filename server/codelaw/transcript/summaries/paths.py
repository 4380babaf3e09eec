"""Paths in few tokens: what stands in one place is written together (K-5)."""

from __future__ import annotations

from collections.abc import Iterable

_UNFOLDABLE = frozenset(" {}\t")


def folded(paths: Iterable[str]) -> list[str]:
    """The paths, whole, in the order in which their places first appear.

    A place is the folder above a file's own, so that `a/b/{c/x.py c/y.py d/z.py}` keeps every file beside its folder.
    """
    found: list[str] = []
    for above, leaves in _places(paths).items():
        if above and len(leaves) > 1:
            found.append(_together(above, leaves))
        else:
            found.extend(f"{above}/{leaf}" if above else leaf for leaf in leaves)
    return found


def sketched(paths: Iterable[str]) -> list[str]:
    """As `folded`, but of a path without two neighbours, or outside the workspace, only the last two parts."""
    found: list[str] = []
    for above, leaves in _places(paths).items():
        # A first part with a dot in it is a host: an import path, a link.
        here = above and "." not in above.partition("/")[0].strip(".")
        found.extend([_together(above, leaves)] if here and len(leaves) > 2 else leaves)
    return found


def _together(above: str, leaves: Iterable[str]) -> str:
    return f"{above}/{{{' '.join(leaves)}}}"


def _places(paths: Iterable[str]) -> dict[str, list[str]]:
    """What lies in each place; what cannot be folded lies in the place without a name."""
    places: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        foldable = len(parts) > 2 and _UNFOLDABLE.isdisjoint(path)
        above, leaf = ("/".join(parts[:-2]), "/".join(parts[-2:])) if foldable else ("", path)
        places.setdefault(above, []).append(leaf)
    return places
