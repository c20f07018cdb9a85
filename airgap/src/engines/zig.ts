import { chmodSync } from "node:fs";
import { join } from "node:path";
import { wheelsIn } from "../fetch/pypi.ts";
import { SITE_PACKAGES, unpackWheels } from "../fetch/python-tree.ts";

/** Zig's C compiler links against the symbols of the glibc that is named here: the oldest that Node itself runs on. */
export const ZIG_TARGET = "x86_64-linux-gnu.2.28";

/** @param wheels folder of the wheel set `compiler` @returns the compiler, below `into` */
export async function unpackZig(wheels: string, into: string): Promise<string> {
  await unpackWheels(wheelsIn(wheels), into);
  const zig = join(into, SITE_PACKAGES, "ziglang", "zig");
  chmodSync(zig, 0o755);
  return zig;
}
