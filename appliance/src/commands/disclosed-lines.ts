/** The vault's lines of one shard, dealt out to the bundles of an export as it is written: the vault waits for each. */
import type { DisclosedRange } from "@resontech/audit/export";
import type { DisclosureEnd, DisclosureLine } from "@resontech/contracts/vault-control";

export class DisclosedLines {
  readonly #lines: AsyncGenerator<object>;
  readonly #origin: string;
  #next: DisclosureLine | null = null;
  #end: DisclosureEnd["end"] | null = null;

  private constructor(origin: string, lines: AsyncGenerator<object>) {
    this.#origin = origin;
    this.#lines = lines;
  }

  /** Resolves once the vault has put the disclosure on record. @throws VaultRefusedError */
  static async begin(origin: string, lines: AsyncGenerator<object>): Promise<DisclosedLines> {
    const disclosed = new DisclosedLines(origin, lines);
    await disclosed.#take();
    return disclosed;
  }

  /**
   * In ascending order of ranges. The last one has its lines only once the vault has said that it handed out all: without that word there is no
   * export. What is about entries behind it is taken too, or the vault would say that the receiver hung up. @throws VaultRefusedError
   */
  async of({ from, to, size }: DisclosedRange): Promise<string[] | null> {
    const lines: string[] = [];
    for (; this.#next !== null && this.#next.index < to; await this.#take())
      if (this.#next.index >= from && this.#isCovered(this.#next, size))
        lines.push(JSON.stringify(this.#next));
    if (to === size) await this.#takeRest();
    return lines.length === 0 ? null : lines;
  }

  /** What the vault said last; null before the last range. */
  get end(): DisclosureEnd["end"] | null {
    return this.#end;
  }

  async #takeRest(): Promise<void> {
    while (this.#next !== null) await this.#take();
    if (this.#end === null) throw new Error("the vault hung up before its last line");
  }

  /** An erasure behind the export's last entry is none that its reader could look up. */
  #isCovered(line: DisclosureLine, size: number): boolean {
    return !("erased" in line) || line.erased.origin !== this.#origin || line.erased.index < size;
  }

  async #take(): Promise<void> {
    const taken = await this.#lines.next();
    const line = taken.done === true ? null : (taken.value as DisclosureLine | DisclosureEnd);
    if (line !== null && "end" in line) this.#end = line.end;
    this.#next = line === null || "end" in line ? null : line;
  }
}
