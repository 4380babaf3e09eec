// What terminals have printed, where the shell tells the editor of its commands.
import { type Disposable, type Terminal, window } from "vscode";
import type { TerminalText } from "../protocol/types";

/** Characters of an output that are kept: its end. */
const MOST_OUTPUT = 200_000;

/** A command in a terminal. Newer editors have it than the oldest one we run in, so its types are not there. */
interface Execution {
  readonly commandLine: { readonly value: string };
  read(): AsyncIterable<string>;
}
interface Started {
  readonly terminal: Terminal;
  readonly execution: Execution;
}
interface Ended extends Started {
  readonly exitCode: number | undefined;
}
interface ShellIntegration {
  readonly onDidCloseTerminal: (listener: (terminal: Terminal) => unknown) => Disposable;
  readonly onDidStartTerminalShellExecution?: (listener: (event: Started) => unknown) => Disposable;
  readonly onDidEndTerminalShellExecution?: (listener: (event: Ended) => unknown) => Disposable;
}

/** The last command of each terminal. */
export class Terminals implements Disposable {
  readonly #last = new Map<Terminal, { execution: Execution; text: TerminalText }>();
  #newest: Terminal | undefined;
  readonly #listening: Disposable[] = [];

  constructor(integration: ShellIntegration = window) {
    const started = integration.onDidStartTerminalShellExecution?.((event) => void this.#follow(event));
    const ended = integration.onDidEndTerminalShellExecution?.(({ terminal, execution, exitCode }) => {
      const known = this.#last.get(terminal);
      if (known?.execution === execution && exitCode !== undefined) {
        this.#keep(terminal, execution, { ...known.text, exitCode });
      }
    });
    const closed = integration.onDidCloseTerminal((terminal) => this.#last.delete(terminal));
    this.#listening.push(...[started, ended, closed].filter((one) => one !== undefined));
  }

  /** Of the active terminal, else of the one in which a command was run last. */
  last(): TerminalText | null {
    const active = window.activeTerminal;
    const known = (active && this.#last.get(active)) ?? (this.#newest && this.#last.get(this.#newest));
    return known?.text ?? null;
  }

  dispose(): void {
    for (const one of this.#listening) one.dispose();
  }

  async #follow({ terminal, execution }: Started): Promise<void> {
    this.#newest = terminal;
    const begun = { name: terminal.name, command: execution.commandLine.value.slice(0, 10_000), output: "" };
    this.#keep(terminal, execution, begun);
    for await (const piece of execution.read()) {
      const known = this.#last.get(terminal);
      if (known?.execution !== execution) return;
      const output = (known.text.output + piece).slice(-MOST_OUTPUT);
      this.#keep(terminal, execution, { ...known.text, output });
    }
  }

  #keep(terminal: Terminal, execution: Execution, text: TerminalText): void {
    this.#last.set(terminal, { execution, text });
  }
}
