"""The scenarios' server, vendor and folder, for servers that are broken on purpose."""

from __future__ import annotations

from tests.scenarios.conftest import root, server, start, vendor  # noqa: F401 - fixtures for every test here
