/** What happens to one request, in order: understood, attributed, held to export switch and quota, recorded, forwarded, answered. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AuditUnavailable } from "@resontech/audit/producer";
import { mayNeedApproval } from "@resontech/contracts/model-output";
import { storageCost } from "@resontech/contracts/storage-cost";
import type { EventLoopLag } from "@resontech/frame/event-loop-lag";
import type { Logger } from "pino";
import type { OpenRecord, Source, Trail } from "../audit/trail.ts";
import { type CoordinatorLink, CoordinatorUnavailable } from "../coordinator/coordinator-link.ts";
import type { Directory } from "../coordinator/directory.ts";
import { checkKey, isBucketName } from "../decisions/address.ts";
import { GUARDED } from "../decisions/browser-guard.ts";
import { classify, type S3Request } from "../decisions/classify.ts";
import { OutputOwners } from "../coordinator/output-owners.ts";
import { codesOfDeletions, parseDeleteList } from "../decisions/delete-list.ts";
import { isExportRefused, isReleased } from "../decisions/export-control.ts";
import { pageAccess } from "../decisions/page-access.ts";
import { PartTally } from "../decisions/part-tally.ts";
import { aboutOwnBucket } from "../decisions/own-buckets.ts";
import { askerOf, type Principal } from "../decisions/principal.ts";
import {
  type Answer,
  deleteManyRecords,
  endOfDeletions,
  type Listed,
  operationRecord,
  outcomeOf,
  readRecord,
  refusalRecord,
} from "../decisions/records.ts";
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
  /** Where the dashboard's pages come from; null where there are none. */
  pageOrigin: string | null;
  loopLag: EventLoopLag;
  log: Logger;
};

const STAT_MS = 30_000;
/** How far a client's clock may be off. */
const MAX_SKEW_MS = 15 * 60_000;

export class Door {
  readonly #deps: DoorDeps;

  constructor(deps: DoorDeps) {
    this.#deps = deps;
  }

  /** Answers one request, whatever comes. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    const { method = "", url = "", headers } = request;
    const access = pageAccess({ method, url, origin: headers.origin }, this.#deps.pageOrigin);
    for (const [name, value] of Object.entries(access?.headers ?? {}))
      response.setHeader(name, value);
    if (access?.isQuestion === true) {
      response.writeHead(204, GUARDED).end();
      return;
    }
    try {
      const isLook = method === "GET" || method === "HEAD";
      if (isLook && url === "/healthz")
        say(response, 200, { status: "ok", loopLagMs: this.#deps.loopLag.maxMs });
      else if (isLook && url === "/readyz") await this.#sayReadiness(response);
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
    const asked = await this.#understand(request);
    const [principal, owner] = await Promise.all([
      directory.principal(asked.accessKeyId),
      asked.bucket === null ? null : directory.owner(asked.bucket),
    ]);
    if (asked.bucket !== null && owner === null) await this.#hint(request);
    try {
      this.#checkRights(asked, principal);
      const job = await this.#checkFolder(asked, principal);
      const released = await this.#checkExport(asked, principal);
      const isBringing = bringsBytes(asked, principal);
      if (isBringing || completes(asked)) await this.#checkClaim(asked, principal);
      const room = isBringing ? await this.#room(asked, principal) : null;
      try {
        await this.#recordAndForward({
          ...{ request, response, asked, owner, principal, room, job, released },
        });
      } catch (error) {
        // Settled already where the engine has seen something.
        room?.gaveBack();
        throw error;
      }
    } catch (error) {
      if (error instanceof S3Refusal) {
        const record = refusalRecord(asked, owner, error);
        if (record !== null) await trail.fact(record, sourceOf(request, principal, false));
      }
      throw error;
    }
  }

  async #understand(request: IncomingMessage): Promise<S3Request> {
    try {
      return classify(request.method ?? "", request.url ?? "", request.rawHeaders);
    } catch (error) {
      await this.#hint(request);
      throw error;
    }
  }

  /** @throws S3Refusal InvalidRequest where the bucket stands in the host's name: this store has one name, and its certificate no others */
  async #hint({ headers }: IncomingMessage): Promise<void> {
    const [, label, host] = /^([a-z0-9-]{3,63})\.([^/]+)$/.exec(headers.host ?? "") ?? [];
    if (
      label === undefined ||
      !isBucketName(label) ||
      (await this.#deps.directory.owner(label)) === null
    )
      return;
    throw new S3Refusal(
      "InvalidRequest",
      `buckets are named in the path alone: https://${host}/${label}/KEY. Set path-style addressing (boto3: addressing_style path; rclone: force_path_style)`,
    );
  }

