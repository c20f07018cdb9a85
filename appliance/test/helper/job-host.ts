import type { JobHost } from "@resontech/frame/job-host";

/** A host of an appliance, with Podman, that runs jobs. */
export function jobHost(change: Partial<JobHost> = {}): JobHost {
  return {
    ...{ kind: "appliance", instance: "main", address: "127.0.0.1", node: "n1", cpuWorkers: null },
    ...{ containerEngine: { kind: "podman" }, jobPorts: { from: 29_000, to: 29_001 } },
    appliance: { name: "localhost", ports: { api: 8000, registry: 5000 } },
    ...{ trustFile: "/trust.crt", toolsHome: null },
    ...change,
  };
}
