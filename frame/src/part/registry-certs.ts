/** Where container engines look for who vouches for a registry; every `.crt` of the folder counts, at each pull. */
import { join } from "node:path";
import type { Layout } from "./layout.ts";

/** Of our own Podman. @param registry `<name>:<port>` */
export function podmanCertsDir(layout: Layout, registry: string): string {
  return join(layout.data("podman", "home"), ".config", "containers", "certs.d", registry);
}

/** Of the host's Docker. https://docs.docker.com/engine/security/certificates/ */
export function dockerCertsDir(registry: string): string {
  return join("/etc/docker/certs.d", registry);
}