  /**
   * @returns the finished job whose output is deleted; null for anything else
   * @throws S3Refusal AccessDenied for a user's key in folders that the platform writes
   */
  async #checkFolder(
    { operation, bucket, key }: S3Request,
    principal: Principal,
  ): Promise<string | null> {
    const { trace } = operation;
    if (principal.kind !== "user" || bucket === null || key === null || !isChange(operation))
      return null;
    const owner = await new OutputOwners(this.#deps.directory, bucket).of(key);
    if (trace.kind === "delete" && owner.isOver) return owner.job;
    // The bucket's policy holds who may abort which uploads.
    if (!owner.isReserved || (trace.kind === "multipart" && trace.step === "abort")) return null;
    throw new S3Refusal("AccessDenied", folderRefusal(trace.kind === "delete"), "platform-folders");
  }

  /**
   * @returns versions of the output that may be read; null where it needs no approval
   * @throws S3Refusal ExportApprovalRequired
   */
  async #checkExport(asked: S3Request, principal: Principal): Promise<readonly string[] | null> {
    const { operation, bucket, key, copySource, versionId } = asked;
    if (principal.kind !== "user") return null;
    if (copySource !== null && (await this.#needsApproval(copySource, principal.subject)) !== null)
      throw notReleased();
    if (operation.trace.kind !== "read" || bucket === null || key === null) return null;
    const released = await this.#needsApproval({ bucket, key }, principal.subject);
    if (released === null) return null;
    const isAsked = versionId === null ? released.length > 0 : isReleased(released, versionId);
    if (!isAsked) throw notReleased();
    return released;
  }

  /** What was released of an object to a person; null where it may be read without. @throws CoordinatorUnavailable */
  async #needsApproval(
    { bucket, key }: { bucket: string; key: string },
    subject: string,
  ): Promise<readonly string[] | null> {
    const { directory } = this.#deps;
    if (!mayNeedApproval(key)) return null;
    const released = await directory.released(bucket, key, subject);
    if (released === null) return null;
    // A user's own folder may have such a name.
    return (await new OutputOwners(directory, bucket).of(key)).isPlatforms ? released : null;
  }

  #checkRights(asked: S3Request, principal: Principal): void {
    const { operation, key, copySource, signedAtMs } = asked;
    if (signedAtMs !== null && signedAtMs > Date.now() + MAX_SKEW_MS)
      throw new S3Refusal("AccessDenied", "the URL is not valid yet: it begins at its X-Amz-Date");
    if (operation.trace.kind === "key-change" && principal.kind !== "coordinator")
      throw new S3Refusal(
        "AccessDenied",
        "key pairs are made by the coordinator alone",
        "store-keys",
      );
    if (copySource !== null && principal.kind === "coordinator" && !namesAllItCopies(asked))
      throw new S3Refusal(
        "AccessDenied",
        "the coordinator copies a range of a version alone, and by a signature that covers both",
        "coordinator-copies",
      );
    const { outputExport } = this.#deps;
    const readKeys = [operation.trace.kind === "read" ? key : null, copySource?.key ?? null];
    if (readKeys.some((name) => name !== null && isExportRefused(outputExport, principal, name)))
      throw new S3Refusal(
        "AccessDenied",
        "this site controls what models leave: ask the operator to release this output",
        "output-export",
      );
  }

  /** Null for what is in no bucket. */
  async #room(asked: S3Request, principal: Principal): Promise<Room | null> {
    const { bucket, copySource, uploadId, partNumber, length } = asked;
    if (bucket === null) return null;
    const bytes =
      copySource === null
        ? length.storedBytes
        : (copySource.rangeBytes ?? (await this.#sizeOf(asked)));
    const part = uploadId === null || partNumber === null ? null : { uploadId, partNumber };
    // Whoever claims the coordinator's key id is told no numbers, for the same reason.
    return await this.#deps.quota.room(bucket, storageCost(bytes), part, principal.kind === "user");
  }

  /**
   * Room is held, and sources of copies are looked at, before the engine has checked the signature: for nobody who could not be let in.
   * @throws S3Refusal AccessDenied, InvalidAccessKeyId
   */
  async #checkClaim({ bucket, copySource }: S3Request, principal: Principal): Promise<void> {
    if (principal.kind === "coordinator") return;
    if (principal.kind === "unknown")
      throw new S3Refusal("InvalidAccessKeyId", "the access key is not known");
    for (const touched of [bucket, copySource?.bucket ?? bucket])
      if (principal.kind === "none" || touched === null || principal.bucket?.name !== touched)
        throw new S3Refusal(
          "AccessDenied",
          "a bucket takes and gives copies of objects by its members' keys alone",
          "bucket-owner",
        );
  }

  async #sizeOf({ copySource }: S3Request): Promise<number> {
    if (copySource === null) return 0;
    const { bucket, key, versionId } = copySource;
    const { sizeBytes } = await this.#deps.link.ask("object", { bucket, key, versionId }, STAT_MS);
    if (sizeBytes === null)
      throw versionId === null
        ? new S3Refusal("NoSuchKey", "there is no such object to copy")
        : new S3Refusal("NoSuchVersion", "there is no such version to copy");
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
    if (copySource === null || bucket === null || key === null || status >= 300 || code !== null)
      return "reserved";
    if (copySource.versionId !== null || copySource.rangeBytes !== null) return "reserved";
    const { link } = this.#deps;
    try {
      if (operation.trace.kind === "part" && uploadId !== null && partNumber !== null)
        return (await link.ask("part", { bucket, key, uploadId, partNumber }, STAT_MS)).sizeBytes;
      const versionId = headers.get("x-amz-version-id") ?? null;
      return versionId === null
        ? null
        : (await link.ask("object", { bucket, key, versionId }, STAT_MS)).sizeBytes;
    } catch (error) {
      if (error instanceof CoordinatorUnavailable) return null;
      throw error;
    }
  }

  async #recordAndForward(passing: Passing): Promise<void> {
    const { engine, trail, quota } = this.#deps;
    const { request, response, asked, owner, principal, room, released } = passing;
    const { trace, name, copies } = asked.operation;
    const kind = trace.kind;
    if (kind === "part") await trail.demand();
    const { body, open, listed, talk } =
      kind === "delete-many" ? await this.#openDeletions(passing) : await this.#open(passing);
    const books = new Bookkeeping(quota, asked, room, owner !== null);
    const tally = kind === "multipart" ? tallyOf(request) : null;
    const digest = new BodyDigest(request, asked);
    const isProvenBy = (headers: ReadonlyMap<string, string>): boolean =>
      asked.accessKeyId !== null && headers.get("rt-proven") === asked.accessKeyId;
    let isAnswered = false;
    try {
      await exchange(engine, {
        ...{ request, response, body, talk, signedHeaders: asked.signedHeaders },
        isDocument:
          kind === "multipart" || kind === "delete-many" || copies || name === "ListBuckets",
        revise: (answer, headers) => aboutOwnBucket(asked, principal, isProvenBy(headers), answer),
        onAnswer: async (answer, headers, document) => {
          const given = headers.get("x-amz-version-id") ?? null;
          // Without a version the engine gives the newest, which may be another than the one that was released.
          if (released !== null && answer.status < 300 && !isReleased(released, given))
            throw notReleased();
          const source = sourceOf(request, principal, isProvenBy(headers));
          const copied = await this.#copied(asked, answer, headers);
          books.answered(answer, {
            headers,
            document,
            parts: tally?.parts ?? listed?.length ?? 0,
            copied,
          });
          isAnswered = true;
          // It is not waited for, so the client's answer goes out first.
          if (open !== null)
            setImmediate(() => {
              if (listed === null || answer.status >= 300) close(open, answer, source, digest);
              else this.#closeDeletions(passing, open, source, listed, document);
            });
          const read = readRecord(asked, owner, answer);
          if (read !== null) await trail.fact(read, source);
        },
      });
    } catch (error) {
      books.broken();
      // What the engine did stands, whether or not the client heard of it.
      if (isAnswered) throw error;
      const { asker } = sourceOf(request, principal, false);
      if (error instanceof ClientGone) open?.close("failed", { code: "client_gone" }, asker);
      else if (error instanceof EngineUnavailable)
        open?.close("failed", { code: "engine_unavailable", status: 503 }, asker);
      throw error;
    }
  }

  async #open({
    request,
    asked,
    owner,
    principal,
    job,
  }: Passing): Promise<Opened & { body: "stream" }> {
    const record = operationRecord(asked, owner, asked.length.storedBytes, job);
    const open =
      record === null
        ? null
        : await this.#deps.trail.open(record, sourceOf(request, principal, false));
    return { body: "stream", open, listed: null, talk: [] };
  }

  /**
   * The list is read, so that each object that goes is named. What the door refuses of it the engine is told to leave: the request is signed as a
   * whole, and one bad key fails alone.
   */
  async #openDeletions({
    request,
    response,
    asked,
    owner,
    principal,
  }: Passing): Promise<Opened & { body: Buffer }> {
    const { trail, directory } = this.#deps;
    await trail.demand();
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, asked.length.bodyBytes ?? 0);
    const owners =
      principal.kind === "user" ? new OutputOwners(directory, asked.bucket ?? "") : null;
    const refused: number[] = [];
    const listed = await Promise.all(
      parseDeleteList(body).map(async ({ key, versionId }, at): Promise<Listed> => {
        if (!isKey(key)) refused.push(at);
        const output = (await owners?.of(key)) ?? null;
        if (output !== null && !output.isOver) refused.push(at);
        return { key, versionId, job: output?.job ?? null };
      }),
    );
    const { operation, objects } = deleteManyRecords(asked, owner, listed);
    const source = sourceOf(request, principal, false);
    const open = await trail.open(operation, source);
    await Promise.all(objects.map((record) => trail.fact(record, source, open.op)));
    return {
      body,
      open,
      listed,
      talk: refused.length === 0 ? [] : ["Rt-Refused-Objects", [...new Set(refused)].join(",")],
    };
  }

  /** What became of each object, then of all. */
  #closeDeletions(
    { asked, owner }: Passing,
    open: OpenRecord,
    source: Source,
    listed: readonly Listed[],
    document: string,
  ): void {
    const { trail, log } = this.#deps;
    const { phase, code, objects } = endOfDeletions(
      asked,
      owner,
      listed,
      codesOfDeletions(document, listed),
    );
    Promise.all(objects.map((record) => trail.fact(record, source, open.op)))
      .catch((err: unknown) => log.warn({ err }, "what became of listed objects is not on record"))
      .finally(() => open.close(phase, { code, status: 200 }, source.asker));
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
      return new S3Refusal(
        "ServiceUnavailable",
        "the coordinator can't say whose key or bucket this is; try again",
      );
    }
    if (error instanceof EngineUnavailable) {
      log.warn({ err: error, requestId }, "the object store is away");
      return new S3Refusal("ServiceUnavailable", "the object store does not answer; try again");
    }
    log.error({ err: error, requestId }, "a request failed");
    return new S3Refusal(
      "ServiceUnavailable",
      "the request failed; the log of the S3 front says why",
    );
  }
}

