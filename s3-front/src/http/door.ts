/** What happens to one request, in order: understood, attributed, held to export switch and quota, recorded, forwarded, answered. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AuditUnavailable } from "@resontech/audit/producer";
import type { EventLoopLag } from "@resontech/daemon/event-loop-lag";
import type { Logger } from "pino";
import type { OpenRecord, Source, Trail } from "../audit/trail.ts";
import { type CoordinatorLink, CoordinatorUnavailable } from "../coordinator/coordinator-link.ts";
import type { Directory } from "../coordinator/directory.ts";
import { checkKey } from "../decisions/address.ts";
import { classify, type S3Request } from "../decisions/classify.ts";
import { parseDeleteList } from "../decisions/delete-list.ts";
import { isExportRefused } from "../decisions/export-control.ts";
import { PartTally } from "../decisions/part-tally.ts";
import { actorOf, type Principal } from "../decisions/principal.ts";
import { type Answer, deleteManyRecords, operationRecord, readRecord, refusalRecord } from "../decisions/records.ts";
import { S3Refusal } from "../decisions/s3-error.ts";
import type { QuotaKeeper, Room } from "../quota/quota-keeper.ts";
import { Bookkeeping } from "../quota/bookkeeping.ts";
import { BodyDigest } from "./body-digest.ts";
import type { Engine } from "./engine.ts";
import { EngineUnavailable } from "./engine-connection.ts";
import { ClientGone, exchange } from "./exchange.ts";
import { readBody } from "./read-body.ts";
import { refuse } from "./refuse.ts";

export type DoorDeps = {
  engine: Engine;
  trail: Trail;
  link: CoordinatorLink;
  directory: Directory;
  quota: QuotaKeeper;
  outputExport: "open" | "controlled";
  loopLag: EventLoopLag;
  log: Logger;
};

const STAT_MS = 30_000;

export class Door {
  readonly #deps: DoorDeps;

  constructor(deps: DoorDeps) {
    this.#deps = deps;
  }

  /** Answers one request, whatever comes. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    try {
      if (request.url === "/healthz") say(response, 200, { status: "ok", loopLagMs: this.#deps.loopLag.maxMs });
      else if (request.url === "/readyz") await this.#sayReadiness(response);
      else await this.#pass(request, response);
    } catch (error) {
      if (error instanceof ClientGone) response.destroy();
      else refuse(request, response, this.#refusalOf(error, requestId), requestId);
    }
  }

  /** Of what the door can't do without; the door itself is alive, so a restart of it would mend nothing. */
  async #sayReadiness(response: ServerResponse): Promise<void> {
    const { engine, trail } = this.#deps;
    const [isEngineUp, isAuditUp] = await Promise.all([
      engine.isUp(),
      trail.demand().then(
        () => true,
        () => false,
      ),
    ]);
    say(response, isEngineUp && isAuditUp ? 200 : 503, { engine: isEngineUp, audit: isAuditUp });
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { directory, trail } = this.#deps;
    const asked = classify(request.method ?? "", request.url ?? "", request.rawHeaders);
    const [principal, owner] = await Promise.all([
      directory.principal(asked.accessKeyId),
      asked.bucket === null ? null : directory.owner(asked.bucket),
    ]);
    const source = sourceOf(request, principal);
    try {
      this.#checkRights(asked, principal);
      if (bringsBytes(asked) || completes(asked)) await this.#checkClaim(asked, principal);
      const room = bringsBytes(asked) ? await this.#room(asked, principal) : null;
      try {
        await this.#recordAndForward({ request, response, asked, owner, source, room });
      } catch (error) {
        // Settled already where the engine has seen something.
        room?.gaveBack();
        throw error;
      }
    } catch (error) {
      if (error instanceof S3Refusal) {
        const record = refusalRecord(asked, owner, error);
        if (record !== null) await trail.fact(record, source);
      }
      throw error;
    }
  }

  #checkRights({ operation, key, copySource }: S3Request, principal: Principal): void {
    if (operation.trace.kind === "key-change" && principal.kind !== "coordinator")
      throw new S3Refusal("AccessDenied", "key pairs are made by the coordinator alone", "store-keys");
    // Its key id stands in every URL that it signs, and the answer to a copy tells of the source.
    if (copySource !== null && principal.kind === "coordinator")
      throw new S3Refusal("AccessDenied", "the coordinator copies no objects", "coordinator-copies");
    const { outputExport } = this.#deps;
    const readKeys = [operation.trace.kind === "read" ? key : null, copySource?.key ?? null];
    if (readKeys.some((name) => name !== null && isExportRefused(outputExport, principal, name)))
      throw new S3Refusal(
        "AccessDenied",
        "this site controls what models leave: ask the operator to release this output",
        "output-export",
      );
  }

  /** Null for what adds no byte. */
  async #room(asked: S3Request, principal: Principal): Promise<Room | null> {
    const { bucket, copySource, uploadId, partNumber, length } = asked;
    if (bucket === null) return null;
    const bytes = copySource === null ? length.storedBytes : (copySource.rangeBytes ?? (await this.#sizeOf(asked)));
    const part = uploadId === null || partNumber === null ? null : { uploadId, partNumber };
    if (bytes === 0 && part === null) return null;
    // Whoever claims the coordinator's key id is told no numbers, for the same reason.
    return await this.#deps.quota.room(bucket, bytes, part, principal.kind === "user");
  }

  /**
   * Room is held, and sources of copies are looked at, before the engine has checked the signature: for nobody who could not be let in.
   * @throws S3Refusal AccessDenied, InvalidAccessKeyId
   */
  async #checkClaim({ bucket, copySource }: S3Request, principal: Principal): Promise<void> {
    if (principal.kind === "coordinator") return;
    if (principal.kind === "unknown") throw new S3Refusal("InvalidAccessKeyId", "the access key is not known");
    for (const touched of [bucket, copySource?.bucket ?? bucket])
      if (principal.kind === "none" || touched === null || !(await this.#deps.directory.owns(principal.subject, touched)))
        throw new S3Refusal(
          "AccessDenied",
          "a bucket takes and gives copies of objects by its owner's key alone",
          "bucket-owner",
        );
  }

  async #sizeOf({ copySource }: S3Request): Promise<number> {
    if (copySource === null) return 0;
    const { bucket, key, versionId } = copySource;
    const { sizeBytes } = await this.#deps.link.ask("object", { bucket, key, versionId }, STAT_MS);
    if (sizeBytes === null) throw new S3Refusal("NoSuchKey", "there is no such object to copy");
    return sizeBytes;
  }

  /**
   * What a copy has become. A source that is named without a version may have been replaced after it was measured, and the engine does not tell which
   * one it read: what it made is looked at, so that the bucket need not be counted again.
   */
  async #copied(
    { operation, bucket, key, copySource, uploadId, partNumber }: S3Request,
    { status, code }: Answer,
    headers: ReadonlyMap<string, string>,
  ): Promise<number | "reserved" | null> {
    if (copySource === null || bucket === null || key === null || status >= 300 || code !== null) return "reserved";
    if (copySource.versionId !== null || copySource.rangeBytes !== null) return "reserved";
    const { link } = this.#deps;
    try {
      if (operation.trace.kind === "part" && uploadId !== null && partNumber !== null)
        return (await link.ask("part", { bucket, key, uploadId, partNumber }, STAT_MS)).sizeBytes;
      const versionId = headers.get("x-amz-version-id") ?? null;
      return versionId === null ? null : (await link.ask("object", { bucket, key, versionId }, STAT_MS)).sizeBytes;
    } catch (error) {
      if (error instanceof CoordinatorUnavailable) return null;
      throw error;
    }
  }

  async #recordAndForward(passing: Passing): Promise<void> {
    const { engine, trail, quota } = this.#deps;
    const { request, response, asked, owner, source, room } = passing;
    const kind = asked.operation.trace.kind;
    if (kind === "part") await trail.demand();
    const { body, open } = kind === "delete-many" ? await this.#openDeletions(passing) : await this.#open(passing);
    const books = new Bookkeeping(quota, asked, room, owner !== null);
    const tally = kind === "multipart" ? tallyOf(request) : null;
    const digest = new BodyDigest(request, asked);
    let isAnswered = false;
    try {
      await exchange(engine, {
        ...{ request, response, body },
        isDocument: kind === "multipart" || asked.operation.copies,
        onAnswer: async (answer, headers, document) => {
          const copied = await this.#copied(asked, answer, headers);
          books.answered(answer, { headers, document, parts: tally?.parts ?? 0, copied });
          isAnswered = true;
          // It is not waited for, so the client's answer goes out first.
          if (open !== null) setImmediate(() => close(open, answer, digest));
          const read = readRecord(asked, owner, answer);
          if (read !== null) await trail.fact(read, source);
        },
      });
    } catch (error) {
      books.broken();
      // What the engine did stands, whether or not the client heard of it.
      if (isAnswered) throw error;
      if (error instanceof ClientGone) open?.close("failed", { code: "client_gone" });
      else if (error instanceof EngineUnavailable) open?.close("failed", { code: "engine_unavailable", status: 503 });
      throw error;
    }
  }

  async #open({ asked, owner, source }: Passing): Promise<{ body: "stream"; open: OpenRecord | null }> {
    const record = operationRecord(asked, owner, asked.length.storedBytes);
    return { body: "stream", open: record === null ? null : await this.#deps.trail.open(record, source) };
  }

  /** The list is read, so that each object that goes is named. */
  async #openDeletions({ request, response, asked, owner, source }: Passing): Promise<{ body: Buffer; open: OpenRecord }> {
    const { trail } = this.#deps;
    await trail.demand();
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, asked.length.bodyBytes ?? 0);
    const listed = parseDeleteList(body);
    for (const { key } of listed) checkKey(key);
    const { operation, objects } = deleteManyRecords(asked, owner, listed);
    const open = await trail.open(operation, source);
    await Promise.all(objects.map((record) => trail.fact(record, source, open.op)));
    return { body, open };
  }

  #refusalOf(error: unknown, requestId: string): S3Refusal {
    if (error instanceof S3Refusal) return error;
    const { log } = this.#deps;
    if (error instanceof AuditUnavailable) {
      log.warn({ err: error, requestId }, "the audit log is away");
      return new S3Refusal(
        "ServiceUnavailable",
        "the audit log takes no records: nothing is done that can't be logged; try again",
      );
    }
    if (error instanceof CoordinatorUnavailable) {
      log.warn({ err: error, requestId }, "the coordinator is away");
      return new S3Refusal("ServiceUnavailable", "the coordinator can't say whose key or bucket this is; try again");
    }
    if (error instanceof EngineUnavailable) {
      log.warn({ err: error, requestId }, "the object store is away");
      return new S3Refusal("ServiceUnavailable", "the object store does not answer; try again");
    }
    log.error({ err: error, requestId }, "a request failed");
    return new S3Refusal("ServiceUnavailable", "the request failed; the log of the S3 front says why");
  }
}

