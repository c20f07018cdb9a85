import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LogFollower } from "../../src/follow/log-follower.ts";
import { DailySheet } from "../../src/sheet/daily-sheet.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { keyLists, WrittenLog } from "../helper/written-log.ts";
import { silent } from "../helper/silent.ts";

t.test(
  "a sheet a day holds the newest checkpoint that was believed; old ones go after 400",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await using follower = new LogFollower(log.options, silent);
    await follower.start();
    let now = new Date("2026-03-01T00:05:00Z");
    await using sheet = new DailySheet({
      follower,
      policyFile: log.policyFile,
      stateDir: log.stateDir,
      log: silent,
      now: () => now,
    });
    const folder = join(log.stateDir, "sheets");
    await sheet.look();
    t.throws(() => readdirSync(folder), { code: "ENOENT" }, "nothing to say of an empty log");

    await log.append(keyLists(3));
    await follower.start();
    await sheet.look();
    const [first] = readdirSync(folder);
    t.equal(first, "2026-2026-03-01.html");
    const page = readFileSync(join(folder, first!), "utf8");
    const [origin, size, root] = readFileSync(join(log.logDir, "checkpoint"), "utf8").split("\n");
    t.ok(page.includes(`<pre>${origin}\n${size}\n${root}\n`));
    t.equal(statSync(join(folder, first!)).mode & 0o777, 0o440);

    await log.append(keyLists(3));
    await follower.start();
    await sheet.look();
    t.equal(readFileSync(join(folder, first!), "utf8"), page, "one a day");
    for (let day = 1; day <= 400; day++) {
      now = new Date(Date.parse("2026-03-01T00:05:00Z") + day * 86_400_000);
      await sheet.look();
    }
    const kept = readdirSync(folder).sort();
    t.equal(kept.length, 400);
    t.equal(kept[0], "2026-2026-03-02.html");
  },
);
