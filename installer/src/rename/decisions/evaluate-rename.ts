/** Whether an installed appliance may take another name, and what that costs. Pure. */
import { X509Certificate } from "node:crypto";
import { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { Value } from "typebox/value";

const FORMER_MS = 30 * 86_400_000;

export class RenameRefusedError extends Error {
  readonly code:
    | "name_invalid"
    | "name_unchanged"
    | "name_missing"
    | "install_open"
    | "nodes_joined";
  readonly hint: string;

  constructor(code: RenameRefusedError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export type NewName = { name: string; address?: string | undefined };

/**
 * The configuration under the new name. The name before stays in the appliance's own certificates for 30 days.
 *
 * @param shownPem the customer's certificate that the doors show; null where they show the appliance's own
 * @throws RenameRefusedError
 */
export function renamedConfig(
  config: ApplianceConfig,
  { name, address = config.address }: NewName,
  shownPem: string | null,
  now: number,
): ApplianceConfig {
  const next: ApplianceConfig = { ...config, name, address };
  if (!Value.Check(ApplianceConfig, next))
    throw new RenameRefusedError(
      "name_invalid",
      `${JSON.stringify(name)} at ${JSON.stringify(address)} is no name with an IPv4 address`,
      "give a DNS name of letters, digits, - and . and, with --address, an IPv4 address of this host",
    );
  if (name === config.name && address === config.address)
    throw new RenameRefusedError(
      "name_unchanged",
      `the appliance is ${name} at ${address} already`,
      "give another name, or another --address",
    );
  if (
    shownPem !== null &&
    new X509Certificate(shownPem).checkHost(name, { subject: "never" }) === undefined
  )
    throw new RenameRefusedError(
      "name_missing",
      `the customer's certificate of the doors is not for ${name}`,
      `bring one that has both names: appliance certificates use; or show the appliance's own: appliance certificates use --own`,
    );
  if (name === config.name) return next;
  const until = new Date(now + FORMER_MS).toISOString();
  return { ...next, formerName: { name: config.name, until } };
}

/** What whoever renames must know first, a line each. */
export function costsOf(from: ApplianceConfig, to: ApplianceConfig): string[] {
  const api = `https://${to.name}:${to.ports.api}`;
  const moved = from.name === to.name ? [] : namesMove(from.name, api);
  return [
    `${from.name} at ${from.address} becomes ${to.name} at ${to.address}`,
    "every part starts anew; running jobs go on; API and S3 answer nobody for some seconds",
    ...moved,
  ];
}

function namesMove(former: string, api: string): string[] {
  return [
    `people sign in anew, at ${api}/`,
    `passkeys are bound to ${former} and open nothing more: each person sets up another one`,
    `whoever signs people in for you (OIDC, SAML) must know the addresses below ${api}/realms/`,
    "requests that wait for a second person are signed anew",
    `programs, shells and service accounts need the new address: ${api}`,
    `URLs that were handed out lead to ${former}: they work until they end, while your DNS has that name`,
    `the appliance's own certificates have both names for 30 days; a customer's has what stands in it`,
  ];
}