type Passing = {
  request: IncomingMessage;
  response: ServerResponse;
  asked: S3Request;
  owner: string | null;
  source: Source;
  room: Room | null;
};

function say(response: ServerResponse, status: number, what: object): void {
  const body = JSON.stringify(what);
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

/** Whether it may add bytes to a bucket. */
function bringsBytes({ operation }: S3Request): boolean {
  return operation.body === "object" || operation.copies;
}

/** While the engine does so, a listing of the bucket can't be relied on. */
function completes({ operation: { trace } }: S3Request): boolean {
  return trace.kind === "multipart" && trace.step === "complete";
}

function sourceOf({ socket, headers }: IncomingMessage, principal: Principal): Source {
  return { actor: actorOf(principal), address: socket.remoteAddress ?? "", userAgent: headers["user-agent"] ?? null };
}

function tallyOf(request: IncomingMessage): PartTally {
  const tally = new PartTally();
  request.on("data", (chunk: Buffer) => tally.push(chunk));
  request.pause();
  return tally;
}

function close(open: OpenRecord, { status, code }: Answer, digest: BodyDigest): void {
  if (status < 300 && code === null) open.close("completed", { code: "ok", status }, digest.hex());
  else open.close(status === 401 || status === 403 ? "denied" : "failed", { code: code ?? `Http${status}`, status });
}
