import { type ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";

/** As an install leaves it. */
export const APPLIANCE: ApplianceConfig = {
  ...{ formatVersion: 1, instance: "main", appliance: "site-a", customer: "example" },
  ...{ uidBase: 64_100, address: "127.0.0.1", name: "localhost", keyKind: "dev", agent: null },
  ports: DEFAULT_PORTS,
  ...{ containerEngine: { kind: "podman" }, bucketQuotaBytes: 1_024 },
};