type Passing = {
  request: IncomingMessage;
  response: ServerResponse;
  asked: S3Request;
  owner: string | null;
  principal: Principal;
  room: Room | null;
  /** Whose output is deleted. */
  job: string | null;
  /** Versions of an output that may be read; null where it needs no approval. */
  released: readonly string[] | null;
};
/** `talk` is what the engine is told besides the request. */
type Opened = {
  open: OpenRecord | null;
  listed: readonly Listed[] | null;
  talk: readonly string[];
};

function notReleased(): S3Refusal {
  return new S3Refusal(
    "ExportApprovalRequired",
    "outputs of this project leave by approval alone: ask for it at /dashboard/approvals of the appliance, and read it within a day after it was approved",
    "output-approval",
  );
}

function say(response: ServerResponse, status: number, what: object): void {
  const body = JSON.stringify(what);
  const about = { "content-type": "application/json", "content-length": body.length };
  response.writeHead(status, { ...GUARDED, ...about });
  response.end(body);
}

/**
 * Whether it is held to the quota: an object, a part, an open upload. Deletions add markers, and are never refused for it. What the coordinator opens counts, but
 * is let in: whoever stores into it is told of a full bucket at its parts.
 */
function bringsBytes(
  { operation: { body, copies, trace } }: S3Request,
  principal: Principal,
): boolean {
  if (trace.kind === "multipart" && trace.step === "open") return principal.kind !== "coordinator";
  return body === "object" || copies;
}

