/** Pure: a host as an operator writes it, and as a URL spells it. */
import { OutboundName } from "@resontech/contracts/outbound-name";
import { HTTPS_PORT, type OutboundHost } from "../outbound/outbound-hosts.ts";
import { Value } from "typebox/value";

export type NamedHost = Pick<OutboundHost, "host" | "port">;

/** @param text `host`, `host:port`, `[address]:port` @returns null for anything else */
export function readOutboundHost(text: string): NamedHost | null {
  const url = /^[^/?#@\\\s]+$/.test(text) ? URL.parse(`https://${text}`) : null;
  const host = url?.hostname.replace(/^\[|\]$/g, "");
  if (url === null || !Value.Check(OutboundName, host)) return null;
  return { host, port: url.port === "" ? HTTPS_PORT : Number(url.port) };
}

/** Writes a host as {@link readOutboundHost} reads it. */
export function outboundHostText({ host, port }: NamedHost): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
