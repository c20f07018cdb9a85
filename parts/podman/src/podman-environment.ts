import type { Layout } from "@resontech/frame/layout";

/** Answers the environment for the service and for the `podman` command against the same state. */
export function podmanEnvironment(layout: Layout): Record<string, string> {
  return {
    HOME: layout.data("podman", "home"),
    XDG_RUNTIME_DIR: layout.run("podman"),
    CONTAINERS_CONF: layout.data("podman", "containers.conf"),
    CONTAINERS_STORAGE_CONF: layout.data("podman", "storage.conf"),
    CONTAINERS_REGISTRIES_CONF: layout.data("podman", "registries.conf"),
  };
}
