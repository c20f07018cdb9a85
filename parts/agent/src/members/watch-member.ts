/** While the member runs: its events, its output, its end. */
import { setTimeout as sleep } from "node:timers/promises";
import { evaluateEnd, isEndAsOrdered, toldExitCode } from "../decisions/container-end.ts";
import { CheckpointUploads } from "./checkpoint-uploads.ts";
import { CommitOrder } from "./commit-order.ts";
import { lastPrinted } from "./last-printed.ts";
import { LogShipper } from "./log-shipper.ts";
import type { MemberContext } from "./member-context.ts";
import { PrintedMetrics } from "./printed-metrics.ts";
import { ReplicaSpecs } from "./replica-specs.ts";
import { RoundUploads } from "./round-uploads.ts";
import { takeEvents, takeRest } from "./take-events.ts";

const LOOK_MS = 200;
/** A runner that has said its last word ends within seconds; the server lingers so that its sites hear of the end. */
const LINGER_MS = 20_000;
const KILL_AFTER_TERM_MS = 30_000;

export async function watchMember(member: MemberContext): Promise<void> {
  const { tools, journal, enclosure, abandoned } = member;
  const run = await enclosure.observe(abandoned);
  // An agent that was killed meanwhile has taken its end of the bridge along.
  await enclosure.connect(journal.state.desired.bridge ?? null, abandoned);
  // Looked at from inside as well, now that it runs.
  await enclosure.proveClosed();
  const shipper = new LogShipper(member);
  const rounds = new RoundUploads(member);
  const checkpoints = new CheckpointUploads(member);
  const wishes = new ReplicaSpecs(member);
  const order = new CommitOrder(member);
  const metrics = new PrintedMetrics(member);
  const ending = new Ending(member);
  {
    using _followed = tools.usages.follow(journal.state.desired.member, run);
    while (run.isRunning()) {
      const nowMs = performance.now();
      wishes.pass();
      order.pass();
      await shipper.tick(nowMs);
      await metrics.tick();
      if (await takeEvents(member, checkpoints)) rounds.request(nowMs);
      checkpoints.tick(nowMs);
      rounds.tick(nowMs);
      await ending.look();
      await sleep(LOOK_MS, undefined, { signal: abandoned });
    }
  }
  const { exitCode, oomKilled } = await run.end(abandoned);
  tools.records.ended(journal.state.desired, exitCode, oomKilled);
  await shipper.tick(performance.now());
  await metrics.finish();
  await takeRest(member, checkpoints);
  await Promise.all([shipper.settle(), rounds.settle(), checkpoints.settle()]);
  // What ends because it was told to is not judged.
  const { commit, desired, stop, verdict } = journal.state;
  if (stop !== null) return journal.note({ phase: "draining" });
  if (commit !== null && isEndAsOrdered({ exitCode, oomKilled, verdict }, ending.isOverdue))
    return journal.note({ phase: "draining", stop: commit });
  const { area } = enclosure;
  const printed = verdict === null ? await lastPrinted(area) : null;
  const failure = evaluateEnd({
    exitCode,
    oomKilled,
    verdict,
    printed,
    isDiskFull: area.isFull,
    limits: desired.resources,
  });
  const code = toldExitCode({ exitCode, oomKilled });
  const told = code === null ? {} : { exitCode: code };
  journal.note(
    { phase: "draining", failure },
    failure === null ? { kind: "finished", ...told } : { kind: "failed", ...failure, ...told },
  );
}

/** Ends what was told to stop, and what has said its last word and does not go. */
class Ending {
  readonly #member: MemberContext;
  #termAtMs: number | null = null;
  #wordAtMs: number | null = null;
  #isKilled = false;
  #orderedAtMs: number | null = null;
  /** It was asked to commit, and did not end in the time that it had. */
  isOverdue = false;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  async look(): Promise<void> {
    const { journal, enclosure, abandoned } = this.#member;
    const { commit, stop, verdict } = journal.state;
    const now = performance.now();
    if (verdict !== null) this.#wordAtMs ??= now;
    const isLate = this.#wordAtMs !== null && now - this.#wordAtMs > LINGER_MS;
    if (commit !== null) this.#orderedAtMs ??= now;
    this.isOverdue =
      commit !== null && this.#orderedAtMs !== null && now - this.#orderedAtMs > commit.graceMs;
    if (stop === null && !isLate && !this.isOverdue) return;
    const graceMs = Math.min(stop?.graceMs ?? KILL_AFTER_TERM_MS, KILL_AFTER_TERM_MS);
    if (this.#termAtMs === null) {
      this.#termAtMs = now;
      await enclosure.signal("terminate", abandoned);
    } else if (now - this.#termAtMs > graceMs && !this.#isKilled) {
      this.#isKilled = true;
      await enclosure.signal("kill", abandoned);
    }
  }
}