/**
 * The coordinator's key id stands in every URL that it signs. A copy in its name is let through where the engine's check of the signature comes before
 * any answer that tells of the source: no URL asks for it, its headers are signed, and it says by itself how many bytes of which version it takes.
 */
function namesAllItCopies({ copySource, urlSha256, signedHeaders: signed }: S3Request): boolean {
  return (
    urlSha256 === null &&
    copySource?.versionId != null &&
    copySource.rangeBytes !== null &&
    signed.has("x-amz-copy-source") &&
    signed.has("x-amz-copy-source-range")
  );
}

/** While the engine does so, a listing of the bucket can't be relied on. */
function completes({ operation: { trace } }: S3Request): boolean {
  return trace.kind === "multipart" && trace.step === "complete";
}

/** Whether it changes an object, or prepares to. */
function isChange({ method, trace: { kind } }: S3Request["operation"]): boolean {
  if (method === "GET") return false;
  return (
    kind === "write" ||
    kind === "delete" ||
    kind === "change" ||
    kind === "multipart" ||
    kind === "part"
  );
}

function isKey(key: string): boolean {
  try {
    checkKey(key);
    return true;
  } catch {
    return false;
  }
}

function folderRefusal(isDeletion: boolean): string {
  return isDeletion
    ? "this is an output of a job that has not ended: it can be deleted afterwards"
    : "the platform alone writes here: model_out/ and files_out/ below jobs/, logs/ and ckpt/; choose another folder";
}

function sourceOf(
  { socket, headers }: IncomingMessage,
  principal: Principal,
  isProven: boolean,
): Source {
  return {
    asker: askerOf(principal, isProven),
    address: socket.remoteAddress ?? "",
    userAgent: headers["user-agent"] ?? null,
  };
}

function tallyOf(request: IncomingMessage): PartTally {
  const tally = new PartTally();
  request.on("data", (chunk: Buffer) => tally.push(chunk));
  request.pause();
  return tally;
}

function close(open: OpenRecord, answer: Answer, { asker }: Source, digest: BodyDigest): void {
  const { status, code } = answer;
  if (status < 300 && code === null)
    open.close("completed", outcomeOf(answer), asker, digest.hex());
  else
    open.close(
      status === 401 || status === 403 ? "denied" : "failed",
      { code: code ?? `Http${status}`, status },
      asker,
    );
}
