/**
 * The one way out of the gateway. A name is looked up once and the address that was found good is dialled, so that it can't be another one afterwards;
 * the certificate is checked by the name. Redirects are answers, and nobody follows them.
 */
import { lookup } from "node:dns/promises";
import type { ClientRequest } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { OutboundHost } from "./outbound-hosts.ts";
import type { ServingConfig } from "../config.ts";
import { abortable } from "@resontech/frame/abortable";
import { mayDial } from "./address-rules.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import { OutboundError } from "./outbound-error.ts";
import { type OutboundUrl, readOutboundUrl } from "./outbound-url.ts";

/** @property door of the appliance's own S3 door: its address is known; null: the host's entry says what may be dialled */
export type Target = OutboundUrl & { allowed: OutboundHost | null };
type Asked = {
  method: "GET" | "POST";
  headers: Record<string, string | number>;
  signal: AbortSignal;
};

export class Outbound {
  readonly #hosts: Pick<AllowedHosts, "find">;
  readonly #s3: ServingConfig["outbound"]["s3"];
  readonly #rootPem: string;
  /** Of each entry; reading all public authorities takes milliseconds, in which nobody else is served. */
  readonly #contexts = new WeakMap<OutboundHost, SecureContext>();
  #ofDoor: SecureContext | null = null;
  #ofPublic: SecureContext | null = null;
  readonly #resolve: (host: string) => Promise<string[]>;

  /** @param rootPem of the appliance: its S3 door shows a certificate of it */
  constructor(
    hosts: Pick<AllowedHosts, "find">,
    { s3, rootPem }: { s3: ServingConfig["outbound"]["s3"]; rootPem: string },
    resolve: (host: string) => Promise<string[]> = addressesOf,
  ) {
    this.#hosts = hosts;
    this.#s3 = s3;
    this.#rootPem = rootPem;
    this.#resolve = resolve;
  }

  /** Something to fetch: of the appliance's own S3 door, or of an allowed host. @throws OutboundError url_invalid, url_not_allowed */
  source(text: string): Target {
    const url = readOutboundUrl(text);
    const { names, port } = this.#s3;
    if (url.port === port && names.includes(url.host)) return { ...url, allowed: null };
    return this.#allowed(url);
  }

  /** Somebody to tell: an allowed host alone. @throws OutboundError url_invalid, url_not_allowed */
  receiver(text: string): Target {
    return this.#allowed(readOutboundUrl(text));
  }

  /** @throws OutboundError url_not_allowed, url_unreachable */
  async open(target: Target, { method, headers, signal }: Asked): Promise<ClientRequest> {
    const address = await this.#addressOf(target, signal);
    const asked = request({
      ...{ host: address, port: target.port, method, path: target.path, signal, agent: false },
      ...{ secureContext: this.#contextOf(target) },
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      headers: { ...headers, host: target.authority, connection: "close" },
    });
    // It may fail before anybody listens.
    asked.on("error", () => {});
    return asked;
  }

  #allowed(url: OutboundUrl): Target {
    const allowed = this.#hosts.find(url.host, url.port);
    if (allowed === null)
      throw new OutboundError(
        "url_not_allowed",
        `${url.host}:${url.port} is no host that this appliance may dial; its administrator allows hosts`,
      );
    return { ...url, allowed };
  }

  /** Who vouches for the target. */
  #contextOf({ allowed }: Target): SecureContext {
    if (allowed === null) return (this.#ofDoor ??= contextOf([this.#rootPem]));
    if (allowed.ca === undefined)
      return (this.#ofPublic ??= contextOf([...rootCertificates, this.#rootPem]));
    const known = this.#contexts.get(allowed);
    if (known !== undefined) return known;
    const made = contextOf([allowed.ca]);
    this.#contexts.set(allowed, made);
    return made;
  }

  async #addressOf({ host, allowed }: Target, signal: AbortSignal): Promise<string> {
    if (allowed === null) return this.#s3.address;
    const found = await abortable(this.#resolve(host), signal).catch((cause: unknown) => {
      if (signal.aborted) throw cause;
      throw new OutboundError("url_unreachable", `the name ${host} does not resolve`, { cause });
    });
    const good = found.find((address) => mayDial(address, allowed));
    if (good === undefined)
      throw new OutboundError(
        "url_not_allowed",
        `${host} leads to an address that its administrator has not allowed`,
      );
    return good;
  }
}

function contextOf(ca: string[]): SecureContext {
  return createSecureContext({ ca, minVersion: "TLSv1.2" });
}

async function addressesOf(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
