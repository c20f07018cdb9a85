/** Programs of somebody else's that answer HTTP, in real containers of their own image: led to, watched, put to sleep, and confined as any member. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import {
  CONTAINER_COMMAND,
  CONTAINER_DOOR,
  CONTAINER_SPEC,
  type ContainerSpec,
} from "@resontech/contracts/container-spec";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { writeHttpImage } from "@resontech/house/image-layout";
import { TestNode } from "./helper/test-node.ts";

const run = promisify(execFile);
const MIB = 1024 ** 2;
const CALL_LIMIT_MS = 5_000;
t.setTimeout(600_000);

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const layout = join(node.dir, "http-image");
await writeHttpImage(node.dir, layout);
const image = node.image.add(layout);
node.run();
await untilFound("registration", () => peer.registrations.length === 1);

function program(name: string, change: Partial<ContainerSpec> = {}): DesiredMember {
  const spec: ContainerSpec = {
    ...{ formatVersion: 1, command: ["./http-program", "told"], directory: "/srv" },
    ...{ door: CONTAINER_DOOR, port: 8080, health: "/healthz", callLimitMs: CALL_LIMIT_MS },
    ...change,
  };
  const member = node.member(name, { kind: "server" }, [], {
    ...{ image, wish: { order: 0, asleep: false } },
    resources: { memoryBytes: 128 * MIB, diskBytes: 16 * MIB },
  });
  return {
    ...member,
    payload: {
      command: [...CONTAINER_COMMAND],
      environment: { PATH: "/srv/bin:/usr/bin", PORT: "8080" },
      files: [{ name: CONTAINER_SPEC, text: JSON.stringify(spec) }],
      certificates: null,
      network: { shape: "hub", index: null, name: "replica", port: CONTAINER_DOOR },
      sites: [],
      outputs: { logs: [], printed: null, models: null, files: null, checkpoints: false },
    },
  };
}

/** Through the door of the one container that runs, from inside its network, which nobody else reaches. */
async function ask(
  path: string,
  body = "",
  patienceMs = 60_000,
): Promise<{ status: number; text: string }> {
  const [init = 0] = await node.runningInits();
  const source = `const [, url, body, patienceMs] = process.argv;
    const answer = await fetch(url, { method: "POST", body, signal: AbortSignal.timeout(Number(patienceMs)) });
    console.log(JSON.stringify({ status: answer.status, text: await answer.text() }));`;
  const { stdout } = await run("nsenter", [
    ...["--target", String(init), "--net", process.execPath, "--input-type=module", "-e", source],
    ...[`http://127.0.0.1:${CONTAINER_DOOR}${path}`, body, String(patienceMs)],
  ]);
  return JSON.parse(stdout) as { status: number; text: string };
}

async function ended(member: DesiredMember): Promise<MemberEvent | undefined> {
  const isReleased = () => peer.of(member.member).some(({ kind }) => kind === "released");
  await untilFound("its release", isReleased, 60_000);
  peer.want();
  await node.untilClean();
  return peer.of(member.member).find(({ kind }) => kind === "failed");
}

async function stands(member: DesiredMember, standing: string, order: number): Promise<void> {
  await untilFound(
    `${standing} ${order}`,
    () =>
      peer
        .of(member.member)
        .some(
          (event) =>
            event.kind === "standing" && event.standing === standing && event.order === order,
        ),
    30_000,
  );
}

t.test("one is ready once its health says so, and answers calls at its own paths", async (t) => {
  const member = program("answers");
  peer.want(member);
  await peer.event(member.member, "ready");
  t.strictSame(await ask("/echo?a=1", "hello"), { status: 200, text: "/echo?a=1 hello" });
  const { text } = await ask("/place");
  t.strictSame(JSON.parse(text), {
    ...{ folder: "/srv", isRoot: false, reached: [], writable: ["/tmp"] },
    ...{ path: "/srv/bin:/usr/bin", said: ["told"] },
  });
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined);
});

t.test("one that sleeps stops where it is, and answers after it has woken", async (t) => {
  const member = program("sleeps");
  peer.want(member);
  await peer.event(member.member, "ready");
  peer.want({ ...member, wish: { order: 1, asleep: true } });
  await stands(member, "asleep", 1);
  // It is frozen, and its socket takes what nobody reads.
  await t.rejects(ask("/echo", "too early", 1_000));
  peer.want({ ...member, wish: { order: 2, asleep: false } });
  await stands(member, "well", 2);
  t.match(await ask("/echo", "awake"), { status: 200, text: "/echo awake" });
  peer.want({ ...member, wish: { order: 3, asleep: true } });
  await stands(member, "asleep", 3);
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  t.equal(await ended(member), undefined, "and can be ended while it sleeps");
});

t.test("one that answers nothing any more is told stalled, then ended", async (t) => {
  const member = program("hangs");
  peer.want(member);
  await peer.event(member.member, "ready");
  await ask("/hang");
  await stands(member, "stalled", 0);
  t.match(await ended(member), { reason: "no_progress", message: /its \/healthz neither$/ });
});

t.test("one that ends by itself has failed, also with exit code 0", async (t) => {
  const member = program("leaves");
  peer.want(member);
  await peer.event(member.member, "ready");
  ask("/leave").catch(() => {});
  t.match(await ended(member), { reason: "payload_exited", message: /by itself with exit code 0/ });
});

t.test("one whose program is not there says so", async (t) => {
  const member = program("missing", { command: ["./nowhere"] });
  peer.want(member);
  t.match(await ended(member), { reason: "payload_exited", detail: /nowhere/ });
  t.strictSame(peer.violations, []);
});
