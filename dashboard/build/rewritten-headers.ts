/** Headers of a request and of an answer between a developer's pages and an appliance. Pure. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

export type Origins = {
  /** Of the developer's pages, as `https://localhost:5173`. */
  own: string;
  upstream: URL;
};

/** Of one connection alone (RFC 9110, 7.6.1). */
const OF_CONNECTION = new Set([
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
]);
/** The appliance's word on its own host would hold for each port of it, this one included. */
const NOT_FOR_US = new Set(["strict-transport-security"]);

/** As the appliance's own page would have sent them. */
export function toUpstream(
  headers: IncomingHttpHeaders,
  { own, upstream }: Origins,
): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(
    // Those of HTTP/2 begin with a colon.
    ([name]) => !name.startsWith(":") && !OF_CONNECTION.has(name),
  );
  const { origin, referer } = headers;
  return {
    ...Object.fromEntries(kept),
    host: upstream.host,
    // Pages are read and changed on their way.
    "accept-encoding": "identity",
    ...(origin === own ? { origin: upstream.origin } : {}),
    ...(referer === undefined ? {} : { referer: moved(referer, own, upstream.origin) }),
  };
}

/** As the developer's own server would answer. */
export function fromUpstream(
  headers: IncomingHttpHeaders,
  { own, upstream }: Origins,
): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => name !== "connection" && !OF_CONNECTION.has(name) && !NOT_FOR_US.has(name),
  );
  const { location } = headers;
  return {
    ...Object.fromEntries(kept),
    ...(location === undefined ? {} : { location: moved(location, upstream.origin, own) }),
  };
}

function moved(address: string, from: string, to: string): string {
  return address === from || address.startsWith(`${from}/`)
    ? to + address.slice(from.length)
    : address;
}
