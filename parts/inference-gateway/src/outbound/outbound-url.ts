/** Pure: what a URL from outside names. */
import { HTTPS_PORT } from "./outbound-hosts.ts";
import { OutboundError } from "./outbound-error.ts";

export const MAX_URL_LENGTH = 8_192;

/** @property host as {@link OutboundHost} spells it @property path with the query */
export type OutboundUrl = { host: string; port: number; authority: string; path: string };

/** @throws OutboundError url_invalid */
export function readOutboundUrl(text: string): OutboundUrl {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  if (url === null || url.protocol !== "https:")
    throw new OutboundError("url_invalid", "the url is no URL that begins with https://");
  if (url.username !== "" || url.password !== "")
    throw new OutboundError("url_invalid", "the url holds a name or a password");
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? HTTPS_PORT : Number(url.port),
    authority: url.host,
    path: `${url.pathname}${url.search}`,
  };
}
