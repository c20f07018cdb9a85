import { launchBrowser } from "./launch-browser.ts";
import type { Browser } from "playwright-core";
import type { LocalAppliance } from "../installed/local-appliance.ts";

/** @param others origins on this host's loopback that it reaches beside the appliance's own */
export async function launchApplianceBrowser(
  appliance: LocalAppliance,
  ...others: string[]
): Promise<Browser> {
  const { RESON_BASE_URL: base = "", RESON_S3_ENDPOINT: store = "" } = appliance.quickstart();
  return await launchBrowser(base, store, ...others);
}
