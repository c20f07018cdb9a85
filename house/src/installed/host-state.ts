import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findPaths } from "../find-paths.ts";

/** What of this host an appliance may have made outside its root, looked for from outside the product: one line each. */
export function hostState(instance: string, root: string): string[] {
  const marks = [`${root}/`, join("/run/resontech", instance), `resontech-${instance}`];
  const ofOurs = (kind: string, lines: string): string[] =>
    lines
      .split("\n")
      .filter((line) => marks.some((mark) => line.includes(mark)))
      .map((line) => `${kind} ${line}`);
  const run = (command: string, args: string[]): string =>
    spawnSync(command, args, { encoding: "utf8" }).stdout;
  const folders = ["/run", "/etc", "/var/lib", "/dev/shm", "/tmp"];
  return [
    ...ofOurs("process", run("ps", ["-eo", "args"])),
    ...ofOurs("mount", readFileSync("/proc/self/mounts", "utf8")),
    ...ofOurs("firewall", run("nft", ["list", "tables"])),
    ...ofOurs(
      "loop device",
      run("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"]),
    ),
    ...ofOurs(
      "file",
      findPaths([...folders, "-xdev", "-path", `*resontech*${instance}*`, "-prune"]).join("\n"),
    ),
  ];
}
