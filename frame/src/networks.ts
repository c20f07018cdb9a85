import { BlockList, isIP } from "node:net";

/** @param cidrs like `10.1.0.0/16` @throws RangeError for what is no network */
export function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", prefix = "", more] = cidr.split("/");
    const family = isIP(address);
    const bits = Number(prefix);
    if (
      family === 0 ||
      more !== undefined ||
      !/^\d{1,3}$/.test(prefix) ||
      bits > (family === 4 ? 32 : 128)
    )
      throw new RangeError(`${JSON.stringify(cidr)} is no network: write it as 10.1.0.0/16`);
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
