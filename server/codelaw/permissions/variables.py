"""Variables by which a program is made to run something: the one table of them (S-1).

An assignment stands in front of a command, or is made for all that follow: `env X=…`, `export X=…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codelaw.permissions.shell import Word, listed, program

_COMMANDS = (
    r"GIT_(?!AUTHOR_|COMMITTER_|CONFIG|TRACE|TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT)\w+",
    r"\w*PAGER|\w*EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE",
    r"\w*ASKPASS|\w+_RSH|SVN_SSH",
    r"PROMPT_COMMAND|\w*SHELL|PS4",
    r"CC|CXX|CPP|LD|AR|RUSTC|RUSTDOC|RUSTC_\w*WRAPPER",
)
"""Their value is a command, or the place of one."""
_LOADED = (
    r"BASH_ENV|ENV|ZDOTDIR|SHELLOPTS|BASHOPTS|INPUTRC",
    r"LD_\w+|DYLD_\w+|GCONV_PATH|OPENSSL_(?:CONF|ENGINES|MODULES)|GCC_EXEC_PREFIX|COMPILER_PATH",
    r"PYTHON(?:STARTUP|PATH|HOME|BREAKPOINT|WARNINGS)|PYTEST_(?:ADDOPTS|PLUGINS)|COVERAGE_(?:PROCESS_START|RCFILE)",
    r"PIP_(?:\w*INDEX\w*|CONFIG_FILE|FIND_LINKS|REQUIRE\w*|CONSTRAINT)|UV_(?:\w*INDEX\w*|CONFIG_FILE|PYTHON)",
    r"NODE_(?:OPTIONS|PATH)|(?i:npm_config_)\w+|TS_NODE_\w+|RIPGREP_CONFIG_PATH|ACKRC|ACK_OPTIONS",
    r"PERL5(?:OPT|LIB|DB)|PERLLIB|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|BUNDLE_GEMFILE|RAKEOPT",
    r"LUA_(?:INIT|PATH|CPATH)\w*|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON)\w*|AWK(?:LIB)?PATH",
    r"CLASSPATH|_?JAVA_(?:TOOL_)?(?:OPTIONS|OPTS)|JDK_JAVA_OPTIONS|MAVEN_(?:OPTS|ARGS)|GRADLE_OPTS",
    r"CARGO_(?:HOME|BUILD_\w+|TARGET_\w+|ENCODED_RUSTFLAGS|ALIAS_\w+)|RUST(?:DOC)?FLAGS|GOFLAGS",
    r"TAR_OPTIONS|(?:GNU)?MAKEFLAGS|MFLAGS|MAKEFILES|GIT_CONFIG\w*|LESSKEY\w*|MANOPT|VIMINIT|EXINIT",
    r"HOME|XDG_CONFIG_\w+|GNUPGHOME|KUBECONFIG|CURL_HOME|WGETRC",
)
"""They name files, places or flags from which a program takes what it runs."""
_FOUND = r"PATH"
"""They say where programs are found; what lies there may be run by its path as well."""
RUNS_ITS_VALUE = re.compile("|".join(_COMMANDS))
LOADS = re.compile("|".join(_LOADED))
_RUNS_SOMETHING = re.compile("|".join((*_COMMANDS, *_LOADED, _FOUND)))
_ASSIGNS = listed("export declare typeset readonly local read mapfile readarray")
_FOR_A_COMMAND = listed("env sudo doas")
_SET = re.compile(r"[A-Za-z_]\w*\+?=")


def name_and_value(word: Word) -> tuple[str, str | None]:
    """The variable that a word sets or names, and its value, None where the shell makes it only when it runs."""
    name, _, value = (word.raw if word.value is None else word.value).partition("=")
    return name.rstrip("+"), None if word.value is None else value


def assigned(command: tuple[Word, ...]) -> Iterator[Word]:
    """The arguments by which a command sets variables, for itself or for what follows."""
    name = program(command)
    for word in command[1:] if name in _ASSIGNS | _FOR_A_COMMAND else ():
        if name in _ASSIGNS or _SET.match(word.value or word.raw):
            yield word


def makes_run(command: tuple[Word, ...]) -> Iterator[int]:
    """The places of the arguments by which a builtin sets a variable that makes later commands run something."""
    for at, word in enumerate(command if program(command) in _ASSIGNS else ()):
        if at and _RUNS_SOMETHING.fullmatch(name_and_value(word)[0]):
            yield at
