/** The Podman that the install chose: the release's, or the host's. */
import { spawnSync } from "node:child_process";
import type { JobHost } from "@resontech/frame/job-host";

export function podmanProgram({ toolsHome }: Pick<JobHost, "toolsHome">): string {
  return toolsHome === null ? "/usr/bin/podman" : `${toolsHome}/bin/podman`;
}

/** One that is gone from the host must not keep what it left from being ended. */
export function podmanVersion(host: Pick<JobHost, "toolsHome">): string {
  const { status, stdout } = spawnSync(podmanProgram(host), ["--version"], { encoding: "utf8" });
  return status === 0 ? (stdout.trim().split(" ").at(-1) ?? "") : "missing";
}
