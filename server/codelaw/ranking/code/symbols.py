"""What a text of code defines, by the grammar of its language where there is one, else by its lines (X-5).

Each grammar is loaded when a file of its language is first read: import this module late and call it off the event
loop. Where there is none, or it cannot be loaded, the beginnings of lines tell what is defined.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from codelaw.ports.code import Symbol

LARGEST_PARSED = 1_000_000
"""Characters of a file that is still read by its grammar."""
MOST_SYMBOLS = 5_000


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text as its grammar sees it."""

    symbols: tuple[Symbol, ...] = ()
    """In the order in which they begin, outer ones first."""
    comments: tuple[tuple[int, int], ...] = ()
    """Stretches of the text in UTF-8, in bytes, that are there for people: comments and docstrings."""
    parsed: bool = False
    """By a grammar."""


@dataclass(frozen=True, slots=True)
class _Language:
    package: str
    patterns: str
    entry: str = "language"


_PYTHON = """
(function_definition name: (_) @name) @function
(class_definition name: (_) @name) @class
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @variable))
(comment) @comment
(expression_statement . (string) @comment .)
"""
_JAVASCRIPT = """
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @variable)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @variable)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @variable))
(comment) @comment
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @module
"""
)
_GO = """
(function_declaration name: (_) @name) @function
(method_declaration name: (_) @name) @method
(type_declaration (type_spec name: (_) @name)) @type
(source_file (const_declaration (const_spec name: (_) @name)) @constant)
(source_file (var_declaration (var_spec name: (_) @name)) @variable)
(comment) @comment
"""
_RUST = """
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @struct
(trait_item name: (_) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name) @module
(macro_definition name: (_) @name) @macro
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @variable
(type_item name: (_) @name) @type
(line_comment) @comment
(block_comment) @comment
"""
_JAVA = """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @class
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
(line_comment) @comment
(block_comment) @comment
"""
_C = """
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (_) @name) @macro
(preproc_function_def name: (_) @name) @macro
(comment) @comment
"""
_CPP = (
    _C
    + """
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
"""
)
_C_SHARP = """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(struct_declaration name: (_) @name) @struct
(record_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(property_declaration name: (_) @name) @variable
(comment) @comment
"""
_RUBY = """
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(class name: (_) @name) @class
(module name: (_) @name) @module
(program (assignment left: (constant) @name) @constant)
(comment) @comment
"""
_PHP = """
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(comment) @comment
"""
_BASH = """
(function_definition name: (_) @name) @function
(program (variable_assignment name: (_) @name) @variable)
(comment) @comment
"""
_LANGUAGES = {
    "python": _Language("tree_sitter_python", _PYTHON),
    "javascript": _Language("tree_sitter_javascript", _JAVASCRIPT),
    "typescript": _Language("tree_sitter_typescript", _TYPESCRIPT, "language_typescript"),
    "tsx": _Language("tree_sitter_typescript", _TYPESCRIPT, "language_tsx"),
    "go": _Language("tree_sitter_go", _GO),
    "rust": _Language("tree_sitter_rust", _RUST),
    "java": _Language("tree_sitter_java", _JAVA),
    "c": _Language("tree_sitter_c", _C),
    "cpp": _Language("tree_sitter_cpp", _CPP),
    "c_sharp": _Language("tree_sitter_c_sharp", _C_SHARP),
    "ruby": _Language("tree_sitter_ruby", _RUBY),
    "php": _Language("tree_sitter_php", _PHP, "language_php"),
    "bash": _Language("tree_sitter_bash", _BASH),
}
PACKAGES = ("tree_sitter", *dict.fromkeys(language.package for language in _LANGUAGES.values()))
"""What the grammars are imported as."""
_BY_SUFFIX = {
    suffix: language
    for language, suffixes in {
        "python": "py pyi pyw",
        "javascript": "js mjs cjs jsx",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "c": "c",
        "cpp": "h hh hpp hxx cc cpp cxx",
        "c_sharp": "cs",
        "ruby": "rb rake gemspec",
        "php": "php",
        "bash": "sh bash",
    }.items()
    for suffix in suffixes.split()
}
_DEFINITION = re.compile(
    r"([ \t]*)\(?(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|async|unsafe"
    r"|declare|pub(?:\([a-z]+\))?|local|override|open|data|partial|virtual|inline|extern|suspend)[ \t]+)*"
    r"(class|interface|struct|enum|trait|impl|module|namespace|object|protocol|record|type|def|function|func|fun|fn|sub"
    r"|proc|defun|defmacro|defn|macro_rules!)\*?[ \t]+(?:\([^)]*\)[ \t]*|<[^>]*>[ \t]*)?([A-Za-z_$][\w$-]*)"
)
"""How a definition begins in most languages."""
_SET = re.compile(
    r"()(?:export[ \t]+)?(?:(?:const|let|var|val|static)[ \t]+)?()([A-Za-z_$][\w$]*)[ \t]*(?::[^=]*)?=(?!=)"
)
"""A value that stands outside of all else."""
_KINDS = {
    "class": "class", "interface": "interface", "struct": "struct", "enum": "enum", "trait": "trait", "impl": "impl",
    "module": "module", "namespace": "module", "object": "class", "protocol": "interface", "record": "class",
    "type": "type", "": "variable",
}  # fmt: skip
_UNDEFINED = frozenset("json jsonc toml yaml yml xml html htm css scss less ini cfg conf lock sql".split())  # noqa: SIM905
_DOCUMENTS = frozenset({"md", "markdown", "mdx", "rst", "txt", "adoc", "org"})
_MARKDOWN = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#.:_`])\1{2,}[ \t]*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")


