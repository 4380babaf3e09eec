// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import type { Attachment } from "../../src/messages";
import type { Model } from "../../src/protocol/types";
import { Composer } from "../../webview/parts/Composer";
import type { State } from "../../webview/state";
import { fitting } from "../../webview/text/pictures";
import { type Opened, open as draw, shownChat, violations } from "./panel";

const MB = 1024 * 1024;
const picture = (name: string, bytes = 4): Attachment => ({
  uri: `picture:${name}`,
  label: name,
  picture: { mediaType: "image/png", data: Buffer.alloc(bytes).toString("base64") },
});
const file = { uri: "file:///w/a.py", label: "a.py" };
const model = (name: string, vision?: boolean): Model => ({
  name,
  contextWindow: 1000,
  maxOutput: 100,
  provider: "p",
  family: "p",
  source: "profile",
  current: name === "first",
  ...(vision === undefined ? {} : { vision }),
});
const open = (attachments: Attachment[], more: Partial<State> = {}): Opened =>
  draw((state) => <Composer state={state} />, {
    composer: { text: "", attachments, editing: null, sending: null, pending: null },
    ...more,
  });
const said = (): string => document.querySelector(".composer-state")!.textContent;
const warned = (): number => document.querySelectorAll(".attachment .icon").length - closing();
const closing = (): number => document.querySelectorAll(".attachment button").length;

describe("a picture for a model", () => {
  test("that cannot see is told at the picture and in words, and axe finds nothing", async () => {
    open([file, picture("shot.png")], { models: [model("first", false)] });
    expect(said()).toBe("The model first cannot see pictures: it only learns their kinds and sizes.");
    expect(screen.getByText("shot.png").closest("li")!.title).toBe(said());
    expect(screen.getByText("a.py").closest("li")!.title).toBe(file.uri);
    expect(warned()).toBe(1);
    expect(await violations(document.body)).toEqual([]);
  });

  test("of which nobody knows whether it sees tells what to set", () => {
    open([picture("shot.png")], { models: [model("first")] });
    expect(said()).toContain("set models.first.vision to true");
  });

  test("that sees it, or that the panel does not know, says nothing", () => {
    open([picture("shot.png")], { models: [model("first", true)] });
    expect([said(), warned()]).toEqual(["", 0]);
    open([picture("shot.png")], { models: [model("first", false)], next: { mode: null, model: "x", strategy: null, effort: null } });
    expect([said(), warned()]).toEqual(["", 0]);
    open([file], { models: [model("first", false)] });
    expect([said(), warned()]).toEqual(["", 0]);
  });

  test("is told of the chat's own model, and no more when another is chosen", () => {
    const models = [model("first", true), model("blind", false)];
    const chat = (name: string) => {
      const shown = shownChat("c1");
      return { ...shown, chat: { ...shown.chat, model: name } };
    };
    const panel = open([picture("shot.png")], { models, chat: chat("blind") });
    expect(said()).toContain("The model blind cannot see pictures");
    panel.dispatch({ kind: "chatChanged", chat: chat("first").chat });
    expect([said(), warned()]).toEqual(["", 0]);
  });
});

describe("pictures of one message", () => {
  const paste = (names: string[]): void => {
    const files = names.map((name) => new File([name], name, { type: "image/png" }));
    fireEvent.paste(screen.getByRole("textbox"), { clipboardData: { files, getData: () => "" } });
  };

  test("are five at most: the others are left out, and that is said", async () => {
    const panel = open([picture("1"), picture("2"), picture("3"), file], { models: [model("first", true)] });
    paste(["four.png", "five.png", "six.png"]);
    await screen.findByText("five.png");
    expect(screen.queryByText("six.png")).toBeNull();
    expect(said()).toBe("At most five pictures, and 10 MB of them, go with one message.");
    paste(["five.png"]);
    await vi.waitFor(() => expect(panel.state().composer.attachments).toHaveLength(6));
  });

  test("have ten megabytes together, and the same one counts once", () => {
    const names = (all: Attachment[]): string[] => all.map(({ label }) => label);
    const large = [picture("a", 5 * MB), picture("b", 5 * MB)];
    expect(names(fitting([], [...large, picture("c", 1)]))).toEqual(["a", "b"]);
    expect(names(fitting(large, [large[0]!, picture("c", 1)]))).toEqual(["a"]);
    expect(names(fitting([large[0]!], [picture("c", 5 * MB + 1), picture("d", 5 * MB)]))).toEqual(["d"]);
    const many = Array.from({ length: 100 }, (_, place) => picture(String(place)));
    expect(fitting([], many)).toHaveLength(5);
  });
});
