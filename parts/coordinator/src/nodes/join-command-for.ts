/** Where a new host joins, in the command that it runs: by the addresses that this appliance tells everybody. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import { joinCommand } from "@resontech/contracts/join-command";
import type { NodeFiles } from "./node-files.ts";

type Addresses = Pick<CoordinatorConfig, "publicUrl" | "natsPublicUrl"> & {
  s3: Pick<CoordinatorConfig["s3"], "endpoint">;
  registry: Pick<CoordinatorConfig["registry"], "host">;
};

/** @returns null where no other host reaches this appliance, or its release was installed without what a host verifies it by */
export async function joinCommandFor(
  node: string,
  addresses: Addresses,
  { trust }: Pick<NodeFiles, "trust">,
): Promise<string | null> {
  const api = new URL(addresses.publicUrl);
  if (trust === null || (await isLoopback(api.hostname))) return null;
  const portOf = (url: string) => Number(new URL(url).port);
  return joinCommand({
    ...{ node, appliance: api.hostname, ...trust },
    ports: {
      api: portOf(addresses.publicUrl),
      s3: portOf(addresses.s3.endpoint),
      registry: portOf(`https://${addresses.registry.host}`),
      nats: portOf(addresses.natsPublicUrl),
    },
  });
}

/** A name that nobody can look up here is left to the new host to look up. */
async function isLoopback(name: string): Promise<boolean> {
  const isLocal = (ip: string): boolean => ip.startsWith("127.") || ip === "::1";
  if (isIP(name) !== 0) return isLocal(name);
  const answers = await lookup(name, { all: true }).catch(() => []);
  return answers.length > 0 && answers.every(({ address }) => isLocal(address));
}
