/** COMPLETENESS: nothing is missing that the log itself speaks of. */
import { CoordinatorClock } from "./coordinator-clock.ts";
import { type Detail, integerIn, objectsIn, originIn } from "../leaf/detail.ts";
import { Horizon } from "./horizon.ts";
import { instantMs } from "../leaf/instant.ts";
import { IssuedUrls } from "./issued-urls.ts";
import type { Leaf } from "../leaf/leaf.ts";
import { binariesText, MEASURED, Measured } from "./measured.ts";
import { MemberCrossCheck } from "./member-cross-check.ts";
import { MultipartUploads } from "./multipart-uploads.ts";
import { Operations } from "./operations.ts";
import { Placements } from "./placements.ts";
import type { Platform } from "../platform/platform.ts";
import type { Releases } from "./releases.ts";
import { Sequences } from "./sequences.ts";
import { MAX_LOST } from "../tree/shards-before.ts";
import { type Downtime, isAnnounced, type Stretch, Timeline } from "./timeline.ts";
import { fail, pass, type Verdict } from "../verdicts.ts";

/** What was lost when the shard before was put back to an older state. `shards` had followed it, and are gone with as many entries as anybody had seen. */
export type Recovered = {
  origin: string;
  from: number;
  to: number;
  shards?: { origin: string; size: number }[];
};

export type Findings = {
  stretches: readonly Stretch[];
  recovered: Recovered | null;
  operations: { closed: number; open: number; overdue: number };
  /** auditd began anew without having stopped in good order. */
  abruptStarts: number;
};

export class Completeness {
  readonly timeline = new Timeline();
  readonly measured: Measured;
  readonly #sequences: Sequences;
  readonly #operations = new Operations();
  readonly #urls: IssuedUrls;
  readonly #horizon = new Horizon();
  readonly #clock = new CoordinatorClock();
  readonly #uploads = new MultipartUploads(this.#horizon);
  readonly #placements: Placements;
  readonly #words = new MemberCrossCheck(this.#horizon, this.#clock);
  readonly #faults: Verdict[] = [];
  #recovered: Recovered | null = null;
  #hasStarted = false;
  #abruptStarts = 0;
  #lastType = "";
  #lastMs = 0;
  #count = 0;

  /** @param releases that measured starts are compared with; null: none was given */
  constructor({ sha256 }: Pick<Platform, "sha256">, releases: Releases | null) {
    this.measured = new Measured(releases);
    this.#sequences = new Sequences(sha256);
    this.#urls = new IssuedUrls({ sha256 });
    this.#placements = new Placements(this.#horizon, this.#clock, { sha256 });
  }

