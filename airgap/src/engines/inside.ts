import { realpathSync } from "node:fs";
import { join } from "node:path";

/** A file of an unpacked package. A link of a package may lead out of it, to a file of the build machine. @throws Error */
export function inside(root: string, path: string): string {
  const real = realpathSync(join(root, path));
  if (!real.startsWith(`${realpathSync(root)}/`))
    throw new Error(`${path} leads out of its package`);
  return real;
}
