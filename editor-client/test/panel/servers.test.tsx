// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import type { Server, ServerList } from "../../src/protocol/types";
import { ServerOffers } from "../../webview/parts/ServerOffer";
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
    const enableServer = vi.fn(({ name }: Server, enabled: boolean): Promise<ServerList> => {
      servers = servers.map((one) => (one.name === name ? { ...one, state: enabled ? "starting" : "off" } : one));
      return Promise.resolve({ servers });
    });
    const restartServer = vi.fn(() => Promise.resolve());
    const listServers = () => Promise.resolve({ servers, problems: ["It is not JSON."] });
    const { container } = show(<Servers state={state} />, { listServers, enableServer, restartServer });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(2));
    expect(container.textContent).toContain("2 tools");
    expect(container.textContent).toContain(COMMAND);
    expect(container.textContent).toContain("It is not JSON.");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Let odd start" }));
    await waitFor(() => expect(container.textContent).toContain("starting"));
    expect(enableServer).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ name: "odd" }), true);
    fireEvent.click(screen.getByRole("button", { name: "Restart desk" }));
    await waitFor(() => expect(restartServer).toHaveBeenCalledExactlyOnceWith("desk"));
    fireEvent.click(screen.getByRole("button", { name: "Switch desk off" }));
    await waitFor(() => expect(screen.getByRole("button", { name: "Let desk start" })).toBeDefined());
  });

  test("to which the user has logged in can be logged out of, and those that want a login be logged in to", async () => {
    let servers: Server[] = [
      { name: "in", state: "ready", tools: 1, loggedIn: true },
      { name: "out", state: "needs_auth", tools: 0 },
    ];
    const logOutOfServer = vi.fn(() => {
      servers = [{ name: "in", state: "needs_auth", tools: 0 }];
      return Promise.resolve();
    });
    const restartServer = vi.fn(() => Promise.resolve());
    const listServers = () => Promise.resolve({ servers });
    const { container } = show(<Servers state={state} />, { listServers, restartServer, logOutOfServer });
    fireEvent.click(await screen.findByRole("button", { name: "Log in to out" }));
    await waitFor(() => expect(restartServer).toHaveBeenCalledExactlyOnceWith("out"));
    expect(screen.queryByRole("button", { name: "Log out of out" })).toBeNull();
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Log out of in" }));
    await waitFor(() => expect(screen.queryByRole("button", { name: "Log out of in" })).toBeNull());
    expect(logOutOfServer).toHaveBeenCalledExactlyOnceWith("in");
    expect(container.textContent).toContain("wants a login");
  });

  test("follow what becomes of them while the page is looked at, and no more after a failure", async () => {
    vi.useFakeTimers();
    try {
      let found: ServerList | null = { servers: [{ name: "desk", state: "starting", tools: 0 }] };
      const listServers = vi.fn(() => Promise.resolve(found));
      const { container, unmount } = show(<Servers state={state} />, { listServers });
      await vi.advanceTimersByTimeAsync(0);
      expect(container.textContent).toContain("starting");
      found = { servers: [{ name: "desk", state: "ready", tools: 2 }] };
      await vi.advanceTimersByTimeAsync(3000);
      expect(container.textContent).toContain("2 tools");
      found = null;
      await vi.advanceTimersByTimeAsync(3000);
      const asked = listServers.mock.calls.length;
      await vi.advanceTimersByTimeAsync(30_000);
      expect(listServers).toHaveBeenCalledTimes(asked);
      expect(container.textContent, "what was read last stays").toContain("2 tools");
      found = { servers: [{ name: "desk", state: "off", tools: 0 }] };
      fireEvent.focus(window);
      await vi.advanceTimersByTimeAsync(0);
      expect(container.textContent).toContain("off");
      unmount();
      const last = listServers.mock.calls.length;
      await vi.advanceTimersByTimeAsync(30_000);
      expect(listServers).toHaveBeenCalledTimes(last);
    } finally {
      vi.useRealTimers();
    }
  });

  test("are not spoken of where there are none", async () => {
    const listServers = vi.fn(() => Promise.resolve({ servers: [] }));
    const { container } = show(<Servers state={state} />, { listServers });
    await waitFor(() => expect(listServers).toHaveBeenCalled());
    expect(container.textContent).toBe("");
  });
});

describe("the question whether a server may start", () => {
  const knowing = { ...state, server: { ...state.server, methods: ["codelaw/mcp/decline"] } };

  const waiting = (name: string, message: string): Server => ({
    name,
    state: "needs_trust",
    tools: 0,
    message,
    digest: `digest of ${name}`,
    ask: true,
  });

  test("shows a short command at once; the answer is about what was shown, and the next one follows", async () => {
    let servers = [
      waiting("a", "would run: npx a\u202e"),
      waiting("b", COMMAND),
      { ...waiting("c", ""), ask: undefined },
    ];
    const without = (name: string): Promise<ServerList> => {
      servers = servers.filter((one) => one.name !== name);
      return Promise.resolve({ servers } as ServerList);
    };
    const enableServer = vi.fn(({ name }: Server) => without(name));
    const declineServer = vi.fn(({ name }: Server) => without(name));
    const listServers = () => Promise.resolve({ servers } as ServerList);
    const { container } = show(<ServerOffers state={knowing} />, { listServers, enableServer, declineServer });
    await waitFor(() => expect(container.textContent).toContain("would run: npx a"));
    expect(container.textContent).toContain("1 of 2");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Enable" }));
    await waitFor(() => expect(screen.getByRole("heading").textContent).toContain("b"));
    expect(enableServer).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ digest: "digest of a" }), true);
    expect(screen.queryByRole("button", { name: "Enable" })).toBeNull();
    expect(container.textContent).not.toContain("xxx");
    fireEvent.click(screen.getByRole("button", { name: "Show what it runs" }));
    expect(container.textContent).toContain(COMMAND);
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Not now" }));
    await waitFor(() => expect(container.textContent).toBe(""));
    expect(declineServer).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ digest: "digest of b" }));
  });

  test("is not put where the server does not know it", () => {
    const listServers = vi.fn(() => Promise.resolve({ servers: [] }));
    const { container } = show(<ServerOffers state={state} />, { listServers });
    expect(container.textContent).toBe("");
    expect(listServers).not.toHaveBeenCalled();
  });
});
