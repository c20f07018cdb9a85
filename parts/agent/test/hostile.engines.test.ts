import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { JOB_UIDS, TestNode } from "./helper/test-node.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
node.run();
await untilFound("registration", () => node.peer.registrations.length === 1);

type Found = {
  /** What was tried → `done`, or the kernel's word. */
  calls: Record<string, string>;
  uid: number;
  user: string;
  passwd: string;
  hosts: string;
  resolver: string;
  hostname: string;
  hostnameAddress: string;
  mounts: string;
  mountinfo: string;
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
  "call of x32": NO_SUCH_CALL,
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

const { peer } = node;
let found: Found;
let neighbourUid: number;

t.before(async () => {
  // Another attempt's member beside it, whose numbers must not be the same.
  const neighbour = node.member("sleep-1", { kind: "server" }, []);
  const member = node.member("hostile-1", { kind: "server" }, []);
  peer.want(neighbour);
  await peer.event(neighbour.member, "ready");
  neighbourUid = processUid((await node.runningInits())[0] ?? 0);
  peer.want(neighbour, member);
  await peer.event(member.member, "released");
  found = JSON.parse((await node.store.get("out/files_out/metrics.jsonl")) ?? "null") as Found;
});

t.test("what a hostile job tries is refused, and what every job needs is done", async (t) => {
  const done = Object.fromEntries(DONE.map((what) => [what, "done"]));
  t.strictSame(found.calls, { ...REFUSED, ...done });
});

t.test("each member runs as a user of its own, who has a name", async (t) => {
  for (const uid of [found.uid, neighbourUid])
    t.ok(JOB_UIDS.from <= uid && uid <= JOB_UIDS.to, String(uid));
  t.not(found.uid, neighbourUid);
  t.equal(found.user, "job");
  t.match(found.passwd, new RegExp(`^job:x:${found.uid}:${found.uid}:job:/tmp:`, "m"));
});

t.test("a job has hosts and a resolver of its own, in which nothing is the host's", async (t) => {
  const own = found.hostnameAddress;
  const server = /^(\S+)\tfl-server$/m.exec(found.hosts)?.[1] ?? "";
  t.match(own, /^198\.1[89]\.\d+\.2$/, "it finds itself by its name");
  t.equal(
    found.hosts,
    `127.0.0.1\tlocalhost\n::1\tlocalhost\n${own}\t${found.hostname}\n${server}\tfl-server\n`,
  );
  t.notMatch(found.resolver, /^\s*(nameserver|search|domain)/m);
  t.notMatch(found.hostname, new RegExp(hostname()));
});

t.test("its mounts tell neither where the agent nor where the release lies", async (t) => {
  const { dataDir, runnersDir, initBinary } = node.config;
  for (const table of [found.mounts, found.mountinfo])
    for (const path of [dataDir, runnersDir, dirname(initBinary)])
      t.notOk(table.includes(path), path);
  t.match(found.mountinfo, / \/runner \/rt\/runner ro[, ]/);
});

t.test("nothing is left over, and nothing broke the contract", async (t) => {
  peer.want();
  await node.untilClean();
  t.strictSame(peer.violations, []);
});

function processUid(pid: number): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
