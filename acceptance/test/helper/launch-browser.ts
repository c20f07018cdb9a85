import { launchBrowser as launchAt } from "@resontech/house/launch-browser";
import type { Browser } from "playwright-core";
import type { LocalAppliance } from "@resontech/house/local-appliance";

/** @param others origins on this host's loopback that it reaches beside the appliance's own */
export async function launchBrowser(
  appliance: LocalAppliance,
  ...others: string[]
): Promise<Browser> {
  const { RESON_BASE_URL: base = "", RESON_S3_ENDPOINT: store = "" } = appliance.quickstart();
  return await launchAt(base, store, ...others);
}
