// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import type { Server, ServerList } from "../../src/protocol/types";
import { Servers } from "../../webview/parts/Servers";
import { expectAccessible, show, stateOf } from "../context/panel";

const state = stateOf("edit");
const COMMAND = `.mcp.json would run: npx ${"x".repeat(300)}`;

describe("the servers that people bring along", () => {
  test("are listed with all that would be run, let start, switched off and begun anew", async () => {
    let servers: Server[] = [
      { name: "desk", state: "ready", tools: 2 },
      { name: "odd", state: "needs_trust", tools: 0, message: `${COMMAND}\u202e` },
    ];
    const enableServer = vi.fn((name: string, enabled: boolean): Promise<ServerList> => {
      servers = servers.map((one) => (one.name === name ? { ...one, state: enabled ? "starting" : "off" } : one));
      return Promise.resolve({ servers });
    });
    const restartServer = vi.fn(() => Promise.resolve());
    const listServers = () => Promise.resolve({ servers, problems: ["It is no JSON."] });
    const { container } = show(<Servers state={state} />, { listServers, enableServer, restartServer });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(2));
    expect(container.textContent).toContain("2 tools");
    expect(container.textContent).toContain(COMMAND);
    expect(container.textContent).toContain("It is no JSON.");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Let odd start" }));
    await waitFor(() => expect(container.textContent).toContain("starting"));
    expect(enableServer).toHaveBeenCalledExactlyOnceWith("odd", true);
    fireEvent.click(screen.getByRole("button", { name: "Restart desk" }));
    await waitFor(() => expect(restartServer).toHaveBeenCalledExactlyOnceWith("desk"));
    fireEvent.click(screen.getByRole("button", { name: "Switch desk off" }));
    await waitFor(() => expect(screen.getByRole("button", { name: "Let desk start" })).toBeDefined());
  });

  test("are not spoken of where there are none", async () => {
    const listServers = vi.fn(() => Promise.resolve({ servers: [] }));
    const { container } = show(<Servers state={state} />, { listServers });
    await waitFor(() => expect(listServers).toHaveBeenCalled());
    expect(container.textContent).toBe("");
  });
});
