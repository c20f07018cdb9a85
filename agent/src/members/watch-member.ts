/** While the container runs: its events, its output, its end. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { whileEngineIsAway } from "../containers/engine-retry.ts";
import type { ContainerState } from "../containers/job-containers.ts";
import { judgeEnd } from "../decisions/container-end.ts";
import { CheckpointUploads } from "./checkpoint-uploads.ts";
import { LogShipper } from "./log-shipper.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "./member-failure.ts";
import { lastPrinted } from "./last-printed.ts";
import { placeOf } from "./place-of.ts";
import { RoundUploads } from "./round-uploads.ts";
import { takeEvents, takeRest } from "./take-events.ts";

const LOOK_MS = 200;
/** The engine learns of an end a moment after the process is gone. */
const END_KNOWN_MS = 15_000;
/** A runner that has said its last word ends within seconds; the server lingers so that its sites hear of the end. */
const LINGER_MS = 20_000;
const KILL_AFTER_TERM_MS = 30_000;

export async function watchMember(member: MemberContext): Promise<void> {
  const { tools, journal, disk, containerName, abandoned } = member;
  const found = await whileEngineIsAway(() => tools.containers.inspect(containerName), abandoned);
  if (found === null) throw new MemberFailure("container_failed", "the container is gone");
  // An agent that was killed meanwhile has taken its end of the bridge along.
  await whileEngineIsAway(() => tools.network.connect(placeOf(journal.state.desired)), abandoned);
  // Looked at from inside as well, now that it runs.
  if (found.pid > 0) await tools.network.prove(journal.state.desired.attempt, found.pid);
  const shipper = new LogShipper(member);
  const rounds = new RoundUploads(member);
  const checkpoints = new CheckpointUploads(member);
  const ending = new Ending(member);
  for (const payload = hostProcess(found.pid); payload.lives(); ) {
    const nowMs = performance.now();
    shipper.tick(nowMs);
    if (takeEvents(member, checkpoints)) rounds.request(nowMs);
    checkpoints.tick(nowMs);
    rounds.tick(nowMs);
    await ending.look();
    await sleep(LOOK_MS, undefined, { signal: abandoned });
  }
  const { exitCode, oomKilled } = await endOf(member);
  tools.records.ended(journal.state.desired, exitCode, oomKilled);
  shipper.tick(performance.now());
  await takeRest(member, checkpoints);
  await Promise.all([shipper.settle(), rounds.settle(), checkpoints.settle()]);
  // What ends because it was told to is not judged.
  if (journal.state.stop !== null) return journal.note({ phase: "draining" });
  const { desired, verdict } = journal.state;
  const printed = verdict === null ? lastPrinted(disk) : null;
  const failure = judgeEnd({ exitCode, oomKilled, verdict, printed, isDiskFull: disk.isFull, limits: desired.resources });
  journal.note({ phase: "draining", failure }, failure === null ? { kind: "finished" } : { kind: "failed", ...failure });
}

/** Ends what was told to stop, and what has said its last word and does not go. */
class Ending {
  readonly #member: MemberContext;
  #termAtMs: number | null = null;
  #wordAtMs: number | null = null;
  #isKilled = false;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  async look(): Promise<void> {
    const { stop, verdict } = this.#member.journal.state;
    const now = performance.now();
    if (verdict !== null) this.#wordAtMs ??= now;
    const isLate = this.#wordAtMs !== null && now - this.#wordAtMs > LINGER_MS;
    if (stop === null && !isLate) return;
    const graceMs = Math.min(stop?.graceMs ?? KILL_AFTER_TERM_MS, KILL_AFTER_TERM_MS);
    if (this.#termAtMs === null) {
      this.#termAtMs = now;
      await this.#signal("SIGTERM");
    } else if (now - this.#termAtMs > graceMs && !this.#isKilled) {
      this.#isKilled = true;
      await this.#signal("SIGKILL");
    }
  }

  async #signal(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const { tools, containerName, abandoned } = this.#member;
    await whileEngineIsAway(() => tools.containers.signal(containerName, signal), abandoned);
  }
}

/** The engine's word on the end, once it has one. */
async function endOf({ tools, containerName, abandoned }: MemberContext): Promise<ContainerState> {
  for (const until = performance.now() + END_KNOWN_MS; performance.now() < until; ) {
    const state = await whileEngineIsAway(() => tools.containers.inspect(containerName), abandoned);
    if (state === null) throw new MemberFailure("container_failed", "the container is gone");
    if (state.phase === "ended") return state;
    await sleep(LOOK_MS / 4, undefined, { signal: abandoned });
  }
  throw new MemberFailure("container_failed", "the engine takes an ended container for a running one");
}

/** A process by its number and start: asking the kernel costs microseconds, asking the engine a tenth of a second of CPU. */
function hostProcess(pid: number): { lives(): boolean } {
  const born = pid === 0 ? null : startOf(pid);
  return { lives: () => born !== null && startOf(pid) === born };
}

/** Field 22 of /proc/PID/stat, counted behind the name, which may hold anything; null for one that is gone or a zombie. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
