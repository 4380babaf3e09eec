"""How many threads numpy's matrix products may use."""

from __future__ import annotations

import ctypes
import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)
_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def bound_threads(most: int | None = None) -> int | None:
    """Leave half of the processors to the editor and the turns; gives the number set, None where that cannot be done.

    Only the OpenBLAS that comes with numpy is known here; another library keeps its own number.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    number = most or max(1, (os.cpu_count() or 2) // 2)
    for file in sorted(Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*")):
        try:
            library = ctypes.CDLL(str(file))
        except OSError as error:
            _log.debug("%s: %s", file.name, error)
            continue
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(number)
                return number
    return None
