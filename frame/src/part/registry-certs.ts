/** Where container engines look for who vouches for a registry; every `.crt` of the folder counts, at each pull. */
import { join } from "node:path";
import type { Layout } from "./layout.ts";

/** Answers where our own Podman looks for certificates. @param registry `<name>:<port>` */
export function podmanCertsDir(layout: Layout, registry: string): string {
  return join(layout.data("podman", "home"), ".config", "containers", "certs.d", registry);
}

/** Answers where the host's Docker looks for certificates. https://docs.docker.com/engine/security/certificates/ */
export function dockerCertsDir(registry: string): string {
  return join("/etc/docker/certs.d", registry);
}
