/**
 * No answer is the server's fault or unlike the API's description: with a key, without one, and as a signed-in administrator. Few requests of each
 * kind: the proof `role-schemas` makes more, for each role too.
 */
import t from "tap";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { trySchemas } from "../helper/schemathesis.ts";

t.setTimeout(600_000);
const coordinator = await RunningCoordinator.create({ identity: true });
t.teardown(() => coordinator[Symbol.asyncDispose]());
await coordinator.startSearch();
const { platformKey, userId } = await coordinator.control("add-user", { username: "fuzzed" });

/** Who asks, with which headers, and how many requests of each kind for an operation. Nearly all of a stranger's end at the first check. */
for (const [who, headers, examples] of [
  ["with a key", { authorization: `Bearer ${platformKey}` }, 4],
  ["without a key", {}, 1],
  ["as an administrator", await coordinator.signedIn(userId, { roles: ["platform-admin"] }), 2],
] as const)
  t.test(who, async (t) => {
    const { code, output } = await trySchemas(coordinator, headers, examples);
    t.equal(code, 0, output.slice(-6_000));
    t.match(output, /[1-9]\d* (?:passed|generated|test cases)/i, output.slice(-1_500));
  });
