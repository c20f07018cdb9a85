/** From a sink's configuration to what opens its receiver. */
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { Sink as SinkConfig, SyslogTarget } from "@resontech/contracts/audit-out-config";
import { ConfigError, readSecret } from "../config.ts";
import { FORMATS } from "../formats/formats.ts";
import { FileReceiver } from "./file/file-receiver.ts";
import type { OpenReceiver } from "./receiver.ts";
import { SyslogReceiver, type TlsOptions } from "./syslog/syslog-receiver.ts";

/** A file is synced so often. */
const FILE_CONFIRM_MS = 1_000;

/** @throws ConfigError when a file that it names can't be read */
export async function receiverOf({
  name,
  format,
  target,
}: SinkConfig): Promise<{ open: OpenReceiver; confirmMs: number }> {
  const lineOf = FORMATS[format];
  if (target.kind === "file") {
    const { folder, rotateBytes } = target;
    return {
      open: () => FileReceiver.open({ folder, name, rotateBytes, lineOf }),
      confirmMs: FILE_CONFIRM_MS,
    };
  }
  const { facility, enterpriseNumber, confirmMs } = target;
  const tls = await tlsOptionsOf(target);
  return {
    open: (signal) => SyslogReceiver.open(tls, { facility, enterpriseNumber, lineOf }, signal),
    confirmMs,
  };
}

async function tlsOptionsOf({
  host,
  port,
  serverName,
  caFile,
  client,
}: SyslogTarget): Promise<TlsOptions> {
  const own =
    client === undefined
      ? {}
      : { cert: await readPem(client.certFile), key: await readSecret(client.keyFile) };
  // An address is no server name (RFC 6066 §3); without one the certificate must carry the address itself.
  const name = serverName ?? (isIP(host) === 0 ? host : undefined);
  return {
    host,
    port,
    ...(name === undefined ? {} : { servername: name }),
    ca: await readPem(caFile),
    ...own,
  };
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
