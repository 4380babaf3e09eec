// @vitest-environment jsdom
import { cleanup, fireEvent, render, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Message, MessageImage } from "../../src/protocol/types";
import { Hands } from "../../webview/hands";
import { App } from "../../webview/parts/App";
import { picturesOf } from "../../webview/results";
import { READY, Refused, rig, type Rig } from "./extension";
import { ended, events, heard, record, run, showing, started } from "./streams";
import { violations } from "../input/panel";

const image = (digest: string, more: Partial<MessageImage> = {}): MessageImage => ({
  mediaType: "image/png",
  width: 1280,
  height: 400,
  size: 9,
  digest,
  ...more,
});
const message = (images?: MessageImage[]): Message => ({
  id: "m",
  turnId: "t1",
  role: "tool",
  content: '{"status": "success", "text": "Taken."}',
  metadata: { callId: "k", ...(images === undefined ? {} : { images }) },
});
const PICTURE = "codelaw/chat/picture";
const drawn = vi.fn();

/** A chat with a call that is unfolded, whose result came with these pictures. */
async function unfolded(images: MessageImage[], answer: (digest: string) => string | null): Promise<Rig> {
  const call = { kind: "tool_call", callId: "k", tool: "mcp__desk__shot", title: "shot", step: 1 } as const;
  const said = [started("Look"), { ...call, status: "completed" }, ended("c", "t1")];
  const state = run(showing(record("c")), { kind: "server", server: READY }, heard(...events("c", "t1", 1, ...said)));
  const made = rig(state);
  made.answers["codelaw/chat/read"] = () => ({ ...record("c"), messages: [message(images)] });
  made.answers[PICTURE] = ({ digest }) => {
    const data = answer(String(digest));
    if (data === null) return Promise.reject(new Refused("invalid_attachment", "This picture is not in the chat."));
    return { mediaType: "image/png", data };
  };
  const view = () => (
    <Hands.Provider value={{ panel: made.panel, actions: made.actions }}>
      <App state={made.state()} />
    </Hands.Provider>
  );
  const { rerender } = render(view());
  for (const one of document.querySelectorAll<HTMLDetailsElement>("details")) {
    one.open = true;
    fireEvent(one, new Event("toggle"));
  }
  await waitFor(() => expect(made.state().chat?.results.has("k")).toBe(true));
  rerender(view());
  return made;
}
const canvases = (): HTMLCanvasElement[] => [
  ...document.querySelectorAll<HTMLCanvasElement>(".result-pictures canvas"),
];

beforeEach(() => {
  vi.stubGlobal("createImageBitmap", () => Promise.resolve({ close: () => undefined }));
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue({ drawImage: drawn } as never);
});
afterEach(() => {
  cleanup();
  drawn.mockClear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the pictures of a result", () => {
  test("are drawn when its row is unfolded, no larger than there is room for", async () => {
    const made = await unfolded([image("d1"), image("d2", { width: 20, height: 10 })], () => "aGk=");
    await waitFor(() => expect(drawn).toHaveBeenCalledTimes(2));
    expect(canvases().map(({ width, height }) => [width, height])).toEqual([
      [640, 200],
      [20, 10],
    ]);
    expect(canvases()[0]!.getAttribute("aria-label")).toBe("Picture, 1280 × 400");
    expect(made.requests(PICTURE).map(({ params }) => params)).toEqual([
      { chatId: "c", digest: "d1" },
      { chatId: "c", digest: "d2" },
    ]);
    expect(document.querySelector("img")).toBeNull();
    expect(await violations(document.body)).toEqual([]);
  });

  test("are at most five, and none that is too large or lost", async () => {
    const many = ["d1", "d2", "d3", "d4", "d5", "d6", "d7"].map((digest) => image(digest));
    const made = await unfolded([image("huge", { size: 6_000_000 }), ...many], (digest) =>
      digest === "d1" ? null : "aGk=",
    );
    await waitFor(() => expect(drawn).toHaveBeenCalledTimes(3));
    const hints = [...document.querySelectorAll(".result-pictures .hint")].map((one) => one.textContent);
    expect(hints).toEqual([
      "Picture, 1280 × 400: it cannot be shown here.",
      "Picture, 1280 × 400: it cannot be shown here.",
      "and 3 more pictures",
    ]);
    expect(made.requests(PICTURE).map(({ params }) => params["digest"])).toEqual(["d1", "d2", "d3", "d4"]);
  });

  test("are not spoken of where there are none", async () => {
    await unfolded([], () => null);
    expect(document.querySelector(".result-pictures")).toBeNull();
    expect(picturesOf([message()]).size).toBe(0);
  });
});
