/**
 * A container engine of our own: Podman's Docker-compatible service with private root, run root, network folder and HOME, so that the
 * host's own containers are never touched and nothing of ours is left in them.
 */
import { defineHostPart } from "@resontech/frame/define-part";
import { podmanEnvironment } from "./src/podman-environment.ts";
import { podmanProgram, podmanVersion } from "./src/podman-program.ts";
import { preparePodman } from "./src/prepare-podman.ts";

const NAME = "podman";

export const podman = defineHostPart({
  ...{ name: NAME, user: "root", hosts: ["appliance", "node"] },
  isOn: ({ containerEngine }) => containerEngine.kind === "podman",
  after: [],
  command: ({ layout, host }) => ({
    program: podmanProgram(host),
    args: ["system", "service", "--time=0", `unix://${layout.podmanSocket}`],
  }),
  runsHostTools: true,
  env: ({ layout }) => podmanEnvironment(layout),
  version: ({ host }) => podmanVersion(host),
  // The monitor of a container that runs out of memory leaves an empty file `oom` where the service was started.
  workingFolder: (layout) => layout.run(NAME),
  prepare: preparePodman,
  sockets: { api: { for: "root", speaks: "Docker's API", at: [NAME, "sock"] } },
  certificates: [],
  health: { socket: "api", path: "/_ping" },
  settings: [],
  // Images and containers are no state of the appliance.
  data: { isBackedUp: false, onRestore: "stays" },
  firstBytes: 16 * 1024 ** 2,
  stop: { graceMs: 15_000 },
  // What it starts inherits this: a job must never outlive the parts that watch it.
  inShortage: "middle",
});
