// @vitest-environment jsdom
import { waitFor } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { SentPictures } from "../../webview/parts/SentPictures";
import { expectAccessible, show } from "../context/panel";

const image = (digest: string) => ({ mediaType: "image/png", width: 640, height: 480, size: 9, digest });

test("pictures that were sent are named, and drawn where the chat has them still", async () => {
  const picture = vi.fn((_: string, { digest }: { digest: string }) =>
    Promise.resolve(digest === "a" ? { mediaType: "image/png", data: "AA==" } : null),
  );
  const { container } = show(<SentPictures chatId="c" images={[image("a"), image("b")]} />, { picture });
  await waitFor(() => expect(container.querySelectorAll("canvas")).toHaveLength(1));
  expect(picture.mock.calls.map(([chat, { digest }]) => [chat, digest])).toEqual([
    ["c", "a"],
    ["c", "b"],
  ]);
  expect([...container.querySelectorAll("li")].map((item) => item.textContent.trim())).toEqual([
    "Picture, 640 × 480",
    "Picture, 640 × 480",
  ]);
  await expectAccessible(container);
});
