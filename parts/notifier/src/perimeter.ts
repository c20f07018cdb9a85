/** Nothing is told to an address outside of the customer's networks, whatever a name resolves to. */
import { lookup } from "node:dns/promises";
import { networks } from "@resontech/frame/networks";
import { DeliveryError } from "./delivery-error.ts";

/** RFC 1918, RFC 6598, RFC 4193, and this host. */
const PRIVATE = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "fc00::/7",
  "::1/128",
];

/**
 * The address that is dialled: the name is asked for once, so it can't resolve to another one afterwards.
 * @throws DeliveryError not_found, outside_perimeter
 */
export async function addressInside(host: string, perimeter: readonly string[]): Promise<string> {
  const found = await lookup(host, { all: true }).catch((cause: unknown) => {
    throw new DeliveryError("not_found", `the name ${host} does not resolve`, { cause });
  });
  const inside = networks([...PRIVATE, ...perimeter]);
  const good = found.find(({ address, family }) =>
    inside.check(address, family === 6 ? "ipv6" : "ipv4"),
  );
  if (good === undefined)
    throw new DeliveryError(
      "outside_perimeter",
      `${host} is ${found.map(({ address }) => address).join(", ")}, which is in no private network and in none that the target names`,
    );
  return good.address;
}
