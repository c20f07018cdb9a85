import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import type { JobHost } from "@resontech/frame/job-host";
import { toolsHome } from "../host-tools/tools-environment.ts";
import type { PartContext } from "./context.ts";

/** The host that the appliance is installed on. */
export function jobHostOf({ config, layout }: Pick<PartContext, "config" | "layout">): JobHost {
  const { instance, address, containerEngine, hostTools, name, ports } = config;
  return {
    ...{ kind: "appliance", instance, address, containerEngine },
    ...(hostTools === undefined ? {} : { hostTools }),
    node: config.agent?.node ?? null,
    cpuWorkers: config.agent?.cpuWorkers ?? null,
    jobPorts: config.jobPorts ?? DEFAULT_JOB_PORTS,
    ...(config.jobUids === undefined ? {} : { jobUids: config.jobUids }),
    appliance: { name, ports },
    trustFile: layout.trustCert,
    toolsHome: hostTools === "bundle" ? toolsHome(layout.current) : null,
  };
}
