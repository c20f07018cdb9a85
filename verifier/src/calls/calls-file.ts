/** An export of model calls beside an export of the log: its head is read before the log, its lines behind it. */
import { linesOf } from "../input/lines-of.ts";
import { Refused } from "../input/note.ts";
import { piecesOf } from "../platform/pieces-of.ts";
import { nodePlatform } from "../platform/platform-node.ts";
import { fail, notChecked } from "../verdicts.ts";
import type { Report } from "../verify.ts";
import { CalledBatches } from "./called-batches.ts";
import { type CallsHead, MAX_LINE_BYTES, readCallsHead } from "./calls-head.ts";
import { type CallsJudged, CallsJudge } from "./evaluate-calls.ts";

export class CallsFile {
  readonly #path: string;
  readonly #head: CallsHead;
  /** Takes each entry of the log. */
  readonly batches: CalledBatches;

  private constructor(path: string, head: CallsHead) {
    this.#path = path;
    this.#head = head;
    this.batches = new CalledBatches(head);
  }

  /** @throws Refused for what is no export of calls, and what the disk says */
  static async open(path: string): Promise<CallsFile> {
    for await (const line of linesOf(piecesOf(path), MAX_LINE_BYTES))
      return new CallsFile(path, readCallsHead(line));
    throw new Refused("the file of calls is empty");
  }

  /** @param report of the log, whose entries {@link batches} took */
  async judge({ refused, verdicts, checkpoint }: Report): Promise<CallsJudged> {
    const nothing = { line: null, batches: 0, lines: 0, calls: 0, gone: 0 };
    if (refused !== null || checkpoint === null || verdicts.INTEGRITY.verdict !== "PASS")
      return {
        ...{ ...this.#head, ...nothing },
        judged: notChecked("the entries are not sound (INTEGRITY)"),
      };
    if (checkpoint.origin !== this.#head.origin)
      return {
        ...{ ...this.#head, ...nothing, line: 1 },
        judged: fail(0, `line 1 of the calls: they are of the log ${this.#head.origin}`),
      };
    const judge = new CallsJudge(this.#head, this.batches.all, nodePlatform);
    return await judge.judge(this.#lines(), checkpoint.size);
  }

  async *#lines(): AsyncGenerator<Uint8Array> {
    let isFirst = true;
    for await (const line of linesOf(piecesOf(this.#path), MAX_LINE_BYTES)) {
      if (!isFirst) yield line;
      isFirst = false;
    }
  }
}
