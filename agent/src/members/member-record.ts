/** What the agent knows about one member, on disk: after a kill -9 at any point it goes on from here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DesiredMember, MemberReport } from "@resontech/contracts/agent-protocol";
import type { AgentReason } from "@resontech/contracts/job-reasons";
import { replaceFile } from "../durable-file.ts";

/** `staging` → `running` → `draining` → `releasing` → `released`; a failure or a stop goes to `releasing` at once. */
export type MemberPhase = "staging" | "running" | "draining" | "releasing" | "released";

export type MemberState = {
  desired: DesiredMember;
  phase: MemberPhase;
  /** Sequence number of the next report. */
  nextSeq: number;
  /** Reports that the coordinator has not taken yet, oldest first. */
  pending: MemberReport[];
  /** Bytes of `events.jsonl` that were read. */
  eventsOffset: number;
  /** Bytes of the container's output that were shipped, and the number of the next chunk. */
  logOffset: number;
  logSeq: number;
  /** Set by the runner's `finished`. */
  model: { file: string; name: string } | null;
  failure: { reason: AgentReason; message: string; detail?: string } | null;
  stop: { reason: string; atMs: number; graceMs: number } | null;
};

export class MemberStore {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "members");
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
  }

  /** Folder of a member's files: record, staged inputs, disk image. */
  directory(member: string): string {
    return join(this.#folder, member);
  }

  load(): MemberState[] {
    return readdirSync(this.#folder)
      .map((member) => join(this.#folder, member, "record.json"))
      .filter((file) => existsSync(file))
      .map((file) => JSON.parse(readFileSync(file, "utf8")) as MemberState);
  }

  save(state: MemberState): void {
    const folder = this.directory(state.desired.member);
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    replaceFile(join(folder, "record.json"), JSON.stringify(state));
  }

  forget(member: string): void {
    rmSync(this.directory(member), { recursive: true, force: true });
  }
}
