/** Who vouches for the appliance's doors (ports 8000, 3900, 5000) beside its own root, in one text that coordinator and agents compare by its SHA-256. Pure. */

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Longest that is told: a handful of certificates. */
export const MAX_DOOR_AUTHORITIES = 65_536;

/**
 * Splits the appliance's `trust.crt`, or a node's `root.crt`: its first certificate is the appliance's own root, which alone vouches for nodes
 * and for the bus. An appliance without a certificate of the customer's has no others.
 */
export function splitTrust(pem: string): { root: string; doors: string } {
  const [root, ...others] = pem.match(CERTIFICATE) ?? [];
  if (root === undefined) return { root: pem, doors: "" };
  return { root: `${root}\n`, doors: others.map((one) => `${one}\n`).join("") };
}
