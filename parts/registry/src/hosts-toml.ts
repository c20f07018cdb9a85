/** How containerd is told that every upstream is served by the mirror: https://github.com/containerd/containerd/blob/main/docs/hosts.md */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A registry's host as image names carry it (`docker.io`, `registry.k8s.io`, `ghcr.io:443`), or `_default` for all others. */
const UPSTREAM = /^(?:_default|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?)$/;

/** A name that is no registry host; it would become a path. */
export class UpstreamInvalidError extends Error {
  readonly code = "upstream_invalid";
}

export type MirrorAddress = {
  /** `https://<name>:<port>` */
  url: string;
  /** Certificate of the appliance CA, on the machine that reads the file. */
  caFile: string;
};

/** `server` is the mirror itself: with only a `host` entry containerd would go on to the upstream when the mirror answers 404. */
export function renderHostsToml({ url, caFile }: MirrorAddress): string {
  // A JSON string is a TOML basic string as long as it has no control characters but the escaped ones.
  const [server, ca] = [JSON.stringify(url), JSON.stringify(caFile)];
  return `server = ${server}\nca = ${ca}\n\n[host.${server}]\n  capabilities = ["pull", "resolve"]\n  ca = ${ca}\n`;
}

/**
 * Writes `<certsDir>/<upstream>/hosts.toml` for each upstream and for `_default`, so that nothing can fall back to the internet.
 * @throws UpstreamInvalidError
 */
export function writeHostsToml(
  certsDir: string,
  upstreams: readonly string[],
  mirror: MirrorAddress,
): void {
  for (const upstream of new Set([...upstreams, "_default"])) {
    if (!UPSTREAM.test(upstream))
      throw new UpstreamInvalidError(`${JSON.stringify(upstream)} is no registry host`);
    mkdirSync(join(certsDir, upstream), { recursive: true, mode: 0o755 });
    writeFileSync(join(certsDir, upstream, "hosts.toml"), renderHostsToml(mirror), { mode: 0o644 });
  }
}
