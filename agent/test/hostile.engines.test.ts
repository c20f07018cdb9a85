import t from "tap";
import { until } from "./helper/engine-process.ts";
import { TestNode } from "./helper/test-node.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
node.run();
await until("registration", () => node.peer.registrations.length === 1);

type Found = {
  /** What was tried → `done`, or the kernel's word. */
  calls: Record<string, string>;
};

const NOT_PERMITTED = "operation not permitted";
const NO_SUCH_CALL = "function not implemented";
const NO_SUCH_FAMILY = "address family not supported by protocol";

const REFUSED: Readonly<Record<string, string>> = {
  "unshare user": NOT_PERMITTED,
  "unshare user, net": NOT_PERMITTED,
  "unshare nothing": NOT_PERMITTED,
  "clone user": NO_SUCH_CALL,
  "clone net": NO_SUCH_CALL,
  "clone user, net": NO_SUCH_CALL,
  clone3: NO_SUCH_CALL,
  setns: NOT_PERMITTED,
  mount: NOT_PERMITTED,
  vsock: NO_SUCH_FAMILY,
  packet: NO_SUCH_FAMILY,
  alg: NO_SUCH_FAMILY,
  mctp: NO_SUCH_FAMILY,
  "family to come": NO_SUCH_FAMILY,
  "vsock pair": NO_SUCH_CALL,
  "netlink audit": NO_SUCH_FAMILY,
  "netlink netfilter": NO_SUCH_FAMILY,
  keyctl: NOT_PERMITTED,
  add_key: NOT_PERMITTED,
  request_key: NOT_PERMITTED,
  bpf: NOT_PERMITTED,
  perf_event_open: NOT_PERMITTED,
  userfaultfd: NOT_PERMITTED,
  io_uring_setup: NOT_PERMITTED,
  "prlimit of PID 1": NOT_PERMITTED,
  syslog: NOT_PERMITTED,
};
const DONE = [
  "own prlimit",
  "stream socket",
  "stream socket 6",
  "unix socket",
  "unix pair",
  "netlink route",
  "clone nothing",
] as const;

t.test("what a hostile job tries is refused, and what every job needs is done", async (t) => {
  const { peer } = node;
  const member = node.member("hostile-1", { kind: "server" }, []);
  peer.want(member);
  await peer.event(member.member, "released");
  const found = JSON.parse((await node.store.get("out/files_out/metrics.jsonl")) ?? "null") as Found;
  const done = Object.fromEntries(DONE.map((what) => [what, "done"]));
  t.strictSame(found.calls, { ...REFUSED, ...done });
  peer.want();
  await node.untilClean();
  t.strictSame(peer.violations, []);
});
