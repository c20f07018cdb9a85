/** `etc/outbound.json`: hosts outside that the inference gateway may dial. It reads the file anew when that changes. */
import { readFileSync } from "node:fs";
import { type OutboundHost, OutboundHosts } from "./outbound-hosts.ts";
import { Value } from "typebox/value";
import { replaceFileNow } from "@resontech/frame/durable-file-now";

type Named = Pick<OutboundHost, "host" | "port">;
/** Where the list lies. Root writes it; the gateway's group reads it. */
export type HostsPlace = { file: string; gid: number };

/** The file holds no hosts. */
class OutboundHostsInvalidError extends Error {
  override readonly name = "OutboundHostsInvalidError";
  readonly code = "config_invalid";
}

/** None where there is no file. @throws OutboundHostsInvalidError */
export function readOutboundHosts(file: string): OutboundHost[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return checked(file, parsed(file, text)).hosts;
}

/** Allows it, or puts it in the place of the one of its name and port. @throws OutboundHostsInvalidError */
export function allowOutboundHost(place: HostsPlace, host: OutboundHost): void {
  write(place, [...othersOf(readOutboundHosts(place.file), host), host]);
}

/** @returns false where it was not allowed */
export function forbidOutboundHost(place: HostsPlace, host: Named): boolean {
  const before = readOutboundHosts(place.file);
  const hosts = othersOf(before, host);
  if (hosts.length === before.length) return false;
  write(place, hosts);
  return true;
}

function othersOf(hosts: readonly OutboundHost[], { host, port }: Named): OutboundHost[] {
  return hosts.filter((one) => one.host !== host || one.port !== port);
}

function write({ file, gid }: HostsPlace, hosts: readonly OutboundHost[]): void {
  const value = checked(file, { formatVersion: 1, hosts });
  replaceFileNow(file, `${JSON.stringify(value, null, 2)}\n`, 0o440, { uid: 0, gid });
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new OutboundHostsInvalidError(`${file} is no JSON`, { cause: error });
  }
}

function checked(file: string, value: unknown): OutboundHosts {
  const [fault] = Value.Errors(OutboundHosts, value);
  if (fault !== undefined)
    throw new OutboundHostsInvalidError(`${file}: ${fault.instancePath} ${fault.message}`);
  return value as OutboundHosts;
}
