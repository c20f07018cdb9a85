import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { resultId, StepCache } from "../../src/cache/step-cache.ts";

t.test(
  "a step is built once for the same inputs, by whichever name of the cache it is asked",
  async (t) => {
    const directory = t.testdir();
    let built = 0;
    const make = async (cache: StepCache, version: number) =>
      await cache.step("pack", { version }, async (into) => {
        built += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        writeFileSync(join(into, "result"), String(version));
      });
    const cache = new StepCache(directory);
    const [first, same, again] = await Promise.all([
      make(cache, 1),
      make(cache, 1),
      make(new StepCache(directory), 1),
    ]);
    t.equal(built, 1);
    t.equal(same, first);
    t.equal(again, first);
    t.not(await make(cache, 2), first);
    t.equal(built, 2);
  },
);

t.test("ids of results do not depend on where the cache lies", async (t) => {
  const fill = async () => {};
  const [a, b] = [new StepCache(t.testdir({ a: {} }) + "/a"), new StepCache(t.testdirName + "/b")];
  t.equal(resultId(await a.step("x", { n: 1 }, fill)), resultId(await b.step("x", { n: 1 }, fill)));
});

t.test("a step that fails leaves nothing, and nothing new is begun after it", async (t) => {
  const cache = new StepCache(t.testdir());
  await t.rejects(
    cache.step("broken", {}, async (into) => {
      writeFileSync(join(into, "half"), "");
      throw new Error("no room");
    }),
    { message: "no room" },
  );
  t.strictSame(readdirSync(join(cache.directory, "steps")), []);
  await t.rejects(
    cache.step("later", {}, async () => {
      t.fail("was begun");
    }),
    { code: "build_stopped" },
  );
});

t.test("a process that was killed while it built holds nobody up", async (t) => {
  const directory = t.testdir();
  const module = join(import.meta.dirname, "..", "..", "src", "cache", "step-cache.ts");
  const script = `import { StepCache } from ${JSON.stringify(module)};
    import { writeFileSync } from "node:fs";
    await new StepCache(${JSON.stringify(directory)}).step("slow", {}, async (into) => {
      writeFileSync(into + "/half", ""); console.log("building"); setInterval(() => {}, 1000); await new Promise(() => {}); });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  const done = await new StepCache(directory).step("slow", {}, async (into) =>
    writeFileSync(join(into, "whole"), "yes"),
  );
  t.equal(readFileSync(join(done, "whole"), "utf8"), "yes");
  t.notOk(existsSync(join(done, "half")));
});
