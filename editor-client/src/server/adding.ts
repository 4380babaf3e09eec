// Watches what the server needs, adds it to the private environment, and starts the server anew when nothing runs.
import { Disposable, window } from "vscode";
import { t } from "../language";
import { unlinked } from "../plain";
import type { ChatEvent } from "../protocol/types";
import { type Extra, neededByEvent, neededByServers, neededBySettings } from "./extras";
import { refusalOf } from "./refusal";
import type { Server } from "./server";

/** The extras of one window. */
export class Extras implements Disposable {
  /** Those that were thought of; one that could not be added is not tried again in this window. */
  readonly #known = new Set<Extra>();
  readonly #subscriptions: Disposable;
  #running = new Set<string>();
  #session = 0;
  /** A server that is started now has more than the one that runs. */
  #outdated = false;

  constructor(private readonly server: Server) {
    this.#subscriptions = Disposable.from(
      server.onState(({ phase, session }) => {
        if (phase !== "ready" || session === this.#session) return;
        this.#session = session;
        this.#running = new Set();
        this.#outdated = false;
        void this.#look();
      }),
      server.onModelChanged(() => void this.#look()),
      server.onEvent((event) => void this.#heard(event)),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async #look(): Promise<void> {
    try {
      const { settings } = await this.server.request("codelaw/settings/read", {});
      const servers = await this.server.request("codelaw/mcp/list", {});
      await this.#add([...neededBySettings(settings), ...neededByServers(servers)]);
    } catch (error) {
      this.server.log.warn(`What the server needs is not known: ${refusalOf(error, t.server).message}`);
    }
  }

  async #heard({ turnId, event }: ChatEvent): Promise<void> {
    if (event.kind === "turn_started") this.#running.add(turnId);
    if (event.kind === "turn_ended") this.#running.delete(turnId);
    await this.#add(neededByEvent(event));
    await this.#renew();
  }

  async #add(needed: readonly Extra[]): Promise<void> {
    for (const extra of needed) {
      if (this.#known.has(extra)) continue;
      this.#known.add(extra);
      try {
        if (await this.server.add(extra)) this.#outdated = true;
      } catch (error) {
        const { message, hint } = refusalOf(error, t.server);
        this.server.log.error(`${extra} could not be added: ${message}`);
        void window.showWarningMessage(unlinked(t.server.couldNotAdd(t.server.extras[extra], hint, message)));
      }
    }
    await this.#renew();
  }

  /** A server that has looked for a package in vain does not look again. */
  async #renew(): Promise<void> {
    if (!this.#outdated || this.#running.size > 0) return;
    this.#outdated = false;
    await this.server.restart();
  }
}
