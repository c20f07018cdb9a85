import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import type { Journal } from "../journal.ts";
import type { InstallRequest } from "../request.ts";
import { applianceCommand } from "./appliance-command.ts";
import type { Step } from "./step.ts";

/** A folder of the host where Docker looks for a registry's CA. https://docs.docker.com/engine/security/certificates/ */
function trustFileOf(registry: string): string {
  return join("/etc/docker/certs.d", registry, "ca.crt");
}

/** Lets Docker trust a registry by a root certificate: a change of the host, in the ledger before it is made. */
export function trustFile(journal: Journal, registry: string, rootCert: string | Uint8Array): void {
  const file = trustFileOf(registry);
  for (const folder of missingFolders(dirname(file))) journal.own("folder", folder);
  journal.own("file", file);
  // The node's agent puts it there once others than the root vouch for the registry.
  journal.own("file", join(dirname(file), "door-ca.crt"));
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeOwned(file, rootCert, ROOT, 0o644);
}

export function trustRegistry({ root, config }: InstallRequest): Step {
  const registry = `${config.name}:${config.ports.registry}`;
  return {
    name: "docker-trust",
    title: `let Docker trust the local registry (${trustFileOf(registry)})`,
    run: async (journal) => {
      await applianceCommand(root, ["prepare"]);
      trustFile(journal, registry, readFileSync(join(root, "etc", "ca", "root.crt")));
    },
  };
}

function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}
