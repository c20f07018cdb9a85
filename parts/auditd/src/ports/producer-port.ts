/**
 * One producer's socket. Which producer speaks is the socket's to say, and who may open it the folder's: 0750, the producer's group.
 *
 * One life at a time: a connection of another boot waits until the current one ends; the same boot again replaces its connection.
 */
import { chmod, chown, lstat, rm, stat } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Logger } from "pino";
import { FrameReader, MAX_PRODUCER_FRAME_BYTES } from "@resontech/audit/format/wire/frames";
import { ProducerSession, type SessionHost } from "./producer-session.ts";

type ProducerConfig = AuditdConfig["producers"][number];

/** The one that is served, one that follows it, probes; more is nobody of ours. */
const MAX_CONNECTIONS = 8;
const LAST_WORDS_MS = 1_000;
/** Whoever says nothing keeps a place from those who would. */
const HELLO_WITHIN_MS = 5_000;

export class ProducerPort {
  readonly #config: ProducerConfig;
  readonly #host: SessionHost;
  readonly #onClaims: (prod: string, session: ProducerSession) => void;
  readonly #log: Logger;
  readonly #server: Server;
  readonly #sessions = new Set<ProducerSession>();
  #isOpen = false;
  #current: ProducerSession | null = null;
  #waiting: ProducerSession[] = [];

  /** @param onClaims a session said what it holds of the log, before it is served */
  constructor(
    config: ProducerConfig,
    host: SessionHost,
    log: Logger,
    onClaims: (prod: string, session: ProducerSession) => void,
  ) {
    this.#config = config;
    this.#onClaims = onClaims;
    this.#host = host;
    this.#log = log.child({ producer: config.name });
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  get name(): string {
    return this.#config.name;
  }

  /** It should have a connection and has none. */
  get isMissed(): boolean {
    return this.#current === null && this.#waiting.length === 0 && this.#config.occasional !== true;
  }

  /** @throws when the folder is open to others, or the socket can't have its group */
  async listen(): Promise<void> {
    const { socket: path, gid } = this.#config;
    const folder = await stat(dirname(path));
    if ((folder.mode & 0o007) !== 0)
      throw new Error(`${dirname(path)} is open to others: its mode must be 0750`);
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, resolve);
    });
    await chmod(path, 0o660);
    if (gid !== null && (await lstat(path)).gid !== gid) await chown(path, -1, gid);
  }

  announce(draining: boolean): void {
    this.#current?.announce(draining);
  }

  /** Serves those who wait, and who comes. */
  open(): void {
    this.#isOpen = true;
    this.#beginNext();
  }

  /** Ends what is under way; who comes waits until {@link open}. */
  hold(reason: string, message: string): void {
    this.#isOpen = false;
    for (const session of this.#sessions) session.refuse(reason, message);
  }

  async close(): Promise<void> {
    this.hold("stopping", "auditd stops");
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // Who does not read what it is told last holds up nobody.
    const timer = setTimeout(() => {
      for (const session of this.#sessions) session.drop();
    }, LAST_WORDS_MS);
    await closed;
    clearTimeout(timer);
  }

  #accept(socket: Socket): void {
    const reader = new FrameReader(MAX_PRODUCER_FRAME_BYTES);
    const silence = setTimeout(() => socket.destroy(), HELLO_WITHIN_MS);
    const session = new ProducerSession(this.#config.name, socket, this.#host, () => {
      clearTimeout(silence);
      this.#claim(session);
    });
    this.#sessions.add(session);
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const { kind, payload } of reader.push(chunk)) session.receive(kind, payload);
      } catch (error) {
        this.#log.warn({ err: error }, "connection dropped");
        socket.destroy();
      }
    });
    socket.on("error", (error) => this.#log.info({ err: error }, "connection failed"));
    socket.on("close", () => {
      clearTimeout(silence);
      this.#sessions.delete(session);
      this.#ended(session);
    });
  }

  /** A session that has said hello wants to speak. */
  #claim(session: ProducerSession): void {
    this.#onClaims(this.#config.name, session);
    if (!this.#isOpen || (this.#current !== null && this.#current.boot !== session.boot)) {
      this.#waiting.push(session);
      return;
    }
    this.#current?.replaced();
    this.#begin(session);
  }

  #ended(session: ProducerSession): void {
    this.#waiting = this.#waiting.filter((other) => other !== session);
    if (this.#current !== session) return;
    this.#current = null;
    if (this.#isOpen) this.#beginNext();
  }

  #beginNext(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
  }

  #begin(session: ProducerSession): void {
    this.#current = session;
    // One that was sent away meanwhile asks for what is no more.
    session.begin().catch((error: unknown) => {
      if (!session.isOver) this.#host.onFatal(error);
    });
  }
}
