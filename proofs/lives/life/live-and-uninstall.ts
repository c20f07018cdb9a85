import type { ProofAppliance } from "@resontech/house/proof-appliance";
import { hostState } from "@resontech/house/host-state";

/** Lives on an installed appliance, and uninstalls it whatever happens. @returns what of it is left on this host, too */
export async function liveAndUninstall<Lived>(
  installed: ProofAppliance,
  live: () => Promise<Lived>,
): Promise<{ lived: Lived; left: string[] }> {
  const { instance, root } = installed.appliance;
  const lived = await (async () => {
    await using _ = installed;
    return await live();
  })();
  return { lived, left: hostState(instance, root) };
}
