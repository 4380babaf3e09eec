"""A rule that denies a command is not passed by running it in another way (S-1)."""

from __future__ import annotations

import pytest

from tests.permissions.judging import command

DENY = ["Bash(rm:*)", "Bash(git push:*)", "Bash(npm publish)"]

DENIED = [
    *("rm", "X=1 rm x", "ls; rm x", "ls | rm x", "echo `rm x`", "sudo rm x", "env X=1 rm x", "xargs -0 rm"),
    *("bash -lc 'ls; rm x'", "sudo sh -c 'rm x'", "eval 'rm x'", "eval -- rm x", "sh -c 'sh -c \"rm x\"'"),
    *("cat <<EOF\n$(rm x)\nEOF", "if true; then rm x; fi", "for x in 1; do rm $x; done", "git push origin"),
    *("npm publish", "env -S'rm x'", "env --split-string='rm x'", "env -iS 'rm x'", "script -qc 'rm x'"),
    *("script -qc'rm x'", "flock -c 'rm x' l", "flock l -c 'rm x'", "flock l rm x", "su -c 'rm x' u", "su u -c'rm x'"),
    *("su --command='rm x'", "watch 'rm x'", "watch -n1 'ls; rm x'", "parallel ::: 'rm x'", "parallel 'rm {}' ::: x"),
    *("sudo -s rm x", "sudo -s 'rm x'", "stdbuf -o0 rm x", "nice -n 5 rm x", "chroot / rm x", "command -p rm x"),
    *("exec -a a rm x", "ssh host rm x", "ssh host 'ls; rm x'", "bash <<< 'rm x'", "bash <<EOF\nrm x\nEOF"),
    *("sh <<'EOF'\nls\nrm x\nEOF", "alias ls='rm x'; ls", "npm exec -- rm x", "npm exec -c 'rm x'", "npx rm x"),
    *("pnpm exec rm x", "docker run x rm y", "kubectl exec x -- rm y", "uv run rm x", "git -c alias.x='!rm y' x"),
    *("git -c alias.x=push x", "git -c core.pager='rm x' log", "git -c diff.external=rm diff"),
    *("git submodule foreach 'rm x'", "git bisect run rm x", "git rebase -x 'rm x' HEAD~1"),
    *("git rebase --exec='rm x' HEAD~1", "git grep -O'rm x' y", "GIT_PAGER='rm x' git log", "PAGER='rm x' man x"),
    *("awk 'BEGIN{system(\"rm x\")}'", "awk '{print | \"rm x\"}'", "awk '{\"rm x\" | getline}'", "sed '1e rm x' y"),
    *("vim -c '!rm x'", "vim '+!rm x'", "vim -c ':!rm x' y", "ex -c '!rm x'"),
    *("tar --checkpoint-action=exec='rm x' -cf y z", "tar --to-command='rm x' -xf y", "tar -I 'rm x' -xf y"),
    *("sort --compress-program=rm x", "rg --pre rm x", "make SHELL='rm x'", "find . -exec sh -c 'rm x' \\;"),
    *("find . -execdir rm {} +", "xargs sh -c 'rm x'", "python -c 'import os; os.system(\"rm x\")'"),
    *('python3 -c \'import subprocess; subprocess.run(["rm", "x"])\'', "perl -e 'system(\"rm x\")'"),
    *("perl -e '`rm x`'", "ruby -e 'system \"rm x\"'", 'node -e \'require("child_process").execSync("rm x")\''),
    *("at now <<< 'rm x'", "crontab - <<EOF\nrm x\nEOF", "hyperfine 'rm x'", "mapfile -C 'rm x' y"),
    *("coproc_like=1 bash -c 'rm x'", "RM x", "[ -v 'a[$(rm x)]' ]", "test -v 'a[$(rm x)]'"),
    *("printf -v 'a[$(rm x)]' y", "read 'a[$(rm x)]'", "declare -i x='a[$(rm x)]'", "unset 'a[$(rm x)]'"),
    *("timeout 5 setpriv RM x", "setpriv --reuid 1000 rm x", "prlimit --nproc=5 /bin/rm x", "perf stat -- rm x"),
    *("/lib64/ld-linux-x86-64.so.2 /bin/rm x", "firejail --net=none git push origin", "npm run env -- rm x"),
    *("capsh --shell=/bin/rm -- x", "tmux new 'r\"\"m x'"),
    *("pnpm git push", "git -c 'alias.x=!rm x' x", "cp /bin/./rm x", "sponge x < /bin/rm; ./x a"),
]

