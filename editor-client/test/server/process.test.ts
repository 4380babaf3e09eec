import { chmod, mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { onPath, outside, run } from "../../src/server/process";

const limits = { timeout: 10_000 };

test("what cannot be started is told by its outcome, however the system tells it", async () => {
  for (const command of ["/no/such/program", `${import.meta.filename}/program`, "a\0b"]) {
    expect(await run(command, [], limits), command).toMatchObject({ status: null, failure: "not_started" });
  }
});

test.runIf(process.platform !== "win32")(
  "a program that leaves another behind is not waited for past its time",
  async () => {
    const script = "sleep 30 & echo $!";
    const outcome = await run("sh", ["-c", script], { timeout: 500 });
    expect(outcome).toMatchObject({ status: 0, failure: "timeout" });
    process.kill(Number(outcome.stdout));
  },
);

test.runIf(process.platform !== "win32")("no program of a workspace is found, whatever PATH says", async () => {
  const top = await realpath(await mkdtemp(path.join(os.tmpdir(), "codelaw-path-")));
  const work = path.join(top, "work");
  for (const folder of [path.join(work, "bin"), path.join(top, "safe"), path.join(top, "mixed")]) {
    await mkdir(folder, { recursive: true });
  }
  for (const folder of [path.join(work, "bin"), path.join(top, "safe")]) {
    const file = path.join(folder, "tool");
    await writeFile(file, "#!/bin/sh\n");
    await chmod(file, 0o755);
  }
  await symlink(path.join(work, "bin"), path.join(top, "linked"));
  await symlink(path.join(work, "bin/tool"), path.join(top, "mixed/tool"));
  await symlink(path.join(top, "safe"), path.join(work, "way"));
  await symlink(work, path.join(top, "alias"));
  const safe = path.join(top, "safe");
  for (const entry of [path.join(work, "bin"), path.join(top, "linked"), path.join(top, "mixed"), "", "bin"]) {
    expect(await onPath("tool", [work], { PATH: entry }), entry).toBeUndefined();
    expect(await onPath("tool", [path.join(top, "alias")], { PATH: entry }), entry).toBeUndefined();
    expect(await onPath("tool", [work], { PATH: [entry, safe].join(path.delimiter) })).toBe(path.join(safe, "tool"));
  }
  expect(await onPath("tool", [work], { PATH: path.join(work, "way") })).toBeUndefined();
  expect(await onPath("tool", [], { PATH: path.join(work, "bin") })).toBe(path.join(work, "bin/tool"));
  expect(await outside(path.join(top, "workshop"), [work])).toBe(true);
});
