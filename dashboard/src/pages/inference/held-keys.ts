/** Keys of deployments that were made in this tab, until the page is left or loaded anew: whoever deploys wants to try. Nothing stores them. */
const keys = new Map<string, string>();

export function holdKey(deployment: string, key: string): void {
  keys.set(deployment, key);
}

/** Empty for a deployment that was not made here. */
export function heldKey(deployment: string): string {
  return keys.get(deployment) ?? "";
}
