/** Which platform keys the gateway is told of, and how soon it hears that one is good no longer. */
import { createHash } from "node:crypto";
import t from "tap";
import { UNSEEN_MS } from "../../src/identity/decisions/unseen.ts";
import { insertKey, revokeKey } from "../../src/identity/key-store.ts";
import { setRoles } from "../../src/identity/role-holders.ts";
import { CallerKeys } from "../../src/inference/caller-keys.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const digest = (key: string) => createHash("sha256").update(key).digest();

t.test("living keys with the scope, of people who are there", async (t) => {
  using world = new KernelWorld();
  const { db } = world.parts;
  db.exec(
    "INSERT OR IGNORE INTO project_members (project_id, user_id, role, created_at) VALUES ('project-a', 'user-a', 'project-lead', 1)",
  );
  const add = (id: string, change: object = {}) =>
    insertKey(db, {
      ...{ id, hash: digest(id), prefix: "rsk_dev_", last4: "0000", name: id, userId: "user-a" },
      ...{ projectId: "project-a", scopes: ["infer", "jobs:read"], createdAt: 1 },
      ...{ expiresAt: world.nowMs + 60_000, ...change },
    });
  add("k_calls");
  add("k_looks", { scopes: ["jobs:read", "storage"] });
  add("k_over", { expiresAt: world.nowMs });
  const keys = new CallerKeys(world.read);
  const ids = () => keys.all(world.nowMs).map(({ id }) => id);
  t.same(keys.all(world.nowMs), [
    {
      ...{ id: "k_calls", sha256: digest("k_calls").toString("hex"), project: "project-a" },
      expiresAt: world.nowMs + 60_000,
    },
  ]);

  revokeKey(db, "k_calls", world.nowMs);
  world.nowMs += 1_000;
  t.same(ids(), [], "within a second");

  add("k_calls-2");
  world.nowMs += 1_000;
  t.same(ids(), ["k_calls-2"]);
  for (const [gone, back] of [
    ["disabled_at = 1", "disabled_at = NULL"],
    ["left_at = 1", "left_at = NULL"],
    [
      `source_kind = 'broker', signed_in_at = ${world.nowMs - UNSEEN_MS}`,
      "source_kind = NULL, signed_in_at = NULL",
    ],
  ] as const) {
    db.exec(`UPDATE users SET ${gone}`);
    world.nowMs += 1_000;
    t.same(ids(), [], gone);
    db.exec(`UPDATE users SET ${back}`);
    world.nowMs += 1_000;
    t.same(ids(), ["k_calls-2"], back);
  }
  for (const duty of ["platform-admin", "compliance-auditor"] as const) {
    setRoles(db, "user-a", [duty]);
    world.nowMs += 1_000;
    t.same(ids(), [], `${duty} sees no data, and a model answers from data`);
  }
  setRoles(db, "user-a", ["security-officer"]);
  world.nowMs += 1_000;
  t.same(ids(), ["k_calls-2"], "another duty leaves it");
  db.exec("DELETE FROM project_members");
  world.nowMs += 1_000;
  t.same(ids(), [], "who left the project has no key in it");
});
