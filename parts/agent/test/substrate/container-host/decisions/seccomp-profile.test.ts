import t from "tap";
import {
  DENIED_CALLS,
  seccompProfile,
} from "../../../../src/substrate/container-host/decisions/seccomp-profile.ts";

const allowed = seccompProfile()
  .syscalls.filter(({ action, args = [] }) => action === "SCMP_ACT_ALLOW" && args.length === 0)
  .flatMap(({ names }) => names);

t.test("no call is both refused and allowed", async (t) => {
  const conditional = ["clone", "clone3", "socket", "socketpair", "prlimit64", "personality"];
  t.same(
    [...DENIED_CALLS, ...conditional].filter((name) => allowed.includes(name)),
    [],
  );
  t.equal(new Set(allowed).size, allowed.length);
});

t.test(
  "what an engine's own profile leaves to a container with a capability is refused to all",
  async (t) => {
    for (const name of [
      "unshare",
      "setns",
      "mount",
      "bpf",
      "keyctl",
      "perf_event_open",
      "userfaultfd",
      "io_uring_setup",
      "syslog",
    ])
      t.ok(DENIED_CALLS.includes(name), name);
  },
);
