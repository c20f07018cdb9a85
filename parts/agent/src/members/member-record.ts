/** What the agent knows about one member, on disk: after a kill -9 at any point it goes on from here. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DesiredMember, MemberReport } from "@resontech/contracts/agent-protocol";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import type { Failure, Verdict } from "../decisions/container-end.ts";
import { INITIAL_TOLD, type Told } from "../decisions/told-events.ts";
import type { NodeDisk } from "../disk/node-disk.ts";
import type { Kept } from "../substrate/enclosure.ts";

/** `staging` → `running` → `draining` → `releasing` → `released`; a failure or a stop goes on to a later one at once. */
export type MemberPhase = "staging" | "running" | "draining" | "releasing" | "released";

const FORMAT_VERSION = 2;
/** No member has such a name. */
const INPUT_CACHE = "~inputs";

export type MemberState = {
  formatVersion: typeof FORMAT_VERSION;
  desired: DesiredMember;
  phase: MemberPhase;
  /** The boot that it was begun in: mounts and processes don't outlive it. */
  bootId: string;
  /** Sequence number of the next report. */
  nextSeq: number;
  /** Reports that the coordinator has not taken yet, oldest first. */
  pending: MemberReport[];
  /** Bytes of the runner's events that were read, and what was told of them. */
  eventsOffset: number;
  told: Told;
  /** Bytes of the output that were shipped, and the number of the next chunk. */
  logOffset: number;
  logSeq: number;
  /** Bytes of the output in which metrics were sought. */
  metricsOffset: number;
  /** The substrate's own notes of it. */
  kept: Kept;
  /** The runner's last word. */
  verdict: Verdict | null;
  model: { file: string; name: string } | null;
  failure: Failure | null;
  stop: { reason: string; graceMs: number } | null;
  /** It stops once it has committed, or after so long. */
  commit: { reason: string; graceMs: number } | null;
};

export function freshState(
  desired: DesiredMember,
  phase: MemberPhase,
  bootId: string,
): MemberState {
  return {
    formatVersion: FORMAT_VERSION,
    desired,
    phase,
    bootId,
    nextSeq: 1,
    pending: [],
    eventsOffset: 0,
    told: INITIAL_TOLD,
    logOffset: 0,
    logSeq: 1,
    metricsOffset: 0,
    kept: {},
    verdict: null,
    model: null,
    failure: null,
    stop: null,
    commit: null,
  };
}

export class MemberStore {
  readonly #folder: string;
  readonly #disk: Pick<NodeDisk, "withRoom">;

  constructor(dataDir: string, disk: Pick<NodeDisk, "withRoom">) {
    this.#disk = disk;
    this.#folder = join(dataDir, "members");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Folder of a member's files: record, staged inputs, disk image. */
  directory(member: string): string {
    return join(this.#folder, member);
  }

  /** Where inputs are kept between members. A release that knows of none takes it for what is left of a member, and removes it before it begins any. */
  get inputCacheFolder(): string {
    return join(this.#folder, INPUT_CACHE);
  }

  /** Members that have a folder, with or without a record. */
  names(): string[] {
    return readdirSync(this.#folder).filter((name) => name !== INPUT_CACHE);
  }

  /**
   * What can't be read (a damaged disk, a release whose records this one does not know) is left out: its member is swept, and the
   * coordinator hears that it is not held.
   * @param onUnread is told why, for each record that is there
   */
  load(onUnread: (member: string, why: string) => void = () => {}): MemberState[] {
    return this.names().flatMap((member) => {
      const read = readRecord(this.#file(member));
      if (read !== null && "why" in read) onUnread(member, read.why);
      return read === null || "why" in read ? [] : [read.state];
    });
  }

  save(state: MemberState): void {
    const { member } = state.desired;
    this.#disk.withRoom(() => {
      mkdirSync(this.directory(member), { recursive: true, mode: 0o700 });
      replaceFileNow(this.#file(member), JSON.stringify(state), 0o600);
    });
  }

  /** Of what has no record: the next process sweeps it. */
  makeFolder(name: string): void {
    this.#disk.withRoom(() => mkdirSync(this.directory(name), { recursive: true, mode: 0o700 }));
  }

  forget(member: string): void {
    rmSync(this.directory(member), { recursive: true, force: true });
  }

  #file(member: string): string {
    return join(this.directory(member), "record.json");
  }
}

/**
 * Records are our own and replaced in one step: one of our version is taken as it was written. What an older release did not note is fresh; what a
 * newer one notes beside is kept, and written again. Null where there is none.
 */
function readRecord(file: string): { state: MemberState } | { why: string } | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : { why: `the record can't be read: ${message}` };
  }
  const version =
    typeof value === "object" && value !== null && "formatVersion" in value
      ? value.formatVersion
      : null;
  if (version !== FORMAT_VERSION)
    return {
      why: `the record has format ${String(version)}, this release reads ${FORMAT_VERSION}`,
    };
  const state = value as MemberState;
  return { state: { ...freshState(state.desired, state.phase, state.bootId), ...state } };
}
