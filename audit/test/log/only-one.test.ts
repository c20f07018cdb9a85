import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { becomeTheOnlyOne } from "../../src/log/only-one.ts";
import { temporaryFolder } from "../helper.ts";

const MODULE = join(import.meta.dirname, "../../src/log/only-one.ts");

/** A process that holds the folder, or fails to. */
async function holder(t: Test, folder: string) {
  const text = `import { becomeTheOnlyOne } from ${JSON.stringify(MODULE)};
process.chdir(${JSON.stringify(folder)});
console.log(await becomeTheOnlyOne(".") === null ? "no" : "yes");
setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  const [word] = (await once(child.stdout, "data")) as [Buffer];
  return {
    holds: String(word) === "yes\n",
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

t.test("one process holds a folder, and the kernel frees it when that one is killed", async (t) => {
  const folder = temporaryFolder(t);
  for (const life of ["first", "second", "third"]) {
    const one = await holder(t, folder);
    t.ok(one.holds, `${life} life`);
    t.notOk((await holder(t, folder)).holds, "another one");
    t.equal(await becomeTheOnlyOne(folder), null, "another one here");
    await one.kill();
  }
  t.same(readdirSync(folder), ["serving"], "nothing else is left");
});

t.test("of many that find a killed one's socket at once, one holds the folder", async (t) => {
  const folder = temporaryFolder(t);
  for (let round = 0; round < 20; round++) {
    await (await holder(t, folder)).kill();
    const all = await Promise.all(Array.from({ length: 12 }, () => becomeTheOnlyOne(folder)));
    const held = all.filter((server) => server !== null);
    t.equal(held.length, 1, `round ${round}`);
    t.equal(await becomeTheOnlyOne(folder), null, "the one that was quicker holds");
    for (const server of held) server.close();
  }
});
