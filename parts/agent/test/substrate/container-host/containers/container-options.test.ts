import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import t from "tap";
import {
  type ContainerParts,
  cdiDevices,
  containerOptions,
} from "../../../../src/substrate/container-host/containers/container-options.ts";
import type { Work } from "../../../../src/substrate/enclosure.ts";

const worker = (vendor: InventoryWorker["vendor"] & string, device: string): InventoryWorker => ({
  ...{ id: "n-0", kind: "gpu", model: "m", memoryBytes: 1, healthy: true },
  ...{ vendor, device },
});
const work: Work = {
  ...{ member: "m", attempt: "a", fence: { generation: 1, counter: 1 }, image: "i", inputs: [] },
  resources: { cpuMillis: 1, memoryBytes: 2, pids: 3, diskBytes: 4, workers: ["n-0"] },
  payload: {
    ...{ command: ["x"], environment: {}, files: [], certificates: null, sites: [] },
    network: { shape: "closed" },
    outputs: { logs: [], printed: null, models: null, files: null, checkpoints: false },
  },
};
const parts: ContainerParts = {
  ...{ name: "c", instance: "i", engine: "docker", uid: 1, seccomp: "{}" },
  mounts: {
    ...{ initBinary: "/i", leaseDir: "/l", runnersDir: "/r", jobDir: "/j", etcDir: "/e" },
    ...{ modelDir: null, payload: "/p", out: "/o", tmp: "/t", workspace: "/w", events: "/v" },
  },
  attachment: { network: "n", address: "198.18.0.2", hosts: [] },
  ...{ devices: [], deviceFiles: [], openFiles: 20_000 },
};
const host = (change: Partial<ContainerParts>) =>
  containerOptions(work, { ...parts, ...change }).HostConfig;

t.test("Docker is asked for NVIDIA's devices by id, Podman by the names of CDI", (t) => {
  const devices = [worker("nvidia", "GPU-1")];
  t.match(host({ devices }), { DeviceRequests: [{ Driver: "nvidia", DeviceIDs: ["GPU-1"] }] });
  t.strictSame(cdiDevices({ engine: "docker", devices }), []);
  const podman = host({ devices, engine: "podman" });
  t.notOk(podman?.DeviceRequests, "it would pass over them without a word");
  t.notOk(podman?.Devices);
  t.strictSame(cdiDevices({ engine: "podman", devices }), ["nvidia.com/gpu=GPU-1"]);
  t.end();
});

t.test("AMD's and Intel's are files with their groups, on both engines", (t) => {
  const devices = [worker("amd", "/dev/dri/by-path/pci-0000:41:00.0-render")];
  const deviceFiles = [
    { path: "/dev/kfd", group: 110 },
    { path: "/dev/dri/renderD128", group: 110 },
  ];
  for (const engine of ["docker", "podman"] as const)
    t.match(host({ devices, deviceFiles, engine }), {
      Devices: [
        { PathOnHost: "/dev/kfd", PathInContainer: "/dev/kfd", CgroupPermissions: "rw" },
        { PathOnHost: "/dev/dri/renderD128" },
      ],
      GroupAdd: ["110"],
      DeviceRequests: undefined,
    });
  t.strictSame(cdiDevices({ engine: "podman", devices }), []);
  t.notOk(
    host({ devices, deviceFiles: [{ path: "/dev/kfd", group: 0 }] })?.GroupAdd,
    "never root's",
  );
  t.end();
});

t.test("a member without devices gets none", (t) => {
  t.notOk(host({})?.Devices);
  t.notOk(host({})?.DeviceRequests);
  t.notOk(host({})?.GroupAdd);
  t.end();
});

t.test("Docker is asked for as many open files as this host can give", async (t) => {
  t.strictSame(host({ engine: "docker" })?.Ulimits, [
    { Name: "nofile", Soft: 20_000, Hard: 20_000 },
  ]);
  t.notOk(host({ engine: "podman" })?.Ulimits, "Podman has them from its configuration");
});

t.test("a member that has ports of its own is given them in its own namespace alone", (t) => {
  const network = {
    ...({ shape: "hub", index: 1, name: "hub", port: 8003 } as const),
    ports: { from: 20_520, to: 21_023 },
  };
  const { HostConfig } = containerOptions(
    { ...work, payload: { ...work.payload, network } },
    { ...parts },
  );
  t.match(HostConfig, { Sysctls: { "net.ipv4.ip_local_port_range": "20520 21023" } });
  t.notOk(host({})?.Sysctls, "those of the system else");
  t.end();
});
