// The model's side: the loopback vendor of tests/loopback, as a program of its own.
import { Program } from "./processes";
import { PYTHON, ROOT } from "./places";

/** One answer of the vendor's; the fields are those of `VendorReply` in tests/loopback/script.py. */
export interface Reply {
  text?: string;
  /** Characters in a delta. */
  chunk?: number;
  /** Seconds before each event. */
  delay?: number;
  /** Seconds before the first byte. */
  wait?: number;
  status?: number;
  error_type?: string;
  error_message?: string;
  when_contains?: string;
  /** 0 is for ever. */
  times?: number;
}

/** A request as the vendor got it. */
export interface Captured {
  path: string;
  body: string;
  closed_early: boolean;
  summary: boolean;
  first_byte: number;
  answer_first_byte: number | null;
  answer_last_byte: number | null;
}

/** A step that calls a tool. */
export const call = (thought: string, tool: string, args: object, more: Reply = {}): Reply => ({
  text: `Thought: ${thought}\nAction: ${tool}[${JSON.stringify(args)}]`,
  ...more,
});

/** The step that ends a turn. */
export const finish = (answer: string, more: Reply = {}): Reply => ({
  text: `Thought: that is all\nAction: Finish[${answer}]`,
  ...more,
});

export class Vendor {
  private constructor(
    readonly program: Program,
    readonly url: string,
  ) {}

  static async start(): Promise<Vendor> {
    const program = new Program(PYTHON, ["-m", "tests.loopback.server"], { cwd: ROOT });
    const [, port] = await program.says(/^(\d+)$/m);
    return new Vendor(program, `http://127.0.0.1:${port ?? ""}`);
  }

  /** Begin another script; what was captured is forgotten. */
  async play(replies: Reply[], more: { window?: number; summaries?: string[]; fallback?: Reply } = {}): Promise<void> {
    const answer = await fetch(`${this.url}/control/script`, {
      method: "POST",
      body: JSON.stringify({ replies, fallback: null, window: 200_000, ...more }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** The requests since the script began. */
  async requests(): Promise<Captured[]> {
    const all = (await (await fetch(`${this.url}/control/requests`)).json()) as Captured[];
    return all.filter((request) => request.path.startsWith("/v1/messages") && !request.path.includes("count"));
  }

  stop(): Promise<void> {
    return this.program.stop();
  }
}
