import { spawn } from "node:child_process";
import type { Layout } from "@resontech/frame/layout";

/**
 * Hands a verb over to the release's installer, in the foreground. An uninstall removes the very files that run it, which Linux keeps for as
 * long as they run.
 *
 * @returns its exit code
 */
export async function runInstaller(layout: Layout, args: readonly string[]): Promise<number> {
  const child = spawn(
    layout.release("bin", "node"),
    [layout.release("app", "installer.mjs"), ...args],
    {
      stdio: "inherit",
      cwd: "/",
    },
  );
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
