import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import t, { type Test } from "tap";
import { untilFound } from "@resontech/house/until-found";
import { agentStarter, TestNode } from "./helper/test-node.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const startAgent = agentStarter(node);
const table = `resontech-${node.config.instance}`;
const server = { kind: "server" } as const;

/** A member that runs, and whether a process of its container reaches a service of the host. */
async function running(t: Test, job: string) {
  const service = createServer((socket) => socket.destroy()).listen(0, "0.0.0.0");
  await once(service, "listening");
  t.teardown(() => service.close());
  const { port } = service.address() as { port: number };
  const member = node.member(job, server, []);
  node.peer.want(member);
  await node.peer.event(member.member, "ready");
  const [container = ""] = await node.runningContainers();
  const pid = (await node.engine.podman("inspect", "--format", "{{.State.Pid}}", container)).trim();
  const networks = await node.engine.podman(
    "inspect",
    "--format",
    "{{json .NetworkSettings.Networks}}",
    container,
  );
  const gateway =
    /"Gateway":"([0-9.]+)"/.exec(networks)?.[1] ??
    /"IPAddress":"([0-9.]+)\.2"/.exec(networks)?.[1]?.concat(".1");
  const dial = [
    "--target",
    pid,
    "--net",
    "timeout",
    "2",
    "bash",
    "-c",
    `exec 3<>/dev/tcp/${gateway}/${port}`,
  ];
  return { member, reachesHost: () => spawnSync("nsenter", dial).status === 0 };
}

t.test(
  "rules that somebody flushed are loaded again while a job runs, and it is told",
  async (t) => {
    await startAgent(t);
    const { member, reachesHost } = await running(t, "sleep-1");
    t.equal(reachesHost(), false);
    const list = () => node.nft("--stateless", "list", "table", "inet", table);
    const loaded = await list();
    // The agent could close it again before it is looked at.
    node.signal("SIGSTOP");
    await node.nft("delete", "table", "inet", table);
    const wasOpen = reachesHost();
    node.signal("SIGCONT");
    t.equal(wasOpen, true, "a network of the engine alone does not close the host");
    await untilFound("closed again", async () => (await list()) === loaded);
    t.equal(reachesHost(), false);
    await untilFound(
      "it is told",
      () => node.log().includes("the host was open to the networks of its jobs"),
      10_000,
    );
    node.peer.want({ ...member, desired: "stop" });
    await node.peer.event(member.member, "released");
    node.peer.want();
    await node.untilClean();
  },
);

t.test("jobs end where the host can't be closed to them", async (t) => {
  await startAgent(t);
  const { member } = await running(t, "stubborn-1");
  // A table that a running process owns can be changed by nobody else.
  const owner = spawn("nft", ["--interactive"], { stdio: ["pipe", "ignore", "ignore"] });
  t.teardown(() => owner.kill());
  owner.stdin.write(`delete table inet ${table}\nadd table inet ${table} { flags owner; }\n`);
  t.match(await node.peer.event(member.member, "failed", 20_000), {
    reason: "agent_fault",
    message: /kept closed/,
  });
  t.strictSame(await node.runningContainers(), []);
  owner.stdin.end();
  node.peer.want();
  await node.untilClean();
  t.strictSame(node.peer.violations, []);
});
