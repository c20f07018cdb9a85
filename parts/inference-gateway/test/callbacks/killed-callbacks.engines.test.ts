/** Lives of callbacks that end by SIGKILL at any moment: whatever was kept is posted, whole, at least once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestPki } from "@resontech/house/test-pki";
import { OutsideServer } from "@resontech/house/outside-server";

t.setTimeout(600_000);
const KEEPER = join(import.meta.dirname, "../helper/callback-keeper.ts");
const LIVES = 8;

t.test("a kill loses none of the answers that were kept", async (t) => {
  const dir = t.testdir({ callbacks: {} });
  const pki = await TestPki.make(join(dir, "pki"), "127.0.0.1");
  await using server = await OutsideServer.open({
    cert: readFileSync(pki.serverCertFile, "utf8"),
    key: readFileSync(pki.serverKeyFile, "utf8"),
  });
  // One in three is not taken, and one that is taken may not be heard to be.
  let asked = 0;
  server.answer = (response) => {
    asked += 1;
    if (asked % 3 === 0) response.writeHead(503).end();
    else if (asked % 7 === 0) response.destroy();
    else response.end();
  };
  const spool = join(dir, "callbacks");
  const kept = new Set<string>();
  const live = async (count: number, killAfter: number | null) => {
    const args = [KEEPER, spool, String(server.port), pki.rootFile, String(count)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "close");
    let isEmpty = false;
    let own = 0;
    createInterface(child.stdout).on("line", (line) => {
      if (line === "empty") isEmpty = true;
      else kept.add(line);
      own += 1;
      if (own === killAfter) child.kill("SIGKILL");
    });
    await ended;
    return isEmpty;
  };
  let left = 0;
  for (let life = 1; life <= LIVES; life++) {
    t.notOk(await live(1_000, life * 7), `life ${life} was killed`);
    left += readdirSync(spool).length;
  }
  t.ok(left > 0, "kills left answers that were not posted yet");
  t.ok(await live(0, null), "the last life posts what is left");
  t.same(readdirSync(spool), []);
  await sleep(50);
  const whole = new Set(
    server.heard.flatMap(({ headers, body }) => {
      const id = String(headers["idempotency-key"]);
      const isWhole =
        body.startsWith(`${id}:`) && body.length === Number(headers["content-length"]);
      return isWhole ? [id] : [];
    }),
  );
  t.ok(kept.size >= (LIVES * (LIVES + 1) * 7) / 2, `${kept.size} were kept`);
  t.same(
    [...kept].filter((id) => !whole.has(id)),
    [],
    "each of them was heard, whole",
  );
});
