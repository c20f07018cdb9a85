import t from "tap";
import { podmanSpec } from "../../../../src/substrate/container-host/containers/podman-spec.ts";

const limits = { openFiles: 1024, processes: 512 };
const options = {
  Image: "registry/job@sha256:0",
  Env: ["A=b=c"],
  HostConfig: {
    NetworkMode: "net",
    SecurityOpt: ["no-new-privileges", "seccomp=/etc/profile.json"],
    NanoCpus: 500_000_000,
    Binds: ["/host:/in:ro", "/out:/out"],
  },
  NetworkingConfig: { EndpointsConfig: { net: { IPAMConfig: { IPv4Address: "198.18.0.2" } } } },
};

t.test("what the Docker interface would be told is told to Podman's own", (t) => {
  t.match(podmanSpec("c", options, ["nvidia.com/gpu=GPU-1"], limits), {
    ...{ name: "c", image: "registry/job@sha256:0", env: { A: "b=c" } },
    ...{ no_new_privileges: true, seccomp_profile_path: "/etc/profile.json" },
    networks: { net: { static_ips: ["198.18.0.2"] } },
    resource_limits: { cpu: { period: 100_000, quota: 50_000 } },
    devices: [{ path: "nvidia.com/gpu=GPU-1" }],
  });
  t.end();
});

t.test("an option without a counterpart is refused, never dropped", (t) => {
  for (const [what, host] of [
    ["Privileged", { Privileged: true }],
    ["apparmor=job", { SecurityOpt: ["apparmor=job"] }],
    ["UsernsMode", { UsernsMode: "host" }],
  ] as const)
    t.throws(
      () =>
        podmanSpec("c", { ...options, HostConfig: { ...options.HostConfig, ...host } }, [], limits),
      { name: "TypeError", message: `no counterpart for ${what}` },
    );
  t.throws(() => podmanSpec("c", { ...options, NetworkingConfig: {} }, [], limits), TypeError);
  t.end();
});
