from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.permissions.shell import read

READ = [
    *(("ls", ["ls"]), ("git diff HEAD~1 -- src", ["git diff HEAD~1 -- src"])),
    *(("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]), ("a |& b", ["a", "b"])),
    *(("a\nb\n\n# c; d\ne # f", ["a", "b", "e"]), ("a \\\n  b", ["a \\\n  b"]), ("(a; b) && c", ["a", "b", "c"])),
    *(("{ a; b; }", ["a", "b"]), ("echo $(a; b)", ["a", "b", "echo $(a; b)"])),
    *(('echo "x $(a) y"', ["a", 'echo "x $(a) y"']), ("echo '$(a)'", ["echo '$(a)'"])),
    *(('echo "\\$(a)"', ['echo "\\$(a)"']), ("echo `a \\`b\\``", ["b", "a `b`", "echo `a \\`b\\``"])),
    *(("diff <(a) <(b)", ["a", "b", "diff <(a) <(b)"]), ("tee >(a)", ["a", "tee >(a)"])),
    *(("cat <<EOF\n$(a) b\nEOF\nc", ["cat <<EOF", "a", "c"]), ("cat <<'EOF'\n$(a) b\nEOF\nc", ["cat <<'EOF'", "c"])),
    *(("cat <<-EOF\n\tx\n\tEOF\nc", ["cat <<-EOF", "c"]), ("cat <<A <<B\n1\nA\n2\nB\nc", ["cat <<A <<B", "c"])),
    *(("cat <<< $(a)", ["a", "cat <<< $(a)"]), ("if a; then b; else c; fi", ["a", "b", "c"])),
    *(("while a; do b; done", ["a", "b"]), ("until ! a; do b; done", ["a", "b"])),
    *(("for x in 1 $(a); do b $x; done", ["a", "b $x"]), ("for x do a; done", ["a"]), ("time -p a", ["a"])),
    *(("X=1 Y=$(a) b", ["a", "X=1 Y=$(a) b"]), ("a \"b;c\" 'd|e' f\\;g", ["a \"b;c\" 'd|e' f\\;g"])),
    *(("$'a\\nb' c", ["$'a\\nb' c"]), ("$'a\\\\' c", ["$'a\\\\' c"]), ("a\\\n  b\\\n\tc", ["a\\\n  b\\\n\tc"])),
    *(('"a\\\nb" c', ['"a\\\nb" c']), ("# a\\\nb #\\\nc", ["b", "c"])),
]


@pytest.mark.parametrize(("command", "parts"), READ)
def test_every_command_is_found(command, parts):
    found = read(command)
    assert found is not None
    assert [part.text for part in found] == parts


UNREADABLE = [
    *("echo 'a", 'echo "a', "echo `a", "echo $(a", "(a", "a)", "echo $((1+1))", "((x=1))", "echo ${x:-$(a)}"),
    *("echo ${x@P}", "echo $[1]", "[[ -v a ]]", "case x in x) a;; esac", "f() { a; }", "function f { a; }", "a=(1 2)"),
    *("ls !(a)", "cat <<EOF\nx", "cat <<$x\nx\n$x", "cat <<EOF\na\\\nEOF\ncat '\nEOF\nrm x\n: '"),
    *("cat <<\\\n-EOF\nEOF\nrm x\n-EOF", 'echo "$\\\n(a)"', "cat <<EOF $(a\nEOF\n)", "for x\nin a; do b; done", "a\0b"),
    *("a &>f b", "&>/dev/null a", "a &>>f 2>&1 b", "<&-a", "a >&-$'b'", "a <& -b", "a >&2'$(b)'", 'a >&2"\\$(b)"'),
    *("a >&$x", "a >& 'f g'", "a >", "a " + "$(" * 40 + "b" + ")" * 40, "a" * 20_001, "a \\"),
    # To dash `$` is a character in front of a quoted text, in which a backslash is one more.
    *("a $'b\\'c'", "$'\\'; e #'", 'a $"b"', '$"a"', 'a x$"$(b)"', 'a $(b $"c")', "a <<E\n$(b $'\\'c')\nE\n"),
    # A line goes on within a word: what the shell takes it for, is known only when it is joined.
    *("gi\\\nt x", "a\\\nlias=e e", "X\\\n=1 e", "ali\\\nas a=e", "X=\\\n~ e", "a 2\\\n>f b", "d\\\no a"),
    *("i\\\nf a; then b; fi", "if a; then\\\n b; fi", "for x i\\\nn a; do b; done", "a $\\\n(b)", "a $\\\n{b}"),
    *("a $\\\n'b'", 'a "$\\\n{b}"', "a &\\\n& b", "a |\\\n| b", "a <\\\n<E\nb\nE\n", "a <<E\\\nF\nb\nEF\n"),
    "a >\\\n& b",
    # In back quotes dash joins lines that bash leaves apart: in comments and in single quotes.
    *("a `# b\\\nc`", "a `b 'c\\\nd'`"),
]


@pytest.mark.parametrize("command", UNREADABLE)
def test_what_is_not_certain_is_not_guessed(command):
    assert read(command) is None


WRITES = [
    *(("a > f", ["f"]), ("a >> f 2>&1", ["f"]), ("a &> f", ["f"]), ("a &>>f", ["f"]), ("a &> f 2>&1", ["f"])),
    *(("a 2> f", ["f"]), ("a >| f", ["f"]), ("a <> f", ["f"]), ("a >&f", ["f"]), ("> f", ["f"]), ("a > $x", ["$x"])),
    *(("a < /dev/tcp/h/1", ["/dev/tcp/h/1"]), ("a < f", []), ("a 2>&1 >/dev/null", []), ("a 2>/dev/null < in", [])),
    *(("a >&- 2>&-", []), ("{ a; } > f", [[], ["f"]])),
]


@pytest.mark.parametrize(("command", "writes"), WRITES)
def test_redirections_that_write_are_seen(command, writes):
    found = read(command)
    assert found is not None
    expected = writes if writes and isinstance(writes[0], list) else [writes]
    assert [[word.raw for word in part.writes] for part in found] == expected


VALUES = [
    *(("g'i't \"di\"ff", ["git", "diff"]), ("\\rm x", ["rm", "x"]), ("rm ~ *.py {a,b}", ["rm", None, None, None])),
    *(("2>/dev/null rm x", ["rm", "x"]), ("$x y", [None, "y"]), ('"$x"y "a\\"b"', [None, 'a"b'])),
    *(("a$ b", ["a$", "b"]), ("git\\\n x\\\n", ["git", "x"]), ("X=1\\\n a", ["X=1", "a"])),
    *(("'gi\\\nt' \"gi\\\nt\"", ["gi\\\nt", "git"]), ("a#b #c", ["a#b"])),
]


@pytest.mark.parametrize(("command", "values"), VALUES)
def test_words_have_the_value_the_shell_gives_them(command, values):
    found = read(command)
    assert found is not None
    assert [word.value for word in found[0].words] == values


@given(st.text(alphabet="ab $()`'\"\\;|&<>{}\n#=*EOF-2!", max_size=60))
def test_reading_always_ends(command):
    parts = read(command)
    assert parts is None or all(isinstance(part.text, str) for part in parts)
