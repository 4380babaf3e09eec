"""Which files are not worth an index, and why (X-5, S-6)."""

from __future__ import annotations

import re

LARGEST = 1_500_000
"""Bytes of a file that is indexed."""
_LONG_LINE, _MEAN_LINE, _LOOKED_AT = 20_000, 400, 200_000
_BINARY = frozenset(
    """
    7z a avi bin bmp bz2 class db dll dylib ear eot exe flac gif gz ico iso jar jpeg jpg lib mo mov mp3 mp4 o obj ogg
    otf pack pdf png pyc pyd pyo rar rlib so sqlite svgz tar tgz tif tiff ttf war wasm wav webm webp woff woff2 xz zip
    zst
    """.split()  # noqa: SIM905 - a list of quoted words is nothing to read
)
_DATA = frozenset("csv tsv log lock map svg ipynb jsonl ndjson parquet npy pkl po pot snap".split())  # noqa: SIM905
_LOCKS = frozenset({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "composer.lock"})
_GENERATED = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|\bdo not modify\b.*\bgenerated\b|\bauto-?generated\b", re.IGNORECASE
)
_HEAD = 1_000


def by_name(path: str) -> str:
    """Why a file of this name is left out; empty where it is not."""
    name = path.rsplit("/", 1)[-1].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if suffix in _BINARY:
        return "binary"
    if suffix in _DATA or name in _LOCKS:
        return "data"
    return "minified" if ".min." in name else ""


def by_size(size: int) -> str:
    """Why a file of so many bytes is left out."""
    return "too large" if size > LARGEST else ""


def by_text(text: str) -> str:
    """Why a file with this text is left out."""
    if len(text) > LARGEST:
        return "too large"
    part = text[:_LOOKED_AT]
    longest = max(map(len, part.split("\n")))
    if longest > _LONG_LINE or (len(part) > 2_000 and len(part) / (part.count("\n") + 1) > _MEAN_LINE):
        return "minified"
    return "generated" if _GENERATED.search(text[:_HEAD]) else ""
