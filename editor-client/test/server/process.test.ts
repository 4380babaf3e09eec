import { expect, test } from "vitest";
import { run } from "../../src/server/process";

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
