/** Which requests a developer's server answers itself. Pure. */

/** Sources, and what the compiler adds to them; everything else is the appliance's. */
export function isSource(path: string): boolean {
  return /^\/(@|src\/|node_modules\/)/.test(path);
}

/** A page of the dashboard, as the appliance has it under the same path. */
export function isPage(path: string): boolean {
  return /^\/dashboard(?:[/?]|$)/.test(path);
}
