import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { PEER_HEADER } from "@resontech/contracts/peer-header";

/** Whom the front door speaks for, who alone may enter the socket's folder: an IP address. Null where it says none. */
export function peerOf({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const said = headers[PEER_HEADER];
  return typeof said === "string" && isIP(said) !== 0 ? said : null;
}
