import { readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import { printedMetric } from "../decisions/printed-metric.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";
import type { MemberContext } from "./member-context.ts";

const CHUNK_BYTES = 256 * 1024;
/** A line that is longer is no metric; it is passed over whole. */
const MAX_LINE_BYTES = 64 * 1024;
/** Each look writes the member's record once; what is more waits for the next one. */
const MAX_METRICS = 100;
/** As many reports wait for the coordinator at most: a program that prints metrics alone is read no faster than they are taken. */
const MAX_PENDING = 512;
/** Until the coordinator may have taken some of what waits. */
const HELD_UP_MS = 200;
/** Of what was printed and nobody had read by the end. */
const MAX_REST_BYTES = 16 * 1024 * 1024;

/** Metrics of a program without a runner of ours: read from what it prints, each told once. */
export class PrintedMetrics {
  readonly #member: MemberContext;
  /** Null: somebody else tells its metrics. */
  readonly #site: string | null;

  constructor(member: MemberContext) {
    this.#member = member;
    this.#site = member.journal.state.desired.payload.outputs.metrics ?? null;
  }

  /** Tells what was printed since. */
  async tick(): Promise<void> {
    await this.#read(false);
  }

  /** Tells what is left, as the coordinator takes it; nothing more is printed by then. */
  async finish(): Promise<void> {
    const { abandoned } = this.#member;
    for (let found; (found = await this.#read(true)) !== "nothing"; )
      // Never without a pause: beats that wait for a job's metrics would end every job on this node.
      await sleep(found === "full" ? HELD_UP_MS : 0, undefined, { signal: abandoned });
  }

  /** @param isOver a last line may lack its end */
  async #read(isOver: boolean): Promise<"read" | "nothing" | "full"> {
    if (this.#site === null) return "nothing";
    const { journal, enclosure } = this.#member;
    using file = await enclosure.area.open(JOB_PATHS.output);
    if (file === null) return "nothing";
    const from = Math.max(journal.state.metricsOffset, file.sizeBytes - MAX_REST_BYTES);
    const room = Math.min(MAX_METRICS, MAX_PENDING - journal.state.pending.length);
    if (from >= file.sizeBytes) return "nothing";
    if (room <= 0) return "full";
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, file.sizeBytes - from));
    const read = readSync(file.fd, chunk, 0, chunk.length, from);
    const { events, used } = this.#linesOf(
      chunk.subarray(0, read),
      room,
      isOver && from + read === file.sizeBytes,
    );
    if (used === 0) return "nothing";
    // A place alone reaches the disk with the next change: lines without a metric are read again after a crash.
    if (events.length === 0) journal.readMetrics(from + used);
    else journal.note({ metricsOffset: from + used }, ...events);
    return "read";
  }

  #linesOf(bytes: Buffer, room: number, isEnd: boolean): { events: MemberEvent[]; used: number } {
    const site = this.#site!;
    const events: MemberEvent[] = [];
    let used = 0;
    const last = isEnd ? bytes.length : bytes.length - 1;
    for (let at = 0; at <= last && events.length < room; at++) {
      // A progress bar ends its lines by a carriage return.
      if (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) continue;
      const metric = printedMetric(bytes.toString("utf8", used, at));
      used = Math.min(at + 1, bytes.length);
      if (metric === null) continue;
      events.push({ kind: "metric", site, value: metric.json });
      if (metric.problem !== null)
        events.push({
          ...{ kind: "warning", site, topic: "metric-kept-as-text" },
          text: `a line RT_METRIC is kept as text: ${metric.problem}`,
        });
    }
    return { events, used: used === 0 && bytes.length > MAX_LINE_BYTES ? bytes.length : used };
  }
}
