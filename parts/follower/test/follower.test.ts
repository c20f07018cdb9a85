import type { HostFacts } from "@resontech/frame/define-part";
import type { FindingFacts } from "@resontech/frame/finding";
import { Layout } from "@resontech/frame/layout";
import t from "tap";
import { follower } from "../part.ts";
import { followedIn } from "../src/followed.ts";

const layout = new Layout("/opt/r", "main");
const NOTE = { atMs: 7, upToMs: null, failure: null };

t.test("a note is read as it was written, and anything else is none", async (t) => {
  t.same(followedIn(JSON.stringify(NOTE)), NOTE);
  for (const text of [null, "", "{", "{}", '{"atMs":-1,"upToMs":null,"failure":null}'])
    t.equal(followedIn(text), null, String(text));
});

t.test("it runs while backups are scheduled, and is well as long as it notes so", async (t) => {
  const facts = (has: boolean, text: string | null): HostFacts =>
    ({
      layout,
      has: (path: string) => has && path === "/opt/r/etc/backup-schedule.json",
      read: (file: string) => (file === "/run/resontech/main/follower.json" ? text : null),
    }) as unknown as HostFacts;
  t.equal(follower.isWanted!(facts(true, null)), true);
  t.equal(follower.isWanted!(facts(false, null)), false);
  const { health } = follower;
  if (!("notedAtMs" in health)) throw new Error("it notes how far it is");
  t.equal(health.notedAtMs(facts(true, JSON.stringify(NOTE))), 7);
  t.equal(health.notedAtMs(facts(true, "torn")), null);
});

t.test("what is behind is told from more than ten seconds on, with why", async (t) => {
  const told = (behindS: number, failure: string | null = null) =>
    follower.findings!.backups!({
      followed: { target: "/mnt/b", behindS, failure },
    } as FindingFacts).map(({ code, what }) => `${code}: ${what}`);
  t.same(told(10), []);
  t.match(told(11), [/^backup_behind: what was done in the last 11 s is not on \/mnt\/b yet: /]);
  t.match(told(11, "backup_target"), [/yet \(backup_target\): it would be lost with this host$/]);
});
