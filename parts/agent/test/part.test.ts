/** What an agent is told, on the appliance's own host and on one that joined. */
import type { HostFacts } from "@resontech/frame/define-part";
import type { JobHost } from "@resontech/frame/job-host";
import { Layout } from "@resontech/frame/layout";
import t from "tap";
import { agent } from "../part.ts";

const host: JobHost = {
  ...{ kind: "appliance", instance: "main", address: "10.0.0.1", node: "gpu0", cpuWorkers: 3 },
  ...{ containerEngine: { kind: "podman" }, jobPorts: { from: 1, to: 2 } },
  appliance: { name: "gpu.example", ports: { api: 8000, registry: 5000 } },
  ...{ trustFile: "/opt/r/etc/ca/trust.crt", toolsHome: null },
};
const configOn = (
  change: Partial<JobHost>,
  release = "0.1.0-0123456789ab",
  hasToken = true,
): string =>
  JSON.stringify(
    agent.hostConfig!.from({
      ...{ layout: new Layout("/opt/r", "main"), host: { ...host, ...change } },
      ...{ has: () => hasToken, realPath: () => `/opt/r/releases/${release}` },
    } as unknown as HostFacts),
  );
/** Bytes that earlier releases wrote: a member more, or in another place, is another file. */
const BEGIN = `{"node":"gpu0","apiUrl":"https://gpu.example:8000"`;
const PLACES = `"initBinary":"/opt/r/current/engines/rt-init","runnersDir":"/opt/r/current/app/runners","cpuWorkers":3`;
const END = `"instance":"main","livenessSocket":"/run/resontech/main/agent/sock"`;
const PODMAN = `"containerEngine":{"kind":"podman","socket":"/run/resontech/main/podman/sock"},"registryCertsDir":"/opt/r/data/podman/home/.config/containers/certs.d/gpu.example:5000"`;

t.test(
  "the appliance's own agent trusts what its doors show, and is upgraded with it",
  async (t) => {
    t.equal(
      configOn({}),
      `${BEGIN},"rootCertFile":"/opt/r/etc/ca/trust.crt","address":"10.0.0.1","jobPorts":{"from":1,"to":2},"dataDir":"/opt/r/data/agent","joinTokenFile":"/opt/r/data/agent/join-token",${PODMAN},${PLACES},${END},"logLevel":"info"}`,
    );
  },
);

t.test("a node's agent tries its processors, and knows the release that it runs", async (t) => {
  const node: Partial<JobHost> = {
    kind: "node",
    ...{ trustFile: "/opt/r/etc/ca/root.crt", toolsHome: "/opt/tools" },
    jobUids: { from: 5, to: 9 },
  };
  const told = configOn(node, "0.1.0-0123456789ab", false);
  t.equal(
    told,
    `${BEGIN},"rootCertFile":"/opt/r/etc/ca/root.crt","address":"10.0.0.1","jobPorts":{"from":1,"to":2},"dataDir":"/opt/r/data/agent","joinTokenFile":null,${PODMAN},${PLACES},"tryProcessors":true,"toolsDir":"/opt/tools/bin","jobUids":{"from":5,"to":9},${END},"upgrade":{"root":"/opt/r","release":"0.1.0-0123456789ab"},"logLevel":"info"}`,
  );
  t.notMatch(configOn(node, "no name"), "upgrade", "such a release is brought by hand");
});

t.test("with the host's Docker it is told where that looks for certificates", async (t) => {
  t.match(
    configOn({ containerEngine: { kind: "docker", socket: "/run/docker.sock" } }),
    `"containerEngine":{"kind":"docker","socket":"/run/docker.sock"},"registryCertsDir":"/etc/docker/certs.d/gpu.example:5000"`,
  );
});
