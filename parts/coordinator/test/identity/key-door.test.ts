import { randomBytes } from "node:crypto";
import { join } from "node:path";
import t from "tap";
import { cedarPrincipalOf } from "../../src/authorization/cedar-principal.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { findCaller, insertKey } from "../../src/identity/key-store.ts";
import {
  linkSource,
  noteLeft,
  noteSignIn,
  unlinkedUsers,
} from "../../src/identity/people-store.ts";
import { setRoles } from "../../src/identity/role-holders.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");
const DAY = 86_400_000;

t.test("whose keys are good, as long as anybody knows that the person is there", async (t) => {
  using database = openDatabase(join(t.testdir(), "coordinator.db"));
  const { read, write } = database;
  const keyOf = (userId: string) => {
    insertUser(write, {
      ...{ userId, username: userId.slice(2), projectId: `p${userId.slice(1)}` },
      ...{ bucket: userId.slice(2), quotaBytes: 1, now: NOW },
    });
    const hash = randomBytes(32);
    insertKey(write, {
      ...{ id: `k${userId.slice(1)}`, hash, prefix: "rsk_dev_ab", last4: "wxyz", name: "key" },
      ...{ userId, projectId: `p${userId.slice(1)}`, scopes: ["jobs:read"] },
      ...{ createdAt: NOW, expiresAt: NOW + 365 * DAY },
    });
    return (days: number) => {
      const found = findCaller(read, hash, NOW + days * DAY);
      return typeof found === "object" ? found?.kind : found;
    };
  };
  const local = keyOf("u_local");
  t.equal(local(300), "key", "a local user is disabled by the operator");

  const corp = keyOf("u_corp");
  linkSource(write, "u_corp", { name: "corp", subject: "1", kind: "storage" });
  t.equal(corp(300), "key", "the directory tells who left");
  t.ok(noteLeft(write, "u_corp", NOW));
  t.notOk(noteLeft(write, "u_corp", NOW));
  t.equal(corp(1), "left");
  noteSignIn(write, "u_corp", NOW);
  t.equal(corp(1), "key", "and who came back");

  const uni = keyOf("u_uni");
  linkSource(write, "u_uni", { name: "uni", subject: "1", kind: "broker" });
  t.equal(uni(0), "unseen");
  noteSignIn(write, "u_uni", NOW);
  t.equal(uni(6.9), "key");
  t.equal(uni(7.1), "unseen", "nobody tells whether the person is still there");
  t.throws(() => linkSource(write, "u_local", { name: "uni", subject: "1", kind: "broker" }), {
    code: "SQLITE_CONSTRAINT_UNIQUE",
  });
});

t.test("a key's person holds what the rows say, and nothing that a column kept", async (t) => {
  using database = openDatabase(join(t.testdir(), "coordinator.db"));
  const { read, write } = database;
  insertUser(write, {
    ...{ userId: "u_first", username: "first", projectId: "p_first", bucket: "first" },
    ...{ quotaBytes: 1, now: NOW },
  });
  const hash = randomBytes(32);
  insertKey(write, {
    ...{ id: "k_first", hash, prefix: "rsk_dev_ab", last4: "wxyz", name: "key" },
    ...{ userId: "u_first", projectId: "p_first", scopes: ["nodes:read"] },
    ...{ createdAt: NOW, expiresAt: NOW + DAY },
  });
  const isAdministrator = () => {
    const found = findCaller(read, hash, NOW);
    if (found === null || typeof found === "string") throw new Error("the key is not good");
    return cedarPrincipalOf(found, {}).class;
  };
  setRoles(write, "u_first", ["platform-admin"]);
  t.match(isAdministrator(), { isAdmin: true });
  // As the release before left it, whose column nobody took back.
  setRoles(write, "u_first", []);
  write.prepare("UPDATE users SET is_admin = 1").run();
  t.match(isAdministrator(), { isAdmin: false });
  t.same(
    unlinkedUsers(read).map(({ roles }) => roles),
    [[]],
    "a new link to Keycloak gives nothing back",
  );
});
