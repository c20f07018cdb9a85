/**
 * What the supervisor says in the audit log. It runs before auditd does and while auditd is away, so what it has to say waits in memory; one that is
 * killed meanwhile starts every part anew, and says it again.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type AuditProducer, AuditUnavailable, connectProducer } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { type EventDetail, MAX_MEASURED_FILES } from "@resontech/contracts/audit-catalogue";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { Logger } from "pino";
import type { HostSessionDraft } from "../host-sessions/session-record.ts";
import type { FileDigest } from "../measure/file-digests.ts";

const AGAIN_MS = 1_000;
/** A part that can't live starts ten times a minute, at most. */
const MAX_WAITING = 10_000;
type Said = "admin.measured" | "auth.idp.drift" | "auth.idp.keys";
const SUPERVISOR = { sub: "supervisor", kind: "system" } as const;

export class SupervisorRecord implements AsyncDisposable {
  readonly #socketPath: string;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #waiting: EventDraft<Said>[] = [];
  readonly #running: Promise<void>;
  #producer: AuditProducer | null = null;
  #wake = Promise.withResolvers<void>();

  constructor(socketPath: string, log: Logger) {
    this.#socketPath = socketPath;
    this.#log = log;
    this.#running = this.#run();
  }

  /** A part was started: what it runs. Said as soon as auditd takes it. */
  measured(
    part: string,
    { files, image }: { files: readonly FileDigest[]; image: string | null },
  ): void {
    for (let from = 0; from === 0 || from < files.length; from += MAX_MEASURED_FILES) {
      const detail: EventDetail<"admin.measured"> = {
        files: files.slice(from, from + MAX_MEASURED_FILES),
      };
      this.#say({
        ...({
          type: "admin.measured",
          phase: "fact",
          op: randomUUID(),
          actor: SUPERVISOR,
        } as const),
        ...{ object: { kind: "process", id: part }, detail },
        ...(image === null ? {} : { digests: { image } }),
      });
    }
  }

  /** The identity provider's realm changed in what it differs. Said as soon as auditd takes it. */
  drifted(differences: number): void {
    this.#say({
      ...({ type: "auth.idp.drift", phase: "fact", op: randomUUID(), actor: SUPERVISOR } as const),
      ...{ object: { kind: "appliance", id: "appliance" }, detail: { differences } },
    });
  }

  /** By whose signatures people are believed has changed. Said as soon as auditd takes it. */
  keysPinned(detail: EventDetail<"auth.idp.keys">): void {
    this.#say({
      ...({ type: "auth.idp.keys", phase: "fact", op: randomUUID(), actor: SUPERVISOR } as const),
      ...{ object: { kind: "appliance", id: "appliance" }, detail },
    });
  }

  /** Resolves once it is durable, however long that takes. @throws AuditUnavailable until auditd was reached once; AuditRejected */
  async observed(draft: HostSessionDraft, disclosures: readonly Disclosure[]): Promise<void> {
    if (this.#producer === null)
      throw new AuditUnavailable("disconnected", "auditd was not reached yet");
    await this.#producer.observed(draft, disclosures);
  }

  /** A backup was put back before this start. Resolves once it is durable. @throws AuditUnavailable until auditd was reached once */
  async putBack(backup: string): Promise<void> {
    if (this.#producer === null)
      throw new AuditUnavailable("disconnected", "auditd was not reached yet");
    await this.#producer.fact({
      ...({ type: "admin.backup", op: randomUUID(), actor: SUPERVISOR } as const),
      object: { kind: "appliance", id: "appliance" },
      detail: { change: "put-back", backup },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
    await this.#producer?.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        this.#producer ??= await connectProducer({
          socketPath: this.#socketPath,
          boot: randomUUID(),
          signal,
        });
        await this.#sayAll(this.#producer);
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof AuditUnavailable))
          this.#log.error({ err: error }, "the audit log does not take this");
        await pause(AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #say(draft: EventDraft<Said>): void {
    this.#waiting.push(draft);
    if (this.#waiting.length > MAX_WAITING)
      this.#log.error({ dropped: this.#waiting.shift() }, "too much waits for auditd");
    this.#wake.resolve();
  }

  async #sayAll(producer: AuditProducer): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      try {
        await producer.append(next);
      } catch (error) {
        // What is under way the connection sends until the log has it: said again here, it would stand there twice.
        if (!(error instanceof AuditUnavailable))
          this.#log.error({ err: error, event: next }, "the audit log does not take this");
        else if (error.reason !== "timeout") throw error;
      }
      this.#waiting.shift();
    }
  }
}
