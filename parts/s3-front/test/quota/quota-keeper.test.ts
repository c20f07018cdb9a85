/** The coordinator is a script: only so its answer can be made to come late. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t from "tap";
import { CoordinatorLink } from "../../src/coordinator/coordinator-link.ts";
import { QuotaKeeper } from "../../src/quota/quota-keeper.ts";

/** A little longer than a quota that was told is good for. */
const QUOTA_OVER_MS = 5_100;
const LATE_MS = 100;

t.test("writes that come while a new quota is asked for are judged by it", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "rtq-"));
  const server = createServer((socket) => {
    createInterface({ input: socket }).on("line", (text) => {
      const { hello, id, ask } = JSON.parse(text) as { hello?: unknown; id: number; ask: string };
      const say = (answer: object) => socket.write(`${JSON.stringify(answer)}\n`);
      if (hello !== undefined) say({ hello: "agreed", protocol: 2 });
      else if (ask === "quota")
        setTimeout(() => say({ id, ok: true, ask, quotaBytes: 10_000 }), LATE_MS);
      else say({ id, ok: true, ask, bucket: { quotaBytes: 1_000, usedBytes: 900, owner: "u_1" } });
    });
    socket.on("error", () => {});
  });
  server.listen(join(dir, "sock"));
  await once(server, "listening");
  const link = new CoordinatorLink(join(dir, "sock"));
  t.teardown(() => {
    link[Symbol.dispose]();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const keeper = new QuotaKeeper(link);
  const take = (bytes: number) => keeper.room("bucket", bytes, null, false);
  (await take(100)).stored();
  await t.rejects(take(100), { code: "QuotaExceeded" });
  const clock = performance.now.bind(performance);
  t.intercept(performance, "now", { value: () => clock() + QUOTA_OVER_MS });
  const ends = await Promise.allSettled(Array.from({ length: 4 }, () => take(100)));
  t.same(
    ends.map(({ status }) => status),
    Array.from({ length: 4 }, () => "fulfilled"),
  );
});
