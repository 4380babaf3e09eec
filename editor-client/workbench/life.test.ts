// What comes between: the server dies, the window is loaded anew, a second window looks on.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench();
const FILES = { "a.txt": "first\n" };
/** A story whose every piece can be told from the others. */
const story = (pieces: number): string => Array.from({ length: pieces }, (_, piece) => `[piece ${piece}]`).join(" ");
const pieces = (text: string | null): number[] =>
  [...(text ?? "").matchAll(/\[piece (\d+)\]/g)].map(([, n]) => Number(n));
const counted = (count: number): number[] => Array.from({ length: count }, (_, piece) => piece);

test("the server is killed in mid-turn: it is started again, nothing is lost or doubled, and the chat goes on", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    call("look first", "Read", { path: "a.txt" }),
    finish(story(400), { chunk: 11, delay: 0.03 }),
    finish("Here I am again."),
  ]);
  await window.say("Tell me a story");
  await window.lastTurn.locator(".answer", { hasText: "[piece 60]" }).waitFor();
  const killed = await workbench.server();
  process.kill(killed, "SIGKILL");
  await eventually("another server runs", () => workbench.servers().some((id) => id !== killed));
  await eventually("the turn is over", async () => (await window.lastTurn.getAttribute("data-state")) !== "running");
  await window.shot("after-a-crash");
  const told = pieces(await window.lastTurn.locator(".answer").first().textContent());
  expect(told.length).toBeGreaterThan(10);
  expect(told, "every piece once and in order").toEqual(counted(told.length));
  expect(await window.turns.count()).toBe(1);
  expect(await window.lastTurn.locator(".call").count()).toBe(1);

  const turn = await window.ask("Are you there?");
  expect(await turn.locator(".answer").textContent()).toContain("Here I am again.");
  expect(await window.turns.count()).toBe(2);
  expect((await vendor.requests()).at(-1)?.body).toContain("Tell me a story");
});

test("the window is loaded anew in mid-turn: nothing is lost or doubled, the draft is there, the chat goes on", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    call("look first", "Read", { path: "a.txt" }),
    finish(story(1_000), { chunk: 11, delay: 0.03 }),
    finish("Here I am again."),
  ]);
  await window.say("Tell me a story");
  await window.lastTurn.locator(".answer", { hasText: "[piece 60]" }).waitFor();
  await window.message.fill("a draft");
  await window.keeps("a draft");
  await window.reload();
  await window.showPanel();
  await window.lastTurn.waitFor();
  await eventually("the turn is over", async () => (await window.lastTurn.getAttribute("data-state")) !== "running");
  expect(await window.message.inputValue()).toBe("a draft");
  const told = pieces(await window.lastTurn.locator(".answer").first().textContent());
  expect(told.length).toBeGreaterThan(10);
  expect(told, "every piece once and in order").toEqual(counted(told.length));
  expect(await window.turns.count()).toBe(1);

  const turn = await window.ask("Are you there?");
  expect(await turn.locator(".answer").textContent()).toContain("Here I am again.");
  expect(await window.turns.count()).toBe(2);
});

test("an open question comes back after the panel was hidden", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    call("read", "Read", { path: "a.txt" }),
    call("edit", "Edit", { path: "a.txt", old_string: "first", new_string: "second" }),
    finish("Changed."),
  ]);
  await window.say("Change it");
  await window.approval.waitFor();
  await window.hidePanel();
  await window.showPanel();
  await window.allow();
  await window.ended();
  expect(await window.read("a.txt")).toBe("second\n");
});

test("two windows on one folder show the same chat, and the one that looks on misses nothing", async () => {
  const { workbench, vendor } = at();
  const first = await workbench.open({ files: FILES });
  const second = await workbench.open({ folder: first.folder });
  await vendor.play([finish(story(150), { chunk: 11, delay: 0.03 }), finish("From the second window.")]);
  await first.say("Tell both of us a story");
  await first.lastTurn.locator(".answer", { hasText: "[piece 5]" }).waitFor();
  await second.command("codelaw: Show All Chats");
  await second.panel.locator(".chat-row", { hasText: "Tell both of us" }).first().locator("button").first().click();
  await second.lastTurn.waitFor();
  await first.ended();
  await second.ended();
  for (const window of [first, second]) {
    expect(pieces(await window.lastTurn.locator(".answer").first().textContent())).toEqual(counted(150));
    expect(await window.turns.count()).toBe(1);
  }
  await second.ask("And now me");
  // Who comes back to a window sees what was said in the other one.
  await first.page.bringToFront();
  await first.command("View: Focus First Editor Group");
  await first.message.click();
  await first.panel.locator(".answer", { hasText: "From the second window." }).waitFor();
  expect(await first.turns.count()).toBe(2);
});
