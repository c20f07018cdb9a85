import { type ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import type { InstallRequest } from "../../src/request.ts";

export const config: ApplianceConfig = {
  formatVersion: 1,
  instance: "default",
  appliance: "appliance",
  customer: "customer",
  uidBase: 64_100,
  address: "10.1.2.3",
  name: "gpu.example",
  ports: DEFAULT_PORTS,
  containerEngine: { kind: "podman" },
  agent: { node: "node", cpuWorkers: null },
  keyKind: "live",
  bucketQuotaBytes: 1024 ** 4,
};

export const request: InstallRequest = {
  bundle: "/media/bundle",
  keyPem: "-----BEGIN PUBLIC KEY-----",
  root: "/opt/resontech",
  username: "admin",
  config,
};
