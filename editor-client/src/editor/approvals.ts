// The questions of the server's that wait for the user, wherever they are answered.
import { type CancellationToken, type Disposable, EventEmitter, window } from "vscode";
import { visible } from "../hidden";
import { t } from "../language";
import type { OpenApproval } from "../messages";
import { unlinked } from "../plain";
import type { ApprovalReply, ApprovalRequest } from "../protocol/types";

interface Waiting {
  approval: OpenApproval;
  settle(reply: ApprovalReply): void;
}

/** Characters that show what they are, one behind the other. */
const PLAIN = /^[\x20-\x7e]+$/;
/** Of a notification. */
const SHOWN = 200;

/** Open questions, oldest first. Each is answered exactly once, by whoever comes first. */
export class Approvals implements Disposable {
  readonly #opened = new EventEmitter<OpenApproval>();
  readonly #closed = new EventEmitter<OpenApproval>();
  readonly onOpen = this.#opened.event;
  readonly onClose = this.#closed.event;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  get open(): readonly OpenApproval[] {
    return [...this.#waiting.values()].map(({ approval }) => approval);
  }

  get(id: number): OpenApproval | null {
    return this.#waiting.get(id)?.approval ?? null;
  }

  /** Ask the user; withdrawn by the token, it counts as dismissed. */
  ask(request: ApprovalRequest, token: CancellationToken): Promise<ApprovalReply> {
    if (token.isCancellationRequested) return Promise.resolve({ cancelled: true });
    return new Promise((resolve) => {
      this.#last += 1;
      const id = this.#last;
      const approval = { id, request };
      const listening = token.onCancellationRequested(() => {
        this.decide(id, { cancelled: true });
      });
      this.#waiting.set(id, {
        approval,
        settle: (reply) => {
          listening.dispose();
          resolve(reply);
        },
      });
      this.#opened.fire(approval);
    });
  }

  /** Answer a question; false when it is not open any more, or the option was not offered. */
  decide(id: number, reply: ApprovalReply): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || !fits(waiting.approval.request, reply)) return false;
    this.#waiting.delete(id);
    waiting.settle(reply);
    this.#closed.fire(waiting.approval);
    return true;
  }

  /** The server that asked is gone. */
  withdrawAll(): void {
    for (const id of [...this.#waiting.keys()]) this.decide(id, { cancelled: true });
  }

  dispose(): void {
    this.withdrawAll();
    this.#opened.dispose();
    this.#closed.dispose();
  }
}

/**
 * Ask by a notification, for a panel that nobody sees; `show` brings the panel up. Only a command that is told in whole
 * can be allowed here, and none that is asked about every time: the panel says why.
 */
export async function notify(approvals: Approvals, { id, request }: OpenApproval, show: () => void): Promise<void> {
  const offered = (kind: string): string | undefined => request.options.find((option) => option.kind === kind)?.id;
  const { command } = request.preview;
  const brief = short(command ?? request.title);
  const told = command !== undefined && PLAIN.test(command) && brief === command;
  const whole = told && request.alwaysAsked !== true;
  const allow = whole ? offered("allow_once") : undefined;
  const reject = offered("reject");
  const titles = [t.show, ...(allow === undefined ? [] : [t.allowOnce]), ...(reject === undefined ? [] : [t.reject])];
  const chosen = await window.showInformationMessage(
    t.codelawAsks(command === undefined ? brief : t.run(brief)),
    ...titles,
  );
  if (chosen === undefined) return;
  if (chosen === t.show) {
    show();
    return;
  }
  const optionId = chosen === t.allowOnce ? allow : reject;
  if (optionId !== undefined && !approvals.decide(id, { optionId })) {
    void window.showInformationMessage(t.asksNoLonger);
  }
}

function fits(request: ApprovalRequest, reply: ApprovalReply): boolean {
  return reply.cancelled === true || request.options.some((option) => option.id === reply.optionId);
}

/** A notification is one line; the panel shows all of it. */
const short = (text: string): string => {
  const line = unlinked(visible(text).trim());
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
};
