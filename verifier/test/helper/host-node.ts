import { execFileSync, spawnSync } from "node:child_process";

/** The host's Node, which must be 20 or later; the pinned one stands in where the machine has no other. */
export function hostNode(): string {
  const path = (process.env["PATH"] ?? "")
    .split(":")
    .filter((folder) => !folder.includes("node_modules"))
    .join(":");
  const found = spawnSync("node", ["--version"], { encoding: "utf8", env: { PATH: path } });
  return found.status === 0
    ? execFileSync("node", ["-p", "process.execPath"], {
        encoding: "utf8",
        env: { PATH: path },
      }).trim()
    : process.execPath;
}
