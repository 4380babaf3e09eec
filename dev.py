#!/usr/bin/env python3
"""Everything a checkout needs, with nothing installed but Python 3.11.

    python3 dev.py chat "Where is the history compressed? @README.md"
    python3 dev.py setup                       make everything ready, without running anything
    python3 dev.py fix                         format, repair what lint can, write what is generated
    python3 dev.py test                        the whole check but the long tests: minutes
    python3 dev.py test tests/cli docs/rules.md    what these files need: seconds
    python3 dev.py test --all                  everything, with the long tests and the real editors
    python3 dev.py test --bare                 the tests as on a machine that has next to nothing
    python3 dev.py test tests/cli -- -k trust -x   what follows `--` goes to pytest
    python3 dev.py workbench [-- VITEST ARGUMENTS]
    python3 dev.py injection                   a public suite of injections, with a model that obeys them: minutes
    python3 dev.py vsix

All make `.venv` beside this file when it is missing, install the locked packages into it when a lock changed, and then
run. A path after `test` is a test (`FILE::NAME` too), a source of the server or of the extension, or a document; a file
of tests that is named runs whole. What cannot run on this machine is skipped, and the last lines name it. `--bare`
leaves on PATH what Debian calls essential, Python and git, and becomes an ordinary user where it is started by root; it
takes paths too. `vsix` packs the extension, with the server in it, into `dist/`. `workbench` runs the tests of
the extension in a real editor, for which it needs Chromium. `lock` writes the locks anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.dev.bare import bare
from scripts.dev.base import BIN, CLIENT, ROOT, Problem, Unavailable, npm, run, say
from scripts.dev.environment import (
    DEV_LOCK,
    RUNTIME_LOCK,
    install,
    install_client,
    install_editor,
    install_injection,
    lock,
)
from scripts.dev.packing import vsix
from scripts.dev.running import Outcome, relative, report, run_all, unavailable
from scripts.dev.stages import TESTS, of_paths, whole

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chat(arguments: Sequence[str]) -> int:
    """One question (or, without a text, a conversation) about this checkout, or about `--workspace DIR`."""
    install(RUNTIME_LOCK)
    named = any(part == "--workspace" or part.startswith("--workspace=") for part in arguments)
    return run([BIN / "codelaw", "chat", *arguments, *([] if named else ["--workspace", ROOT])])


def setup() -> int:
    """Install all that `test` and `fix` need."""
    install(DEV_LOCK)
    install_client()
    say("ready: `python3 dev.py test` checks everything")
    return 0


def fix() -> int:
    """Write what is generated, format, repair what lint can repair; gives 1 where something is left for a person."""
    install(DEV_LOCK)
    install_client()
    commands = [
        (npm("run", "--silent", "types"), CLIENT),
        ([BIN / "python", "scripts/settings.py"], ROOT),
        ([BIN / "ruff", "check", "--fix", "."], ROOT),
        ([BIN / "ruff", "format", "."], ROOT),
        (npm("exec", "--", "eslint", ".", "--fix", "--max-warnings", "0"), CLIENT),
        (npm("run", "--silent", "format"), CLIENT),
    ]
    return max(run(command, folder) != 0 for command, folder in commands)


def test(paths: Sequence[str], pytest: Sequence[str], *, everything: bool) -> int:
    """The stages that the paths need, or all of them; runs them all and fails if one failed."""
    install(DEV_LOCK)
    stages = of_paths(relative(paths, Path.cwd()), pytest) if paths else whole(everything=everything, pytest=pytest)
    missing: list[Outcome] = []
    if any(stage.client for stage in stages):
        try:
            install_client()
        except Unavailable as reason:
            missing.append(unavailable("client", reason))
            stages = [stage for stage in stages if not stage.client]
    if everything and not paths:
        try:
            install_injection()
        except Unavailable as reason:
            missing.append(unavailable("injection", reason))
    outcomes = [*missing, *run_all(stages)]
    if everything and not paths:
        outcomes.append(drive([]))
    return report(outcomes)


def test_bare(paths: Sequence[str], pytest: Sequence[str]) -> int:
    """The tests that the paths need, or all but the long ones, on a machine that has next to nothing."""
    install(DEV_LOCK)
    stages = of_paths(relative(paths, Path.cwd()), pytest) if paths else whole(everything=False, pytest=pytest)
    try:
        with bare() as machine:
            return report(run_all([stage for stage in stages if stage.lane == TESTS], machine))
    except Unavailable as reason:
        return report([unavailable("bare", reason)])


def drive(arguments: Sequence[str]) -> Outcome:
    """The extension, as it is packed, in a real editor and browser."""
    if not any(shutil.which(name) for name in BROWSERS):
        return unavailable("workbench", "there is no Chromium on PATH (on Debian: apt-get install chromium)")
    install(DEV_LOCK)
    try:
        install_client()
        install_editor()
    except Unavailable as reason:
        return unavailable("workbench", reason)
    try:
        vsix()
    except Problem as problem:
        say(str(problem))
        return Outcome("workbench", 1)
    say("workbench")
    return Outcome("workbench", run(npm("run", "--silent", "workbench", "--", *arguments), CLIENT))


def injection() -> int:
    """The injections of a public suite, and those of a hostile repository (`tests/injection`)."""
    install(DEV_LOCK)
    try:
        install_injection()
    except Unavailable as reason:
        return report([unavailable("injection", reason)])
    os.environ["CODELAW_TEST_INJECTION"] = "whole"
    return report(run_all(of_paths(["tests/injection"], [])))


def main() -> int:
    """Read the command line and do it; gives the exit status."""
    if sys.version_info < (3, 11):
        raise Problem(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    arguments = sys.argv[1:]
    if arguments[:1] == ["chat"]:
        return chat(arguments[2:] if arguments[1:2] == ["--"] else arguments[1:])
    place = arguments.index("--") if "--" in arguments else len(arguments)
    passed_on = arguments[place + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python3 dev.py {chat,setup,fix,test,workbench,injection,vsix,lock} ...",
    )
    parser.add_argument("command", choices=["chat", "setup", "fix", "test", "workbench", "injection", "vsix", "lock"])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="for `test`: check only what these need")
    parser.add_argument("--all", action="store_true", help="for `test`: the long tests and the real editors too")
    parser.add_argument("--bare", action="store_true", help="for `test`: as on a machine that has next to nothing")
    options = parser.parse_intermixed_args(arguments[:place])
    if options.command != "test" and (options.paths or options.all or options.bare):
        parser.error(f"`{options.command}` takes neither PATH nor --all nor --bare")
    if options.all and (options.paths or options.bare):
        parser.error("`test --all` takes neither PATH nor --bare")
    if passed_on and options.command not in {"test", "workbench"}:
        parser.error(f"`{options.command}` takes nothing after `--`")
    if options.bare:
        return test_bare(options.paths, passed_on)
    if options.command == "test":
        return test(options.paths, passed_on, everything=options.all)
    if options.command == "workbench":
        return report([drive(passed_on)])
    return {"setup": setup, "fix": fix, "injection": injection, "vsix": vsix, "lock": lock}[options.command]()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, Unavailable) as problem:
        say(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
