/**
 * Follows the host's login records into the audit log. Invariants: records are told in the order in which they stand; the kept position
 * never passes one that the log does not have, so after a kill one record may be told twice and none is missed; where it can't be
 * told whether records were lost, the log of this process says so.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ACKNOWLEDGEMENT_TIMEOUT_MS, AuditUnavailable } from "@resontech/audit/producer";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { Logger } from "pino";
import { observeSession, type SessionEvent } from "./decisions/sessions.ts";
import { readUtmp, UTMP_BYTES } from "./decisions/utmp-record.ts";
import { NOWHERE, type Position, readPosition, writePosition } from "./position-file.ts";
import { type HostSessionDraft, sessionRecord } from "./session-record.ts";
import {
  digestOf,
  inodeOf,
  openAt,
  openWtmp,
  recordBefore,
  rotatedOf,
  standsAt,
  type WtmpFile,
  wholeBytes,
} from "./wtmp-file.ts";

const POLL_MS = 3_000;
const RECORDS_AT_ONCE = 128;

export type HostSessionOptions = {
  /** `/var/log/wtmp`; the older files are looked for beside it. */
  wtmpFile: string;
  /** Keeps how far it came; its folder is there, and root's. */
  stateFile: string;
  /**
   * Resolves once the record is durable, however long that takes. While it throws {@link AuditUnavailable} it is asked again and later records
   * wait; what the log refuses for another reason is passed over, or it would hold up all that follow.
   */
  record: (draft: HostSessionDraft, disclosures: readonly Disclosure[]) => Promise<unknown>;
  log: Logger;
  /** Ends it. A record that is under way then has 2 s; after that it is told again at the next start. */
  signal: AbortSignal;
  /** Between two looks, milliseconds. @default 3000 */
  pollMs?: number;
};

/**
 * Tells of each sign-in and sign-out until `signal` ends it; the first start ever begins at the end of the file. It never rejects: what goes
 * wrong is said once in the log, and tried again.
 */
