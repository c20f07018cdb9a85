/** Requests as a client would sign them, sent byte for byte: what S3Transport would never send. */
import { connect, type TLSSocket } from "node:tls";
import { AwsV4Signer } from "aws4fetch";
import type { S3Credentials } from "@resontech/coordinator/s3-transport";
import type { RunningFront } from "./running-front.ts";

/** Headers that `aws4fetch` signed for one request, without the body's. */
export async function signedHeaders(
  front: RunningFront,
  keys: S3Credentials,
  method: string,
  path: string,
  extra: Record<string, string> = {},
): Promise<Record<string, string>> {
  const headers = { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...extra };
  const url = `${front.endpoint}${path}`;
  const signed = await new AwsV4Signer({
    method,
    url,
    headers,
    service: "s3",
    region: "garage",
    ...keys,
  }).sign();
  return { host: `localhost:${front.config.listen.port}`, ...Object.fromEntries(signed.headers) };
}

export function headText(requestLine: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`${requestLine} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
}

/** A bare TLS connection: what is written goes out as it is, what comes in is kept. */
export class RawConnection {
  readonly socket: TLSSocket;
  received = "";
  isClosed = false;

  constructor(front: RunningFront) {
    this.socket = connect({
      host: "127.0.0.1",
      port: front.config.listen.port,
      ca: front.caPem,
      servername: "localhost",
    });
    this.socket.on("data", (chunk: Buffer) => (this.received += chunk.toString("latin1")));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
  }

  /** Resolves once what was received matches, or the connection has ended. */
  async until(pattern: RegExp, timeoutMs = 60_000): Promise<string> {
    for (
      const deadline = Date.now() + timeoutMs;
      !pattern.test(this.received) && !this.isClosed && Date.now() < deadline;
    )
      await new Promise((resolve) => setTimeout(resolve, 10));
    return this.received;
  }

  close(): void {
    this.socket.destroy();
  }
}

export const statusOf = (received: string): number =>
  Number(/HTTP\/1\.1 (\d{3})(?![\s\S]*HTTP\/1\.1 \d{3})/.exec(received)?.[1]);
