/** Pure: which addresses of an allowed host may be dialled. */
import { isIP } from "node:net";
import type { OutboundHost } from "./outbound-hosts.ts";
import { networks } from "@resontech/frame/networks";

/** IANA's special-purpose addresses, and multicast. https://www.iana.org/assignments/iana-ipv4-special-registry */
const NOT_PUBLIC_V4 = networks([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"],
  ...["172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"],
  ...["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
]);
const GLOBAL_V6 = networks(["2000::/3"]);
/** Within it: Teredo and the like, documentation, and 6to4, which holds an address of IPv4. */
const NOT_PUBLIC_V6 = networks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** An address by itself is named by whoever allowed it; of a name the addresses are somebody else's to say. */
export function mayDial(
  address: string,
  { host, networks: named }: Pick<OutboundHost, "host" | "networks">,
): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (named !== undefined) return networks(named).check(address, family);
  if (isIP(host) !== 0) return address === host;
  return family === "ipv4"
    ? !NOT_PUBLIC_V4.check(address, family)
    : GLOBAL_V6.check(address, family) && !NOT_PUBLIC_V6.check(address, family);
}
