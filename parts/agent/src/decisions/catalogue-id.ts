/** What the platform calls a device, from its vendor's name for it. Pure. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";

type Vendor = NonNullable<InventoryWorker["vendor"]>;

/** Words of makers and boards, which tell no model from another. */
const EMPTY_WORDS: Record<Vendor, RegExp> = {
  nvidia: /^(nvidia|geforce|tesla|quadro|sxm\d?|pcie|nvl|hbm\d\w?|dgxs|fhhl)$/,
  amd: /^(amd|ati|instinct|radeon|oam|graphics)$/,
  intel: /^(intel|r|tm|data|center|gpu|graphics)$/,
};
/** A chip of its own under a desktop card's name. */
const IS_MOBILE = /\b(laptop|mobile|max-q)\b/i;
const MAX_CHARS = 64;

/**
 * `NVIDIA GeForce RTX 4090` → `rtx_4090`, `NVIDIA A100-SXM4-80GB` → `a100_80gb`, `NVIDIA H100 80GB HBM3` → `h100`,
 * `AMD Instinct MI300X` → `mi300x`. What the catalogue does not name keeps its own name in the same spelling.
 */
export function catalogueId(productName: string, vendor: Vendor = "nvidia"): string {
  const words = productName
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "" && !EMPTY_WORDS[vendor].test(word));
  // The longest beginning that the catalogue knows: `rtx_pro_6000` of "RTX PRO 6000 Blackwell Server Edition".
  for (let length = IS_MOBILE.test(productName) ? 0 : words.length; length > 0; length -= 1) {
    const id = words.slice(0, length).join("_");
    if (catalogueModel(id)?.vendor === vendor) return id;
  }
  return words.length === 0 ? `${vendor}_gpu` : words.join("_").slice(0, MAX_CHARS);
}
