import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import type { InstallRequest } from "../request.ts";
import { applianceCommand } from "./appliance-command.ts";
import type { Step } from "./step.ts";

/** Docker looks for a registry's CA in a folder of the host, so this is a host change. https://docs.docker.com/engine/security/certificates/ */
export function trustRegistry({ root, config }: InstallRequest): Step {
  const file = join("/etc/docker/certs.d", `${config.name}:${config.ports.registry}`, "ca.crt");
  return {
    name: "docker-trust",
    title: `let Docker trust the local registry (${file})`,
    run: async (journal) => {
      for (const folder of missingFolders(dirname(file))) journal.own("folder", folder);
      journal.own("file", file);
      await applianceCommand(root, ["prepare"]);
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      writeOwned(file, readFileSync(join(root, "etc", "ca", "root.crt")), ROOT, 0o644);
    },
  };
}

function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}
