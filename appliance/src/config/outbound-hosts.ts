/** `etc/outbound.json`: hosts outside that the inference gateway may dial. It reads the file anew when that changes. */
import { readFileSync } from "node:fs";
import { type OutboundHost, OutboundHosts } from "@resontech/contracts/outbound";
import { Value } from "typebox/value";
import { type Layout, uidOf } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";
import { ConfigInvalidError } from "./load-config.ts";
import { readableBy, writeOwned } from "./owned-file.ts";

type Named = Pick<OutboundHost, "host" | "port">;

/** None where there is no file. @throws ConfigInvalidError */
export function readOutboundHosts({ outboundFile }: Layout): OutboundHost[] {
  let text: string;
  try {
    text = readFileSync(outboundFile, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return checked(outboundFile, parsed(outboundFile, text)).hosts;
}

/** Allows it, or puts it in the place of the one of its name and port. @throws ConfigInvalidError */
export function allowOutboundHost(context: PartContext, host: OutboundHost): void {
  write(context, [...othersOf(readOutboundHosts(context.layout), host), host]);
}

/** @returns false where it was not allowed */
export function forbidOutboundHost(context: PartContext, host: Named): boolean {
  const before = readOutboundHosts(context.layout);
  const hosts = othersOf(before, host);
  if (hosts.length === before.length) return false;
  write(context, hosts);
  return true;
}

function othersOf(hosts: readonly OutboundHost[], { host, port }: Named): OutboundHost[] {
  return hosts.filter((one) => one.host !== host || one.port !== port);
}

function write({ layout, config }: PartContext, hosts: readonly OutboundHost[]): void {
  const value = checked(layout.outboundFile, { formatVersion: 1, hosts });
  writeOwned(
    layout.outboundFile,
    `${JSON.stringify(value, null, 2)}\n`,
    readableBy(uidOf(config, "serving")),
    0o440,
  );
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConfigInvalidError(`${file} is no JSON`, { cause: error });
  }
}

function checked(file: string, value: unknown): OutboundHosts {
  const [fault] = Value.Errors(OutboundHosts, value);
  if (fault !== undefined)
    throw new ConfigInvalidError(`${file}: ${fault.instancePath} ${fault.message}`);
  return value as OutboundHosts;
}