export async function followHostSessions(options: HostSessionOptions): Promise<void> {
  const { log, signal, pollMs = POLL_MS } = options;
  let follower: Follower | null = null;
  let said = "";
  while (!signal.aborted) {
    try {
      follower ??= new Follower(options, await beginning(options));
      await follower.look();
      said = "";
    } catch (error) {
      if (signal.aborted) break;
      const message = error instanceof Error ? error.message : String(error);
      if (message !== said)
        log.error({ err: error }, "the host's sign-ins can't be followed; it is tried again");
      said = message;
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
  await follower?.close();
}

/** Answers where to go on: where an earlier life came to, or at the first start ever the end. */
async function beginning({ wtmpFile, stateFile, log }: HostSessionOptions): Promise<Position> {
  let kept: Position | null;
  try {
    kept = readPosition(stateFile);
  } catch (error) {
    // Whatever is older than the damaged file was told before it was written.
    log.error(
      { err: error },
      "how far the host's sign-ins are on record can't be read; they are told from its time on",
    );
    return { ...NOWHERE, lastAtMs: Math.floor(statSync(stateFile).mtimeMs) };
  }
  if (kept !== null) return kept;
  const file = await openWtmp(wtmpFile);
  if (file === null) return NOWHERE;
  try {
    const offset = await wholeBytes(file);
    const last = await recordBefore(file, offset);
    if (last === null) return { ...NOWHERE, inode: file.inode };
    return {
      ...NOWHERE,
      inode: file.inode,
      offset,
      lastSha256: digestOf(last),
      lastAtMs: readUtmp(last).atMs ?? 0,
    };
  } finally {
    await file.handle.close();
  }
}

class Follower {
  readonly #options: HostSessionOptions;
  readonly #pollMs: number;
  #position: Position;
  #isKept = false;
  #isUnkeepable = false;
  #isAbsent = false;
  /** Stays open: a rotation may compress or remove it before the next look. */
  #file: WtmpFile | null = null;
  /** Of a file that came in the place of a lost one: what stands in its first bytes and is older was told from the other. */
  #told = { bytes: 0, beforeMs: 0, lastSha256: null as string | null };

  constructor(options: HostSessionOptions, position: Position) {
    this.#options = options;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#position = position;
  }

  /** Tells of everything that stands there by now. */
  async look(): Promise<void> {
    if (!this.#isKept) this.#keep();
    this.#file ??= await this.#find();
    while (this.#file !== null) {
      if (!(await this.#readOn(this.#file))) {
        await this.close();
        this.#file = await this.#find();
      } else if (!(await this.#turnToNext(this.#file))) break;
    }
    this.#sayWhetherThere();
    if (!this.#isKept) this.#keep();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.handle.close();
  }

  /** The file that was read, under whatever name; else, from its beginning, the one that has its place. */
  async #find(): Promise<WtmpFile | null> {
    const { wtmpFile } = this.#options;
    const newest = await openAt(wtmpFile, this.#position);
    if (newest !== null) return newest;
    // Listed only now: one that was given another name before that is among them.
    for (const { path } of (await rotatedOf(wtmpFile)).toReversed()) {
      const older = await openAt(path, this.#position);
      if (older !== null) return older;
    }
    const file = await openWtmp(wtmpFile);
    if (file !== null) await this.#beginLost(file);
    return file;
  }

  /** False where this is no longer the file that was read: it was cut. */
  async #readOn(file: WtmpFile): Promise<boolean> {
    if (!(await standsAt(file, this.#position))) return false;
    const buffer = Buffer.alloc(RECORDS_AT_ONCE * UTMP_BYTES);
    for (;;) {
      const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, this.#position.offset);
      if (bytesRead < UTMP_BYTES) return true;
      for (let at = 0; at + UTMP_BYTES <= bytesRead; at += UTMP_BYTES)
        await this.#take(buffer.subarray(at, at + UTMP_BYTES));
    }
  }

  /** False where nothing follows this file, which is read to its end. */
  async #turnToNext(file: WtmpFile): Promise<boolean> {
    const { wtmpFile, signal } = this.#options;
    const newest = await inodeOf(wtmpFile);
    if (newest === null || newest === file.inode) return false;
    // Who had opened it before it got another name may still write into it.
    await sleep(this.#pollMs, undefined, { signal });
    if (!(await this.#readOn(file))) return true;
    const older = await rotatedOf(wtmpFile);
    const at = older.findIndex(({ inode }) => inode === file.inode);
    const next = await openWtmp((at === -1 ? undefined : older[at + 1]?.path) ?? wtmpFile);
    if (next === null) return false;
    await this.close();
    this.#file = next;
    if (at === -1) await this.#beginLost(next);
    else this.#begin(next);
    return true;
  }

  #begin(file: WtmpFile): void {
    this.#position = { ...this.#position, inode: file.inode, offset: 0, lastSha256: null };
    this.#isKept = false;
  }

  async #beginLost(file: WtmpFile): Promise<void> {
    const { inode, lastSha256, lastAtMs } = this.#position;
    if (inode !== null)
      this.#options.log.warn(
        "the file of the host's sign-ins was cut or replaced; what it got since the last look may be lost",
      );
    // A time that is still to come says nothing of what was told.
    this.#told = {
      bytes: await wholeBytes(file),
      beforeMs: lastAtMs > Date.now() ? 0 : lastAtMs,
      lastSha256,
    };
    this.#begin(file);
  }

  async #take(bytes: Buffer): Promise<void> {
    const record = readUtmp(bytes);
    const position = this.#position;
    const lastSha256 = digestOf(bytes);
    let { lastAtMs, open } = position;
    let event: SessionEvent | null = null;
    if (!this.#isTold(record.atMs, lastSha256)) {
      const observed = observeSession(open, record, randomUUID());
      if (observed.event !== null) await this.#record(observed.event);
      event = observed.event;
      open = [...observed.open];
      lastAtMs = record.atMs ?? lastAtMs;
    }
    this.#position = {
      ...position,
      offset: position.offset + UTMP_BYTES,
      lastSha256,
      lastAtMs,
      open,
    };
    this.#isKept = false;
    if (event !== null) this.#keep();
  }

  #isTold(atMs: number | null, sha256: string): boolean {
    const { bytes, beforeMs, lastSha256 } = this.#told;
    return (
      this.#position.offset < bytes && (sha256 === lastSha256 || (atMs !== null && atMs < beforeMs))
    );
  }

  /** @throws when it is ended before the log has it */
  async #record(event: SessionEvent): Promise<void> {
    const { record, log, signal } = this.#options;
    for (let isSaid = false; ; ) {
      signal.throwIfAborted();
      // Anew for each try: the lag is that of the record which the log gets.
      const { draft, disclosures } = sessionRecord(event, Date.now());
      try {
        return await untilEnded(record(draft, disclosures), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AuditUnavailable)) {
          log.error(
            { err: error, type: event.type, pid: event.pid },
            "the audit log refuses a record of the host's sign-ins",
          );
          return;
        }
        if (!isSaid)
          log.warn({ err: error }, "the audit log is away; the host's sign-ins wait for it");
        isSaid = true;
        await sleep(this.#pollMs, undefined, { signal });
      }
    }
  }

  /** A full disk must not keep sign-ins from the log, which may have room: then a kill makes it tell them again. */
  #keep(): void {
    try {
      writePosition(this.#options.stateFile, this.#position);
      this.#isKept = true;
      this.#isUnkeepable = false;
    } catch (error) {
      if (!this.#isUnkeepable)
        this.#options.log.error(
          { err: error },
          "how far the host's sign-ins are on record can't be kept; it is tried again",
        );
      this.#isUnkeepable = true;
    }
  }

  #sayWhetherThere(): void {
    const { log, wtmpFile } = this.#options;
    const isAbsent = this.#file === null;
    if (isAbsent && !this.#isAbsent)
      log.warn({ wtmpFile }, "the host keeps no file of its sign-ins: none are observed");
    if (!isAbsent && this.#isAbsent) log.info({ wtmpFile }, "the host's sign-ins are observed");
    this.#isAbsent = isAbsent;
  }
}

/** Rejects when what is under way does not end within 2 s after the signal. */
async function untilEnded(underWay: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => over.reject(signal.reason), ACKNOWLEDGEMENT_TIMEOUT_MS);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([underWay, over.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}
