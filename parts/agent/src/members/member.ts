/**
 * One member's life on this node: stage, watch, drain, release. One piece of work at a time; what is done is in the record, so a new agent
 * process goes on where a killed one was. It ends early in two ways: *stopped* (orderly, outputs are kept) and *abandoned* (at once,
 * nothing more of it is stored).
 */
import type { DesiredMember, MemberBridge } from "@resontech/contracts/agent-protocol";
import { isDeepStrictEqual } from "node:util";
import { compareFences } from "@resontech/contracts/fence";
import { Turns } from "@resontech/frame/turns";
import { isStaleFence, RefusedError } from "../bus/refused-error.ts";
import type { Failure } from "../decisions/container-end.ts";
import { withoutHostPaths } from "../decisions/without-host-paths.ts";
import type { LocalMember } from "../decisions/reconcile.ts";
import type { Substrate } from "../substrate/substrate.ts";
import { EnclosureFailedError, SubstrateRefusedError } from "../substrate/substrate-errors.ts";
import { drainMember } from "./drain-member.ts";
import type { MemberContext, MemberTools } from "./member-context.ts";
import { MemberFailure } from "../member-failure.ts";
import { MemberJournal } from "./member-journal.ts";
import { freshState, type MemberState } from "./member-record.ts";
import { releaseMember } from "./release-member.ts";
import { stageMember } from "./stage-member.ts";
import { watchMember } from "./watch-member.ts";

export class Member {
  readonly journal: MemberJournal;
  readonly #context: MemberContext;
  readonly #stop = new AbortController();
  readonly #abandon = new AbortController();
  readonly #life: Promise<void>;
  /** Changes of the bridge that are being made: none is made after its end. */
  readonly #changes = new Turns();

