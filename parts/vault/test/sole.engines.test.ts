import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { startedBoth } from "./helper/started-both.ts";
import { VaultFixture } from "./helper/vault-fixture.ts";

/** On the same folders, at sockets of its own: chance can't say who finds what there. */
function another(t: Test, { root, config }: VaultFixture): VaultFixture {
  const run = join(root, "other-run");
  mkdirSync(run, { recursive: true, mode: 0o750 });
  const elsewhere = temporaryFolder(t);
  const { dataDir, keysDir, keyFile, epochsDir, backupsDir, auditSocket } = config;
  const other = new VaultFixture(elsewhere, {
    ...{ dataDir, keysDir, keyFile, epochsDir, backupsDir, auditSocket },
    ...{ controlSocket: join(run, "control"), tokensSocket: join(run, "tokens") },
  });
  t.teardown(() => other.stop("SIGKILL"));
  return other;
}

t.test(
  "a second vault on the same folders ends and says why, and the first one goes on",
  async (t) => {
    const [, vault] = await startedBoth(t);
    const second = another(t, vault);
    await t.rejects(second.start(), {
      message: /AlreadyRunningError: another process works on .*: it goes on, and this one ends/,
    });
    t.match(await vault.status(), { fault: null });
    await vault.stop("SIGKILL");
    await second.start();
    t.match(await second.status(), { fault: null }, "what a killed one left holds nobody up");
  },
);

t.test("of several that start at once on what a killed one left one runs", async (t) => {
  const [, vault] = await startedBoth(t);
  for (let round = 0; round < 3; round++) {
    await vault.stop("SIGKILL");
    const others = [another(t, vault), vault];
    const ends = await Promise.allSettled(others.map((one) => one.start()));
    t.same(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"], `round ${round}`);
    await Promise.all(others.map((one) => one.stop("SIGKILL")));
  }
});
