import { spawnSync } from "node:child_process";
import type { RuncVersion } from "./known-escapes.ts";

const TIMEOUT_MS = 15_000;

/**
 * The runc that starts job containers: of Podman the one that it calls, of Docker its server's own. Null when it can't be asked.
 *
 * @param env where programs are looked for
 */
export function readRuncVersion(
  engine: "podman" | "docker",
  env: Readonly<Record<string, string>>,
): RuncVersion | null {
  const [program, args] =
    engine === "podman"
      ? ["runc", ["--version"]]
      : ["docker", ["version", "--format", "{{json .Server.Components}}"]];
  const { status, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    env: { ...env },
  });
  if (status !== 0) return null;
  return engine === "podman" ? parseRuncText(stdout) : parseDockerComponents(stdout);
}

/** @param text what `runc --version` says: `runc version …`, `commit: …` */
export function parseRuncText(text: string): RuncVersion | null {
  const version = /^runc version (\S+)/m.exec(text)?.[1];
  return version === undefined
    ? null
    : { version, build: /^commit: *(\S+)/m.exec(text)?.[1] ?? "" };
}

/** @param text Docker's list of its server's components, JSON */
export function parseDockerComponents(text: string): RuncVersion | null {
  let components: unknown;
  try {
    components = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(components)) return null;
  const runc = (
    components as ({
      Name?: unknown;
      Version?: unknown;
      Details?: { GitCommit?: unknown };
    } | null)[]
  ).find((component) => component?.Name === "runc");
  const build = runc?.Details?.GitCommit;
  return typeof runc?.Version === "string"
    ? { version: runc.Version, build: typeof build === "string" ? build : "" }
    : null;
}
