/**
 * Syslog over TLS (RFC 5425). Syslog has no acknowledgements, so the end of a connection serves as one: we end it (`close_notify`, then the end of the stream),
 * and the receiver, which reads in order, closes it from its side once it has read that end, and all that came before (§4.4 obliges it). The kernel of a host
 * whose receiver was killed closes connections too; so the receiver must also answer a new handshake at once before what was sent counts as taken.
 *
 * What this can't tell is whether a receiver that crashes afterwards had written what it read. See docs/operator/audit-log.md.
 */
import { once } from "node:events";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { octetCounted } from "@resontech/frame/octet-counted";
import type { ExportedEvent } from "../../formats/exported-event.ts";
import { type Receiver, ReceiverError } from "../receiver.ts";
import { type SyslogOptions, syslogMessage } from "./rfc5424.ts";

const CONNECT_MS = 10_000;
const CLOSE_MS = 10_000;
/** A receiver that takes nothing for so long is hung up on. */
const SILENT_MS = 30_000;

export type TlsOptions = Pick<
  ConnectionOptions,
  "host" | "port" | "servername" | "ca" | "cert" | "key"
>;

export class SyslogReceiver implements Receiver {
  readonly #options: SyslogOptions;
  readonly #tls: TlsOptions;
  readonly #socket: TLSSocket;
  readonly #closed = Promise.withResolvers<{ hadError: boolean }>();
  #failure: Error | null = null;
  #hasEnded = false;

  private constructor(socket: TLSSocket, tls: TlsOptions, options: SyslogOptions) {
    this.#socket = socket;
    this.#tls = tls;
    this.#options = options;
    socket.on("error", (error) => {
      this.#failure ??= error;
    });
    socket.on("end", () => {
      this.#hasEnded = true;
    });
    socket.on("close", (hadError) => this.#closed.resolve({ hadError }));
    // Whatever the receiver says is thrown away; unread it would keep the end of the stream from being seen.
    socket.resume();
  }

  /** @throws ReceiverError */
  static async open(
    tls: TlsOptions,
    options: SyslogOptions,
    signal: AbortSignal,
  ): Promise<SyslogReceiver> {
    return new SyslogReceiver(await handshake(tls, signal), tls, options);
  }

  async send(events: readonly ExportedEvent[], signal: AbortSignal): Promise<void> {
    const frames = Buffer.concat(
      events.map((event) => octetCounted(syslogMessage(event, this.#options))),
    );
    if (this.#socket.closed || this.#hasEnded) throw this.#hungUp();
    if (this.#socket.write(frames)) return;
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(SILENT_MS)]);
    await Promise.race([
      once(this.#socket, "drain", { signal: timeout }),
      this.#closed.promise,
    ]).catch((error: unknown) => {
      throw new ReceiverError("unreachable", `the receiver took nothing for ${SILENT_MS} ms`, {
        cause: error,
      });
    });
    if (this.#socket.closed) throw this.#hungUp();
  }

  async confirm(): Promise<void> {
    // A receiver that closed of itself has not read to our end.
    if (this.#hasEnded || this.#socket.closed) throw this.#hungUp();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(new Error("no answer")), CLOSE_MS);
    const { hadError } = await this.#closed.promise;
    clearTimeout(timer);
    if (hadError || this.#failure !== null || !this.#hasEnded)
      throw new ReceiverError(
        "unconfirmed",
        "the receiver did not close the connection after its end",
        { cause: this.#failure },
      );
    (await handshake(this.#tls, AbortSignal.timeout(CONNECT_MS))).end().resume().destroySoon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#closed.promise;
  }

  #hungUp(): ReceiverError {
    return new ReceiverError(
      "closed",
      this.#failure?.message ?? "the receiver closed the connection",
      { cause: this.#failure },
    );
  }
}

/** A connection whose certificate was checked by name against the authority of the configuration. */
async function handshake(tls: TlsOptions, signal: AbortSignal): Promise<TLSSocket> {
  const socket = connect({
    ...tls,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    allowHalfOpen: true,
  } as ConnectionOptions);
  // An error after the handshake has its own listener; without any it would end the process.
  socket.on("error", () => {});
  try {
    await once(socket, "secureConnect", {
      signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]),
    });
    return socket;
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw new ReceiverError(isUntrusted(error) ? "untrusted" : "unreachable", messageOf(error), {
      cause: error,
    });
  }
}

function isUntrusted(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    /CERT|SIGNED|ALTNAME|ISSUER/.test(String(error.code))
  );
}

function messageOf(error: unknown): string {
  if (error instanceof Error && error.name === "AbortError") return `no answer in ${CONNECT_MS} ms`;
  return error instanceof Error ? error.message : String(error);
}
