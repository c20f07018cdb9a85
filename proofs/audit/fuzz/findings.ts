/** Inputs of which something came that must not: kept as an auditor would have them, with what makes them again. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fault } from "./fault.ts";
import { asFiles, type Input } from "./input.ts";
import type { Path } from "./make-input.ts";

const MAX_OF_A_KIND = 3;
const MAX_KEPT = 60;

/** A path, or a kind of large inputs and its number. */
export type Place = { path: Path } | { large: string; number: number };
export type Finding = Place & { seed: number; fault: Fault; arguments: string[] };

export class Findings {
  readonly #samplesFile: string;
  readonly #byKind = new Map<string, number>();
  readonly counts: Record<Fault["what"], number> = { crash: 0, hang: 0, memory: 0, wrong: 0 };
  #folder: string | null = null;
  #kept = 0;
  /** The first of each kind: what was said, and the folder of its input. */
  readonly first: { fault: Fault; times: number; input: string }[] = [];

  /** @param samplesFile goes along: without it the numbers mean nothing */
  constructor(samplesFile: string) {
    this.#samplesFile = samplesFile;
  }

  /** @returns whether it is the first of its kind */
  add(place: Place, seed: number, fault: Fault, input: () => Input): boolean {
    this.counts[fault.what] += 1;
    const kind = kindOf(fault);
    const times = (this.#byKind.get(kind) ?? 0) + 1;
    this.#byKind.set(kind, times);
    const known = this.first.find((one) => kindOf(one.fault) === kind);
    if (known !== undefined) known.times = times;
    if (times > MAX_OF_A_KIND || this.#kept === MAX_KEPT) return false;
    const folder = join(this.#made(), String(this.#kept++));
    const finding: Finding = { ...place, seed, fault, arguments: asFiles(input(), folder) };
    writeFileSync(join(folder, "finding.json"), `${JSON.stringify(finding, null, 1)}\n`);
    if (known === undefined) this.first.push({ fault, times, input: folder });
    return known === undefined;
  }

  #made(): string {
    if (this.#folder === null) {
      this.#folder = mkdtempSync(join(tmpdir(), "audit-fuzz-"));
      cpSync(this.#samplesFile, join(this.#folder, "samples"));
    }
    return this.#folder;
  }
}

export function readFinding(folder: string): { finding: Finding; samplesFile: string } {
  const finding = JSON.parse(readFileSync(join(folder, "finding.json"), "utf8")) as Finding;
  return { finding, samplesFile: join(folder, "../samples") };
}

function kindOf({ what, said }: Fault): string {
  return `${what} ${said.replaceAll(/[0-9]+/g, "0")}`;
}
