import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { requireOutside } from "../../src/backup/require-outside.ts";

t.test("no folder of backups lies below the appliance's own, by whatever name", async (t) => {
  const dir = t.testdir();
  const root = join(dir, "srv", "resontech");
  mkdirSync(join(root, "data"), { recursive: true });
  mkdirSync(join(dir, "srv", "resontech-backup"));
  symlinkSync(root, join(dir, "link"));
  writeFileSync(join(root, "bucket.json"), "{}");
  for (const inside of [
    root,
    join(root, "data"),
    join(root, "not", "yet"),
    join(dir, "link", "backups"),
    join(dir, "srv", "other", "..", "resontech", "x"),
  ])
    await t.rejects(requireOutside(root, inside), { code: "backup_target_inside" }, inside);
  for (const outside of [
    join(dir, "srv"),
    join(dir, "srv", "resontech-backup"),
    join(dir, "not", "yet"),
    join(root, "bucket.json"),
  ])
    await t.resolves(requireOutside(root, outside), outside);
});
