/** No answer is the server's fault or unlike the API's description: with a key, without one, and as a signed-in administrator. */
import type { ControlReply } from "@resontech/contracts/control-protocol";
import t from "tap";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { trySchemas } from "../helper/schemathesis.ts";

/** Requests of each kind for an operation. */
const EXAMPLES = 12;

t.setTimeout(600_000);
const coordinator = await RunningCoordinator.create({ identity: true });
t.teardown(() => coordinator[Symbol.asyncDispose]());
await coordinator.startSearch();
const added = await coordinator.control({ verb: "add-user", username: "fuzzed" });
const { platformKey, userId } = added as Extract<ControlReply, { verb: "add-user"; ok: true }>;

for (const [who, headers] of [
  ["with a key", { authorization: `Bearer ${platformKey}` }],
  ["without a key", {}],
  ["as an administrator", await coordinator.signedIn(userId, { roles: ["platform-admin"] })],
] as const)
  t.test(who, async (t) => {
    const { code, output } = await trySchemas(coordinator, headers, EXAMPLES);
    t.equal(code, 0, output.slice(-6_000));
    t.match(output, /[1-9]\d* (?:passed|generated|test cases)/i, output.slice(-1_500));
  });