NEARLY_DENIED = [
    *("git -C x push", "git --no-pager push", "git $X", "$X y", "echo 'rm x' | sh", "sh script.sh"),
    *("bash <<EOF\nrm $X\nEOF", "time -- \\rm x", "time \\\n-- rm x", "time -p -- rm x", "cat <(>/dev/null ! rm x)"),
    *('ls "$(a <({ >/dev/null ! rm x; }))"', "bash <<EOF\nhead -c 2\n# rm x\nEOF", "bash <<EOF\nexec -v <f\nEOF"),
    *("cat <<EOF | bash\nrm x\nEOF", "X=rm; $X y", "$(printf rm) x", "python -c 'import os; os.remove(1)'"),
    *("perl -e 'unlink 1'", "python3 <<EOF\nx\nEOF", "node -e 'x()'", "ruby -e 'x'", "php -r 'x'"),
    *("awk 'BEGIN{system(x)}'", "awk -f x y", "sed 's/a/b/e' x", "vim -c 'x' y", "at now", "crontab x", "make -f -"),
    *("xargs -I% % x", "xargs -I% sh -c %", "parallel < x", "ssh host", "BASH_ENV=x bash -c ls"),
    *("GIT_CONFIG_COUNT=1 git status", "git --config-env=alias.x=Y x", "let 'a[$(rm x)]=1'", "a['$(rm x)']=1"),
    *("hash -p /bin/rm ls; ls x", ". ./x", "source x", "eval $X", 'sh -c "$X"', "xargs $X", "find . -exec {} +"),
    *("command . x", "sqlite3 x '.shell y'", "rm() { :; }", "r{m,} x", "unheard --reuid 1000 rm x"),
    *("unheard --nproc=5 /bin/rm x", "capsh -- -c 'ls; rm x'", "unheard --shell=/bin/rm -- x"),
    *("unheard /bin/rm x", "unheard --net=none git push origin", "unheard npm publish", "setpriv /bin/r? x"),
    *("split --filter='r\"\"m x' f", "socat - SYSTEM:'r\\m x'", "valgrind /bin/?m x"),
    *("git -c protocol.ext.allow=always clone 'ext::r%sm x' y", "GIT_ALLOW_PROTOCOL=ext git fetch ext::x"),
    *("git -c include.path=x status", "git -c diff.external=./x diff", "git -c 'alias.x=!f(){ rm x; };f' x"),
    *('awk -v x=1 \'BEGIN{system("r" "m")}\'', 'awk -F : \'{print | "r" "m"}\' f', "awk -fx.awk f", "awk --file=x f"),
    *('gawk \'BEGIN{f="system"; @f("x")}\'', "python3 /dev/stdin <<< 'import os'", "php -R 'x();'"),
    *("node --import ./x y", "node --require=./x y", "python3 -m timeit 'x()'"),
    *("nodemon --exec 'npm publish'", "socat - EXEC:'rm x'", "gnuplot -e 'system(\"rm x\")'"),
    *("split --filter='rm $FILE' x", "ed <<< '!rm x'", "unheard <<EOF\nls\n  rm x\nEOF"),
    *("make -f /dev/stdin <<< 'a: ; rm x'", "cmake -E env A=1 rm x", "uv run capsh -- -c 'rm x'"),
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


UNCONCERNED = [
    *("find . -name '*.py' -not -path './.git/*' | head", "find . -type f -exec grep -l foo {} +", "npx eslint ."),
    *("sed -i 's/a/b/;s/c/d/;s/e/f/' x", "sqlite3 x.db 'select 1'", "psql -c 'select 1'"),
    *("git add -A && git commit -m 'Fix rm of things'", "git rm x"),
    *("git commit -m \"$(cat <<'EOF'\nabout rm\nEOF\n)\"", "docker build -t $TAG .", "npm rm x", "docker rm x"),
    *("python x.py", "[ -f x ] && export A=$B", "printf '[%s]' \"$x\"", "awk '{print $1}' x", "grep -rn 'rm -rf' ."),
    *("timeout 60 npm test", "xargs -n1 echo < x", "man rm", "which rm", "apt-get install rm", "cp rm tests/rm"),
    *("pytest tests/rm -k 'not rm'", "unheard push rms ./rm", "gh pr create --title 'rm x' --body='rm y'"),
    *(
        "tee x <<'EOF'\nrm x\nEOF",
        "npm run x -- rm",
        "cp a b && npm test",
        "cp a.txt b && ./manage.py x",
        "ls -l /bin/rm",
    ),
    *("file $(which rm)", "cp rm x", "GIT_PAGER=cat git log", "GIT_EDITOR=true git commit", "CC=/usr/bin/gcc-12 make"),
    *("export PATH=$PATH:x; npm test", "GIT_AUTHOR_NAME='A/B c' git commit", "env CI=1 npm test", "sed -n 5p x"),
    *("echo x > y && cat y", "find . -name x | xargs grep y", "awk -F: -v n=1 '{print n $1}' f", "pnpm rm react"),
    *("git -c core.pager=cat log", "git -c user.email=a@b/c commit -m x", "perf stat ./x", "npm run env", "pnpm test"),
]


@pytest.mark.parametrize("text", UNCONCERNED)
def test_what_has_nothing_to_do_with_a_deny_rule_is_left_alone(text):
    assert command(text, deny=["Bash(rm:*)", "Bash(npm publish)"], allow=["Bash"], sandboxed=True).action == "allow"