  private constructor(tools: MemberTools, state: MemberState) {
    const { member, fence } = state.desired;
    this.journal = new MemberJournal(tools.store, state, tools.onReport, (of, event) =>
      tools.records.reported(of, event),
    );
    this.#context = {
      tools,
      journal: this.journal,
      enclosure: tools.substrate.enclosure(state.desired, state.kept),
      ref: { member, fence },
      stopped: this.#stop.signal,
      abandoned: this.#abandon.signal,
    };
    if (state.stop !== null) this.#stop.abort();
    this.#life = this.#live().catch((error: unknown) => {
      tools.log.fatal({ err: error, member }, "a member's life broke off");
    });
  }

  /** Begins with what is desired. */
  static begin(tools: MemberTools, desired: DesiredMember): Member {
    return Member.#of(tools, freshState(desired, "staging", tools.bootId));
  }

  /** Tears down whatever is left under this name and tells it under the fence of `desired`. */
  static clear(tools: MemberTools, desired: DesiredMember): Member {
    return Member.#of(tools, freshState(desired, "releasing", tools.bootId));
  }

  /** Goes on with what a former agent process had begun. */
  static resume(tools: MemberTools, state: MemberState): Member {
    return new Member(tools, state);
  }

  static #of(tools: MemberTools, state: MemberState): Member {
    tools.store.save(state);
    return new Member(tools, state);
  }

  get desired(): DesiredMember {
    return this.journal.state.desired;
  }

  get isReleased(): boolean {
    return this.journal.state.phase === "released";
  }

  /** As the reconciler sees it. */
  get local(): LocalMember {
    const { desired, pending } = this.journal.state;
    return {
      member: desired.member,
      fence: desired.fence,
      state: localStateOf(this.journal.state),
      pendingReports: pending.length,
    };
  }

  /** The attempt's other nodes, what they are let in by, or what a replica is to do may have changed. */
  follow({ fence, bridge, wish }: DesiredMember): void {
    const { desired } = this.journal.state;
    if (compareFences(fence, desired.fence) !== 0 || this.#abandon.signal.aborted) return;
    // While it runs its watch looks at what the record wishes. A coordinator of an older release wishes for nothing: then nothing sleeps.
    const wished =
      wish ?? (desired.wish?.asleep === true ? { order: 0, asleep: false } : undefined);
    if (wished !== undefined && !isDeepStrictEqual(wished, desired.wish))
      this.journal.follow({ wish: wished });
    if (bridge !== undefined && !isDeepStrictEqual(bridge, desired.bridge))
      this.#followBridge(bridge);
  }

  #followBridge(bridge: MemberBridge): void {
    const { desired, phase } = this.journal.state;
    this.journal.follow({ bridge });
    const { tools, enclosure, abandoned } = this.#context;
    // Before that it is begun by what the record then says.
    if (phase !== "running") return;
    this.#changes
      .run(() => enclosure.connect(this.journal.state.desired.bridge ?? null, abandoned))
      .catch((error: unknown) => {
        tools.log.error({ err: error, member: desired.member }, "a bridge was not changed");
      });
  }

  /** Orderly end: the payload has `graceMs`, what it leaves is stored. */
  stop(reason: string, graceMs: number): void {
    if (this.journal.state.stop !== null) return;
    this.#stop.abort();
    this.#note({ stop: { reason, graceMs } });
  }

  /** Orderly end after its commit, or after `graceMs` without one. What runs not yet, or commits nothing, stops now. */
  commit(reason: string, graceMs: number): void {
    const { commit, desired, phase } = this.journal.state;
    if (phase === "staging" || !desired.payload.outputs.checkpoints)
      return this.stop(reason, desired.graceMs);
    if (commit === null) this.#note({ commit: { reason, graceMs } });
  }

  /**
   * Ends it at once and stores nothing more of it; resolves when it is released.
   * @param failure told to the coordinator; null when it would not be taken
   */
  async abandon(failure: Failure | null): Promise<void> {
    const { state } = this.journal;
    if (!this.#abandon.signal.aborted && state.phase !== "released") {
      const isNews = failure !== null && state.failure === null && state.phase !== "releasing";
      // Before anything is written, which may find no room.
      this.#abandon.abort(new Error("the member was abandoned"));
      this.#stop.abort();
      const killed = this.#context.enclosure.abort();
      this.#note(
        {
          stop: state.stop ?? { reason: failure?.reason ?? "attempt_ended", graceMs: 1 },
          ...(isNews ? { failure } : {}),
        },
        ...(isNews ? [{ kind: "failed", ...failure } as const] : []),
      );
      await killed;
    }
    await this.#life;
  }

  async #live(): Promise<void> {
    const { journal } = this;
    try {
      this.#requireSameBoot();
      if (journal.state.phase === "staging") await stageMember(this.#context);
      if (journal.state.phase === "running") await watchMember(this.#context);
      if (journal.state.phase === "draining") await drainMember(this.#context);
    } catch (error) {
      this.#fail(error);
    }
    await this.#changes.idle();
    if (journal.state.phase !== "released") await releaseMember(this.#context);
  }

  /** Mounts, processes and the clock of the lease did not outlive the boot that the member was begun in. */
  #requireSameBoot(): void {
    const { bootId, phase } = this.journal.state;
    if (bootId !== this.#context.tools.bootId && phase !== "releasing" && phase !== "released")
      throw new MemberFailure("lease_lost", "the node was restarted");
  }

  #fail(error: unknown): void {
    const { journal } = this;
    const { tools, enclosure, ref } = this.#context;
    const isOver =
      journal.state.stop !== null || this.#abandon.signal.aborted || isStaleFence(error);
    if (isOver || journal.state.failure !== null) {
      tools.log.info({ err: error, member: ref.member }, "a member ended early");
      this.#note({ phase: "releasing" });
      return;
    }
    const { isFull } = enclosure.area;
    const failure = forPeople(
      failureOf(error, isFull, journal.state.desired.resources.diskBytes),
      tools.substrate,
    );
    tools.log.warn({ err: error, member: ref.member, reason: failure.reason }, "a member failed");
    this.#note({ phase: "releasing", failure }, { kind: "failed", ...failure });
  }

  /** On the way to its end nothing waits for a disk that takes no record: what is noted stands in memory, and the next write has it. */
  #note(...what: Parameters<MemberJournal["note"]>): void {
    try {
      this.journal.note(...what);
    } catch (error) {
      const { tools, ref } = this.#context;
      tools.log.error(
        { err: error, member: ref.member },
        "a record could not be written; its member ends nevertheless",
      );
    }
  }
}

function localStateOf({ phase, stop, commit }: MemberState): LocalMember["state"] {
  if (phase === "released") return "released";
  if (stop !== null || phase === "releasing") return "stop";
  return commit === null ? "run" : "commit";
}

/** Words a failure as it reaches whoever submitted the job. */
function forPeople(failure: Failure, { hiddenPaths }: Pick<Substrate, "hiddenPaths">): Failure {
  const plain = (text: string): string => withoutHostPaths(text, hiddenPaths);
  const detail = failure.detail === undefined ? {} : { detail: plain(failure.detail) };
  return { ...failure, message: plain(failure.message), ...detail };
}

function failureOf(error: unknown, isDiskFull: boolean, diskBytes: number): Failure {
  if (error instanceof MemberFailure) {
    const { reason, message, detail } = error;
    return { reason, message, ...(detail === undefined ? {} : { detail }) };
  }
  if (error instanceof EnclosureFailedError)
    return { reason: "container_failed", message: error.message };
  if (error instanceof RefusedError && error.code === "bucket_full")
    return { reason: "bucket_full", message: "the bucket has no room for what the member leaves" };
  if (isDiskFull)
    return { reason: "disk_limit", message: `the member used up its disk of ${diskBytes} bytes` };
  const message = error instanceof Error ? error.message : String(error);
  return {
    reason: error instanceof SubstrateRefusedError ? "container_failed" : "agent_fault",
    message,
  };
}
