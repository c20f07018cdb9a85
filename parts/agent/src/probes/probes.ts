import type { AcceleratorProbe } from "./accelerator-probe.ts";
import { amdProbe } from "./amd.ts";
import { intelProbe } from "./intel.ts";
import { nvidiaProbe } from "./nvidia.ts";

/** Of every vendor that the platform knows. */
export const PROBES: readonly AcceleratorProbe[] = [nvidiaProbe, amdProbe, intelProbe];
