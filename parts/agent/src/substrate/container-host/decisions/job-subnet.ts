/**
 * Which addresses an attempt's network has. 198.18.0.0/15 is set apart for laboratories (RFC 2544) and routed nowhere, so a job's
 * network hides no machine of the site. Addresses are given by us, not by the engine: names then need no name service, which would be
 * a way out.
 */

/** As 32-bit numbers; `prefix` is the length of the network part. */
export type Ipv4Net = { base: number; prefix: number };

const POOL: Ipv4Net = { base: 0xc6120000, prefix: 15 };
const SUBNET_PREFIX = 24;
const SUBNETS = 2 ** (SUBNET_PREFIX - POOL.prefix);
const GATEWAY_HOST = 1;
const SERVER_HOST = 2;
const FIRST_CLIENT_HOST = 3;
const LAST_HOST = 254;

/** The first free one at or after the `seed`-th; null when all overlap with something that is taken. */
export function chooseSubnet(seed: number, taken: readonly Ipv4Net[]): string | null {
  for (let step = 0; step < SUBNETS; step += 1) {
    const base = POOL.base + ((seed + step) % SUBNETS) * 2 ** (32 - SUBNET_PREFIX);
    if (!taken.some((other) => overlap({ base, prefix: SUBNET_PREFIX }, other)))
      return `${format(base)}/${SUBNET_PREFIX}`;
  }
  return null;
}

/** The host's own address within an attempt's subnet: what the engines take when they are not told another. */
export function gatewayAddress(subnet: string): string | null {
  const net = parseNet(subnet);
  return net === null ? null : format(net.base + GATEWAY_HOST);
}

/** The address of a member within its attempt's subnet; null when there are more clients than addresses. */
export function memberAddress(subnet: string, clientIndex: number | null): string | null {
  const net = parseNet(subnet);
  if (net === null) return null;
  const host = clientIndex === null ? SERVER_HOST : FIRST_CLIENT_HOST + clientIndex;
  return host > LAST_HOST ? null : format(net.base + host);
}

/** Whether an address is of a subnet's containers: the gateway's is the host. */
export function isContainerAddress(subnet: string, address: string): boolean {
  const [net, one] = [parseNet(subnet), parseNet(`${address}/32`)];
  return net !== null && one !== null && overlap(net, one) && one.base !== net.base + GATEWAY_HOST;
}

/** `198.18.3.0/24` → numbers; null for anything else. */
export function parseNet(text: string): Ipv4Net | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  if (match === null) return null;
  const numbers = match.slice(1).map(Number);
  const prefix = numbers[4] ?? 33;
  if (prefix > 32 || numbers.slice(0, 4).some((byte) => byte > 255)) return null;
  return { base: numbers.slice(0, 4).reduce((base, byte) => base * 256 + byte, 0), prefix };
}

/** The networks of `/proc/net/route`, without the default route. Addresses there are little-endian hexadecimal. */
export function parseRoutes(table: string): Ipv4Net[] {
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"))
    .filter(([, , , flags]) => flags !== undefined && (Number.parseInt(flags, 16) & 1) === 1)
    .map(([, destination = "", , , , , , mask = ""]) => ({
      base: swap(destination),
      prefix: ones(swap(mask)),
    }))
    .filter(({ prefix }) => prefix > 0);
}

function overlap(a: Ipv4Net, b: Ipv4Net): boolean {
  const size = 2 ** (32 - Math.min(a.prefix, b.prefix));
  return Math.floor(a.base / size) === Math.floor(b.base / size);
}

function format(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function swap(hex: string): number {
  return Number.parseInt(hex.match(/../g)?.reverse().join("") ?? "0", 16);
}

function ones(mask: number): number {
  return mask.toString(2).replaceAll("0", "").length;
}