def defines(line: str) -> bool:
    """Whether a line begins as a definition or a heading does."""
    return any(pattern.match(line) for pattern in (_DEFINITION, _SET, _MARKDOWN))


def suffix_of(path: str) -> str:
    """What stands behind the last dot of a file's name, in lower case."""
    name = path.rsplit("/", 1)[-1]
    return name.rpartition(".")[2].lower() if "." in name else ""


def is_document(path: str) -> bool:
    """Whether a file is text for people."""
    return suffix_of(path) in _DOCUMENTS


def has_grammar(path: str) -> bool:
    """Whether the grammar of a file's language is installed."""
    return _reader(_BY_SUFFIX.get(suffix_of(path), "")) is not None


def read(path: str, text: str) -> ParsedText:
    """What the text of the file at `path` defines."""
    if is_document(path):
        return ParsedText(_headings(text))
    if len(text) > LARGEST_PARSED or suffix_of(path) in _UNDEFINED:
        return ParsedText()
    reader = _reader(_BY_SUFFIX.get(suffix_of(path), ""))
    return ParsedText(_looking_like(text)) if reader is None else reader.read(text)


class _Grammar:
    """A grammar, and the pattern that finds in a tree what is defined."""

    def __init__(self, language: _Language, package: Any) -> None:
        sitter = importlib.import_module("tree_sitter")
        grammar = sitter.Language(getattr(package, language.entry)())
        self._parser: Any = sitter.Parser(grammar)
        self._query: Any = sitter.Query(grammar, language.patterns)
        self._cursor: Any = sitter.QueryCursor

    def read(self, text: str) -> ParsedText:
        data = text.encode("utf-8", "replace")
        tree = self._parser.parse(data)
        found: dict[tuple[int, int, str], Symbol] = {}
        comments: list[tuple[int, int]] = []
        for _, captures in self._cursor(self._query).matches(tree.root_node):
            if "comment" in captures:
                comments += ((node.start_byte, node.end_byte) for node in captures["comment"])
                continue
            name = captures["name"][0]
            kind = next(key for key in captures if key != "name")
            node = captures[kind][0]
            called = data[name.start_byte : name.end_byte].decode("utf-8", "replace")
            called = " ".join(called.split())[:200]
            row, column = node.end_point
            key = (node.start_point[0], row + 1 if column else row, called)
            found.setdefault(key, Symbol(called, kind, key[0], key[1]))
        symbols = sorted(found.values(), key=lambda one: (one.start, -one.end))
        return ParsedText(tuple(symbols[:MOST_SYMBOLS]), tuple(sorted(set(comments))), parsed=True)


@cache
def _reader(language: str) -> _Grammar | None:
    if language not in _LANGUAGES:
        return None
    named = _LANGUAGES[language]
    try:
        return _Grammar(named, importlib.import_module(named.package))
    except ImportError:  # no package of it for this machine
        return None


def _looking_like(text: str) -> tuple[Symbol, ...]:
    """What lines define that begin as a definition does in most languages; each reaches to the next one beside it."""
    lines = text.split("\n")
    begun: list[tuple[int, int, str, str]] = []
    for at, line in enumerate(lines):
        if match := _DEFINITION.match(line) or _SET.match(line):
            begun.append((at, len(match[1]), match[3], _KINDS.get(match[2], "function")))
    found: list[Symbol] = []
    open_: list[tuple[int, int, str, str]] = []
    for one in (*begun, (len(lines), 0, "", "")):
        while open_ and open_[-1][1] >= one[1]:
            start, _, name, kind = open_.pop()
            found.append(Symbol(name, kind, start, start + 1 if kind == "variable" else one[0]))
        open_.append(one)
    return tuple(sorted(found, key=lambda symbol: (symbol.start, -symbol.end))[:MOST_SYMBOLS])


def _headings(text: str) -> tuple[Symbol, ...]:
    """The headings of Markdown and of underlined texts; each reaches to the next one."""
    lines = text.split("\n")
    found: list[tuple[int, str]] = []
    fenced = False
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            continue
        elif heading := _MARKDOWN.fullmatch(line):
            found.append((at, heading[2]))
        elif at and _UNDERLINE.fullmatch(line) and _titles(lines[at - 1], line):
            found.append((at - 1, lines[at - 1].strip()))
    ends = [at for at, _ in found[1:]] + [len(lines)]
    marked = zip(found[:MOST_SYMBOLS], ends, strict=False)
    return tuple(Symbol(name[:200], "heading", at, end) for (at, name), end in marked if name)


def _titles(above: str, line: str) -> bool:
    """Whether a line of signs underlines the one above it."""
    title = above.strip()
    return bool(title) and len(line.strip()) >= min(len(title), 3) and not _UNDERLINE.fullmatch(above)
