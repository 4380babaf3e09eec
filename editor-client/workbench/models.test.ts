// The picker with models of several providers: an endpoint with a key, and two servers on this machine.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { useWorkbench } from "./workbench";

const row = (id: string, facts: object = {}): object => ({ id, object: "model", ...facts });
const PLACES: Readonly<Record<string, object>> = {
  "/v1/models": {
    data: [row("qwen3-coder:30b", { max_model_len: 65_536 }), row("gemma4:12b", { max_model_len: 8192 })],
  },
  "/api/ps": { models: [] },
};

const listing: Server = createServer((request, response) => {
  const body = PLACES[request.url ?? ""];
  response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(body ?? {}));
});
await new Promise<void>((done) => listing.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${String((listing.address() as AddressInfo).port)}`;
const env = { OLLAMA_BASE_URL: address, VLLM_BASE_URL: address };
const at = useWorkbench({ env, window: { files: { "a.txt": "a\n" } } });

afterAll(() => listing.close());

test("models stand under their providers, and one of a local server is chosen", async () => {
  const { window } = at();
  await window.panel.getByRole("button", { name: /^Model:/ }).click();
  await window.panel.getByRole("option", { name: /^ollama\/qwen3-coder/ }).waitFor();
  const headings = await window.panel.locator(".choice-heading").allTextContents();
  expect(headings).toContain("anthropic");
  expect(headings.slice(-2)).toEqual(["ollama", "vllm"]);
  await window.shot("models-by-provider");
  await window.panel.getByRole("option", { name: /^vllm\/gemma4/ }).scrollIntoViewIfNeeded();
  await window.shot("models-of-this-machine");
  await window.panel.getByRole("combobox").fill("qwen");
  await window.shot("models-found");
  await window.panel.getByRole("option", { name: /^ollama\/qwen3-coder/ }).click();
  await window.panel.getByRole("button", { name: "Model: ollama/qwen3-coder:30b" }).waitFor();
});
