import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Hands a verb over to the release's installer, from a copy outside the root: an uninstall removes the very files that run it.
 * @returns its exit code
 */
export async function runInstaller(root: string, args: readonly string[]): Promise<number> {
  const away = mkdtempSync(join(tmpdir(), "appliance-"));
  try {
    const [node, installer] = [join(away, "node"), join(away, "installer.mjs")];
    copyFileSync(join(root, "current", "bin", "node"), node);
    copyFileSync(join(root, "current", "app", "installer.mjs"), installer);
    const child = spawn(node, [installer, ...args], { stdio: "inherit", cwd: "/" });
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 1));
    });
  } finally {
    rmSync(away, { recursive: true, force: true });
  }
}
