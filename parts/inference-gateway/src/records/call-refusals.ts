/**
 * Puts calls on record that were refused for their key. Of one address and kind the first of a minute is a record, and the rest is one with a count: who
 * tries keys by the thousand fills neither the log nor this process.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type AuditProducer, committer, RefusalTally } from "@resontech/audit/producer";
import type { EventDetail, EventType } from "@resontech/contracts/audit-catalogue";
import type { Actor, Outcome } from "@resontech/contracts/audit-event";
import type { ShownKey } from "../may-call.ts";
import { peerOf } from "../peer-of.ts";
import { calledAddress } from "./called-address.ts";

type Producer = Pick<AuditProducer, "fact">;
type Request = Pick<IncomingMessage, "method" | "url" | "headers">;
type RefusedType = Extract<EventType, "auth.failure" | "auth.refused">;
type Source = { addr: string | null; agent: string | undefined };
type Draft<T extends RefusedType> = {
  type: T;
  actor: Actor;
  source: Source;
  action?: string;
  outcome?: Outcome;
  detail: EventDetail<T>;
};

const GATEWAY: Actor = { sub: "serving", kind: "system" };
const NOBODY: Actor = { sub: "anonymous", kind: "anonymous" };
const MAX_AGENT_CHARS = 512;

export class CallRefusals implements AsyncDisposable {
  readonly #producer: Producer;
  readonly #onError: (error: unknown) => void;
  readonly #tally: RefusalTally;

  constructor(producer: Producer, onError: (error: unknown) => void) {
    this.#producer = producer;
    this.#onError = onError;
    this.#tally = new RefusalTally({
      now: Date.now,
      onError,
      writeBeyond: async ({ count, windowS }, addr) =>
        await this.#write({
          ...{ type: "auth.failure", actor: GATEWAY, source: { addr, agent: undefined } },
          detail: { reason: "many_refusals", count, window_s: windowS },
        }),
    });
  }

  /**
   * The key does not open what was asked for.
   * @param told how the caller is told so
   * @returns false where it can't be put on record: then the caller is told that, and not whether the key is good
   */
  async wrongKey(request: Request, shown: ShownKey | null, told: Outcome): Promise<boolean> {
    const platform = shown?.platform ?? null;
    const reason = shown === null ? "key_missing" : told.code;
    try {
      await this.#tally.add(
        platform === null
          ? this.#refusal(request, "auth.failure", { reason, told, actor: NOBODY })
          : this.#refusal(request, "auth.refused", {
              ...{ reason, told, actor: { sub: platform.id, kind: "key" } },
              project: platform.project,
            }),
      );
      return true;
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }

  /** A deployment is there, and the caller is told that it is not: the answer waits for no record, so that its time tells nothing. */
  hidden(request: Request, { platform }: ShownKey, told: Outcome): void {
    const { write, ...refusal } = this.#refusal(request, "auth.refused", {
      ...{ reason: told.code, told, kind: "job" },
      ...(platform === null
        ? { actor: NOBODY }
        : { actor: { sub: platform.id, kind: "key" }, project: platform.project }),
    });
    this.#tally.note({
      ...refusal,
      write: async (repeats) => {
        await new Promise(setImmediate);
        await write(repeats);
      },
    });
  }

  /** What was counted is put on record, where auditd is there. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tally.close();
  }

  #refusal(
    { method, url, headers }: Request,
    type: RefusedType,
    what: { reason: string; told: Outcome; actor: Actor; project?: string; kind?: string },
  ) {
    const { reason, told: outcome, actor, project, kind } = what;
    const addr = peerOf({ headers });
    const agent = headers["user-agent"]?.slice(0, MAX_AGENT_CHARS);
    const action = calledAddress(method, url);
    const isFailure = type === "auth.failure";
    const said = {
      reason,
      ...(project === undefined ? {} : { project }),
      ...(kind === undefined ? {} : { kind }),
    };
    return {
      source: addr ?? "nowhere",
      kind: JSON.stringify([type, reason, isFailure ? null : action, actor.sub, project, kind]),
      write: async (repeats: { count: number; windowS: number } | null) => {
        const count = repeats?.count ?? 1;
        const windowS = repeats?.windowS ?? 0;
        const counted = repeats === null && !isFailure ? {} : { count, window_s: windowS };
        await this.#write({
          ...{ type, actor, outcome },
          // Wrong keys are counted over all addresses.
          ...(repeats !== null && isFailure ? {} : { action }),
          source: { addr, agent: repeats === null ? agent : undefined },
          detail: { ...said, ...counted },
        });
      },
    };
  }

  async #write<T extends RefusedType>({
    source: { addr, agent },
    ...draft
  }: Draft<T>): Promise<void> {
    const commit = committer();
    const src = {
      ...(addr === null ? {} : { addr: commit("src.addr", addr) }),
      ...(agent === undefined ? {} : { agent: commit("src.agent", agent) }),
    };
    await this.#producer.fact(
      {
        ...draft,
        ...{ op: randomUUID(), object: { kind: "appliance", id: "appliance" } },
        ...(Object.keys(src).length === 0 ? {} : { src }),
      },
      commit.disclosures,
    );
  }
}
