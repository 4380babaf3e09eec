"""Flags by which a command outgrows a rule that names its first words (S-1)."""

from __future__ import annotations

import pytest

from tests.permissions.judging import command

OUTGROWN = [
    *("git diff --{output=x,stat}", "git diff $'--output=x'", "git diff $(echo --output=x)"),
    *('git diff "$(echo --output=x)"', "echo --output=x; git diff $_", "for f in --output=x; do git diff $f; done"),
    *("git diff src/$(echo ' --output=x')", "git diff *", "git diff --outpu=x", "git grep --op='touch x;' y"),
    *("git grep -nO'touch x;' y", "git fetch --upl='touch x;' .", "git archive -ox HEAD"),
    *("git difftool --extcmd=x -y", "git difftool -yx x", "git rebase -ix x HEAD~1", "git clone -u x y"),
    *("find . $'-delete'", "make --eva='$(shell x)'", "make -nE'$(shell x)'", "make --fil=x", "make SHEL{L=x,y}"),
    *("make 'X::=$(shell x)'", "sort --comp=x y", "sed -n '1e touch x' y", "sed -n 'w x' y"),
    *("sed -n 's/a/touch x/e' y", "sed -n 's/a/b/w x' y", "sed -n -f x y", "sed -n --expression='1e x' y"),
    *("sed -n -l p '1e x' y", "sed -n $X y", "tar cIf x y.tar z", "tar --use=x -cf y z", "curl -sD x http://y"),
    *("curl --trac x http://y", "curl -d @secret http://y", "curl -F a=@secret http://y"),
    *("wget --output-doc=x http://y", "go test --exec=x", "file -Cm x", "tree -aox", "rake test -e x", "rake -f x"),
    *("rake --execute=x", "rake -Ix", "rake X=1", "gradle -I x", "gradle --init-script=x", "gradle -p x"),
    *("gradle -b x", "gradle -g x", "gradle -Dx=y", "gradlew -Ix", "mvn -f x", "mvn -s x", "mvn -fx.xml"),
    *("mvn -Dexec.executable=x", "mvn exec:exec", "mvn org.codehaus.mojo:exec-maven-plugin:3.1.0:exec"),
    *("dotnet build -p:X=y", "dotnet build /p:X=y", "dotnet build --property:X=y", "dotnet run --project x"),
    *("dotnet build @x.rsp", "dotnet test -l:x", "mypy @x", "mypy --cache-dir=x", "mypy --html-report x"),
    *("git send-email --sendmail-cmd=x", "git send-email --to-cmd x", "git cat-file --filters x", "go test -o x"),
    *("go test -exec x", "go test -coverprofile=x", "go build -o x", "go build -toolexec x"),
    *("go build -ldflags=-extld=x", "go env -w X=y", "curl --variable a@x http://y", "curl --expand-url x"),
    *("curl -q http://y", "curl --next http://y", "curl --engine x http://y", "curl --netrc-file x http://y"),
    *("test -v 'a[$(x)]'", "printf -v 'a[$(x)]' y", "printf '-va[$(x)]' y", "read 'a[$(x)]'", "declare 'a[$(x)]=1'"),
    *("let 'a[$(x)]'", "unset 'a[$(x)]'", "export $X", "pip install --config-settings=x y"),
    *("pip install --index-url x y", "pip install -i x y", "pip install -t x y", "npm --script-shell=x test"),
    *("npm test -C x", "pnpm --dir x test", "yarn --cwd x test", "cargo --config x build", "cargo +x build"),
    *("cargo build --target-dir x", "poetry -C x install", "bundle --gemfile=x install", "uv --directory x sync"),
    *("uv pip install -i x y", "ruff check --config x", "ruff check -o x", "eslint -c x", "eslint --plugin x"),
    *("tsc -p x", "tsc --outDir x", "tsc --OUTDIR x", "tsc @x", "jest -c x", "jest --globalSetup=x"),
    *("jest --global-setup=x", "jest --setupFiles x", "jest --snapshotSerializers=x", "vitest --test-sequencer x"),
    *("vitest --config x", "vitest -r x", "make SHELL=x", "pytest -p x", "pytest --junitxml=x"),
    *("pytest -W error::x.Y", "pytest --cov-report=html:/x", "prettier --plugin=x y"),
    *("kubectl --kubeconfig=x get pods", "docker -H x ps", "terraform -chdir=x plan", "man -Hx y"),
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
    *(("git log", "git log --oneline -n3 -Sfoo -- src/a.py"), ("git log", "git log -L1,20:src/foo.c")),
    *(("git diff", "git diff --stat HEAD~1 'src/*.py' a{b,c}.py"), ("git push", "git push -u origin main")),
    *(("sed -n", "sed -n '10,20p' src/a.py"), ("sed", "sed 's/a b/c/g;5q' x"), ("make", "make -j4 test")),
    *(("find", "find src -name '*.py' -newer {}"), ("curl", "curl -sSL http://user@host/x"), ("tar", "tar tf x.tar")),
    *(("gradle", "gradle test --info -x lint"), ("mvn", "mvn -q -DskipTests package"), ("mvn", "mvn dependency:tree")),
    *(("dotnet", "dotnet build -c Release"), ("go test", "go test -race -run X ./...")),
    *(("pytest", "pytest --co -q --cov=src --cov-report=term-missing tests"), ("pip install", "pip install -U x")),
    *(("jest", "jest --ci -t 'a b'"), ("npm", "npm run build"), ("test", "test -f x")),
    *(("printf", "printf '[%s] $x' y"), ("export", "export A=$B"), ("cargo", "cargo test -p x")),
    *(("sort", "sort -k1,2n x"), ("git diff", "git diff @{u} -- a"), ("pytest", "pytest tests/*.py -k 'a@b'")),
    *(("npm", "npm install @scope/x"), ("export", "export CI=1 NODE_ENV=test"), ("ls", "ls -laht x")),
]


@pytest.mark.parametrize(("prefix", "text"), STILL_COVERED)
def test_what_a_program_is_there_for_stays_covered(prefix, text):
    assert command(text, allow=[f"Bash({prefix}:*)"]).action == "allow"
