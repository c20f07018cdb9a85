/**
 * No answer is the server's fault or unlike the API's description: with a key, without one, and as a signed-in administrator. Few requests of each
 * kind: the proof `role-schemas` makes more, for each role too.
 */
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import t from "tap";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { operationsAnswered, trySchemas } from "../helper/schemathesis.ts";

t.setTimeout(600_000);
const coordinator = await RunningCoordinator.create({ identity: true });
t.teardown(() => coordinator[Symbol.asyncDispose]());
await coordinator.startSearch();
const { platformKey, userId } = await coordinator.control("add-user", { username: "fuzzed" });

const [own] = (await coordinator.control("key-list", { username: "fuzzed" })).keys;

/** From the first fault on; all that was said where none is told of. */
const faultsOf = (output: string): string =>
  output.slice(Math.max(0, output.search(/^=+ (?:ERRORS|FAILURES) =+$/m)));

/**
 * Who asks, with which headers, how many requests of each kind for an operation, and where it is told who it is. Nearly all of a stranger's end at the
 * first check.
 */
for (const [who, headers, examples, self] of [
  ["with a key", { authorization: `Bearer ${platformKey}` }, 4, "/api/me"],
  ["without a key", {}, 1, null],
  [
    "as an administrator",
    await coordinator.signedIn(userId, { roles: ["platform-admin"] }),
    ...([2, "/api/session"] as const),
  ],
] as const)
  t.test(who, async (t) => {
    const tried = await trySchemas(coordinator, headers, examples, own?.key);
    const { code, output } = tried;
    t.equal(code, 0, faultsOf(output).slice(0, 6_000));
    t.same(operationsAnswered(tried, 429), [], "whoever is told to wait tries nothing");
    if (self !== null) {
      const { status } = await fetchWithCa(coordinator.caPem, coordinator.url + self, { headers });
      t.equal(status, 200, "and it is still somebody at the end");
    }
    t.match(output, /[1-9]\d* (?:passed|generated|test cases)/i, output.slice(-1_500));
  });