  note(leaf: Leaf, index: number): void {
    const { type, prod, detail = {} } = leaf;
    if (index === 0 && type !== "audit.shard.open")
      this.#fault(index, "the first entry does not say which shard it opens");
    if (index > 0 && type === "audit.shard.open")
      this.#fault(index, "a shard is opened within another");
    if (index === 0 && detail["reason"] === "restore") {
      this.#recovered = recoveredBy(detail);
      if (this.#recovered === null)
        this.#fault(index, "the shard says that it was restored, and not from what");
    }
    if (this.#lastType === "audit.shard.close")
      this.#fault(index, "an entry follows the last one of the shard");
    const sequenceFault = this.#sequences.fault(leaf, index);
    if (sequenceFault !== null) this.#fault(index, sequenceFault);
    const operationFault = this.#operations.fault(leaf, index);
    if (operationFault !== null) this.#fault(index, operationFault);
    const urlFault = this.#urls.fault(leaf, index);
    if (urlFault !== null) this.#fault(index, urlFault);
    this.#crossCheck(leaf, index);
    const measuredFault = type === MEASURED ? this.measured.fault(leaf) : null;
    if (measuredFault !== null) this.#fault(index, measuredFault);
    if (type === "audit.lost" && !this.#isRecovered(leaf.object.id, integerIn(detail, "index")))
      this.#fault(
        index,
        `LOST: ${leaf.object.id} holds an acknowledgement of entry ${integerIn(detail, "index")} that the log does not bear out`,
      );
    if (prod === "auditd" && type === "audit.producer.start" && leaf.object.id === "auditd") {
      if (this.#hasStarted && this.#lastType !== "audit.stop") this.#abruptStarts += 1;
      this.#hasStarted = true;
    }
    this.timeline.note(leaf, index);
    this.#lastType = type;
    this.#lastMs = instantMs(leaf.t_log);
    this.#count = index + 1;
  }

  #crossCheck(leaf: Leaf, index: number): void {
    this.#clock.note(leaf);
    if (this.#horizon.note(leaf, index))
      for (const one of [this.#uploads, this.#placements, this.#words]) one.forget();
    const uploadFault = this.#uploads.fault(leaf);
    if (uploadFault !== null) this.#fault(index, uploadFault);
    const isEarly =
      leaf.type === "job.member" &&
      leaf.detail?.["from"] === null &&
      this.#placements.isEarly(leaf);
    for (const fault of this.#placements.faults(leaf, index))
      this.#fault(fault.index, fault.reason);
    for (const fault of this.#words.faults(leaf, index, isEarly))
      this.#fault(fault.index, fault.reason);
  }

  /** @param downtime null: none was announced, and stretches are told and not judged */
  atEnd(downtime: readonly Downtime[] | null): { verdict: Verdict; findings: Findings } {
    this.timeline.end(this.#count);
    const { open, overdue, firstOverdue } = this.#operations.atEnd(this.#lastMs);
    const { stretches } = this.timeline;
    if (firstOverdue !== null)
      this.#fault(
        firstOverdue.index,
        `${overdue} operations have no outcome and are older than their type allows; the first is ${firstOverdue.type}`,
      );
    const unannounced =
      downtime === null ? undefined : stretches.find((stretch) => !isAnnounced(stretch, downtime));
    if (unannounced !== undefined)
      this.#fault(
        unannounced.index,
        `${unannounced.kind} from ${unannounced.from} to ${unannounced.to}, which was not announced`,
      );
    if (downtime !== null && this.timeline.dropped > 0)
      this.#fault(
        0,
        `${this.timeline.dropped} stretches of silence more than are kept can't be compared with what was announced`,
      );
    const findings: Findings = {
      stretches,
      recovered: this.#recovered,
      operations: { closed: this.#operations.closed, open, overdue },
      abruptStarts: this.#abruptStarts,
    };
    return { verdict: this.#verdict(findings), findings };
  }

  #verdict({ stretches, operations }: Findings): Verdict {
    const [first] = this.#faults.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
    if (first !== undefined)
      return this.#faults.length === 1
        ? first
        : { ...first, reason: `${first.reason} (the first of ${this.#faults.length})` };
    const silences = ["DARK", "STOPPED", "SILENT"]
      .map((kind) => `${kind} ${stretches.filter((stretch) => stretch.kind === kind).length}`)
      .join(", ");
    return pass(
      `${this.#sequences.count} producers without a gap; ${operations.closed} operations closed, ${operations.open} OPEN; ${silences}${this.#pairedText()}${this.#recoveredText()}`,
    );
  }

  #pairedText(): string {
    const uses =
      this.#urls.paired === 0 ? "" : `; ${this.#urls.paired} uses of URLs, each issued on record`;
    const uploads =
      this.#uploads.paired === 0
        ? ""
        : `; ${this.#uploads.paired} uploads, each on record at both ends`;
    const { paired, waiting } = this.#words;
    const words = `; ${paired} starts and ends of members, each told by its node's agent${waiting === 0 ? "" : `, ${waiting} not yet`}`;
    const isOver = [this.#urls, this.#uploads, this.#placements, this.#words].some(
      (one) => one.isOver,
    );
    const overText = isOver
      ? "; more was under way at once than is compared: not every CROSS-CHECK was made"
      : "";
    const { binaries } = this.measured;
    const told = binariesText(binaries);
    const starts =
      told === null
        ? ""
        : `; ${told}${binaries.compared === 0 ? "" : ": each ran what that holds"}`;
    return uses + uploads + (paired + waiting === 0 ? "" : words) + starts + overText;
  }

  #recoveredText(): string {
    if (this.#recovered === null) return "";
    const { origin, from, to, shards = [] } = this.#recovered;
    const gone = shards.map((shard) =>
      shard.size > 0
        ? `${shard.size} entries of ${shard.origin}`
        : `all of ${shard.origin}, of which nobody had seen an entry,`,
    );
    const lost = [
      ...(from < to ? [`entries ${from} to ${to - 1} of ${origin}`] : []),
      ...gone,
    ].join(" and ");
    return lost === ""
      ? `; RECOVERED: it follows ${origin} from entry ${from} on, and nobody had seen what was lost`
      : `; RECOVERED: ${lost} were lost`;
  }

  /** What a restore cost a producer it tells before it has been acknowledged anything in this shard. */
  #isRecovered(prod: string, index: number | null): boolean {
    if (index === null || this.#recovered === null || this.#sequences.hasSpoken(prod)) return false;
    const { from, to, shards = [] } = this.#recovered;
    return (index >= from && index < to) || shards.some(({ size }) => index >= 0 && index < size);
  }

  /** The first hundred are enough to be told of. */
  #fault(index: number, reason: string): void {
    if (this.#faults.length < 100) this.#faults.push(fail(index, reason));
  }
}

/** Reads what was lost before a recovery; null when the entry does not say what. */
function recoveredBy(detail: Detail): Recovered | null {
  const origin = originIn(detail, "prev_origin");
  const from = integerIn(detail, "prev_size");
  const to = integerIn(detail, "seen_size");
  if (origin === null || from === null || to === null || from < 0) return null;
  const shards = (objectsIn(detail, "lost") ?? []).slice(0, MAX_LOST).flatMap((shard) => {
    const [name, size] = [originIn(shard, "origin"), integerIn(shard, "size")];
    return name === null || size === null ? [] : [{ origin: name, size }];
  });
  return { origin, from, to, ...(shards.length > 0 ? { shards } : {}) };
}
