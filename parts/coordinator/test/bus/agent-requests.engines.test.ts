import { connect } from "@nats-io/transport-node";
import {
  agentInboxPrefix,
  agentSubject,
  type AgentVerb,
} from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { NodeCaller } from "../../src/authorization/caller.ts";
import { type AgentHandlers, AgentRequests } from "../../src/bus/agent-requests.ts";
import { runNats } from "./nats-fixture.ts";

const EPOCH = { generation: 1, counter: 1 };
const MEMBER = { nodeEpoch: EPOCH, member: "m", fence: EPOCH };
const BEAT = {
  nodeEpoch: EPOCH,
  nonce: "n",
  bootId: "b",
  held: [],
  inventoryDigest: "0".repeat(64),
  leaseOf: null,
  loopLagMs: 1,
  diskFreeBytes: 1,
};

/** Handlers of which those for outputs wait until they are let go. */
async function serve(t: Test) {
  const server = await runNats(["--addr", "127.0.0.1", "--port", "-1"]);
  t.teardown(() => server[Symbol.asyncDispose]());
  const held = Promise.withResolvers<void>();
  const taken: string[] = [];
  const handle =
    (verb: AgentVerb) =>
    async ({ node }: NodeCaller) => {
      taken.push(`${verb} ${node}`);
      if (verb.startsWith("output-")) await held.promise;
      return {};
    };
  const handlers = new Proxy({} as AgentHandlers, { get: (_, verb) => handle(verb as AgentVerb) });
  const options = { servers: `127.0.0.1:${server.port}` };
  const ours = await connect(options);
  const requests = new AgentRequests({
    connection: ours,
    handlers,
    onError: (error) => t.fail(String(error)),
  });
  await ours.flush();
  t.teardown(async () => {
    held.resolve();
    await requests[Symbol.asyncDispose]();
    await ours.close();
  });
  const ask = async (node: string) => {
    const connection = await connect({ ...options, inboxPrefix: agentInboxPrefix(node) });
    t.teardown(() => connection.close());
    return async (
      verb: AgentVerb,
      request: object,
    ): Promise<{ ok: boolean; error?: { code: string } }> => {
      const answer = await connection.request(agentSubject(node, verb), JSON.stringify(request), {
        timeout: 120_000,
      });
      return answer.json();
    };
  };
  return { ask, held, taken };
}

t.test(
  "a node whose outputs wait for the object store is still heard, and its other requests are told to wait",
  async (t) => {
    const { ask, held, taken } = await serve(t);
    const node = await ask("node-a");
    const complete = { ...MEMBER, upload: "u", etags: [] };
    const waiting = Array.from({ length: 64 }, () => node("output-complete", complete));
    t.match(await node("output-complete", complete), {
      ok: false,
      error: { code: "too_many_requests" },
    });
    t.equal(taken.length, 64);
    t.match(await node("beat", BEAT), { ok: true });
    t.match(await node("desired", { nodeEpoch: EPOCH }), { ok: true });
    held.resolve();
    for (const { ok } of await Promise.all(waiting)) t.equal(ok, true);
    t.match(await node("output-complete", complete), { ok: true });
  },
);

t.test("what is not in the protocol is refused before anything is done with it", async (t) => {
  const { ask, taken } = await serve(t);
  const node = await ask("node-a");
  const parts = (numbers: number[]) =>
    node("output-parts", { ...MEMBER, upload: "u", parts: numbers });
  t.match(await parts(Array.from({ length: 1_001 }, () => 1)), {
    ok: false,
    error: { code: "invalid_request" },
  });
  t.match(await parts([0]), { ok: false, error: { code: "invalid_request" } });
  t.same(taken, []);
});
