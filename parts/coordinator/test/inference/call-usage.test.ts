/** What was used, kept exactly however often it is told, and shown to whom it concerns. */
import { createHash } from "node:crypto";
import type { UsageRow } from "@resontech/contracts/gateway-numbers";
import t from "tap";
import { insertKey } from "../../src/identity/key-store.ts";
import { keepUsage, readUsage } from "../../src/inference/call-usage.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const digest = (key: string) => createHash("sha256").update(key).digest();
const row = (change: Partial<UsageRow>): UsageRow => ({
  ...{ day: "2026-01-02", deployment: "job-x", project: "project-a", calls: 1, failed: 0 },
  ...{ keySha256: digest("own").toString("hex"), inexact: 0, promptTokens: 5 },
  ...{ completionTokens: 7, ...change },
});

t.test("the same days told again and again, and through a crash, count once", async (t) => {
  using world = new KernelWorld();
  const key = { id: "k_1", hash: digest("rsk"), prefix: "rsk_dev_", last4: "0000", name: "k" };
  insertKey(world.parts.db, {
    ...{ ...key, userId: "user-a", projectId: "project-a", scopes: ["infer"], createdAt: 1 },
    expiresAt: world.nowMs + 1_000,
  });
  const told: UsageRow[] = [
    row({ calls: 3, promptTokens: 15 }),
    row({ keySha256: digest("rsk").toString("hex"), calls: 2 }),
    row({ day: "2026-01-01", calls: 9 }),
    row({ deployment: "job-y", project: "project-b" }),
  ];
  await keepUsage(world.parts.commit, told);
  await keepUsage(world.parts.commit, told);
  // An older word, of a gateway that has not read all of its journal yet.
  await keepUsage(world.parts.commit, [row({ calls: 1, promptTokens: 5 })]);
  world.crash();
  await keepUsage(world.parts.commit, [row({ calls: 4, promptTokens: 20, failed: 1 })]);
  const all = readUsage(world.read, "all", {});
  t.match(all, [
    { day: "2026-01-02", deployment: "job-x", keyId: null, calls: 4, promptTokens: 20, failed: 1 },
    { day: "2026-01-02", deployment: "job-x", keyId: "k_1", calls: 2 },
    { day: "2026-01-02", deployment: "job-y", projectId: "project-b", name: null },
    { day: "2026-01-01", calls: 9 },
  ]);
  const days = (query: Parameters<typeof readUsage>[2]) =>
    readUsage(world.read, [{ projectId: "project-a" }], query).map(({ day }) => day);
  t.same(days({}), ["2026-01-02", "2026-01-02", "2026-01-01"], "of one's own project alone");
  t.same(days({ to: "2026-01-01" }), ["2026-01-01"]);
  t.same(days({ from: "2026-01-02" }), ["2026-01-02", "2026-01-02"]);
  t.same(days({ deployment: "job-y" }), []);
  t.same(readUsage(world.read, [], {}), []);
});
