import { join } from "node:path";
import t, { type Test } from "tap";
import { openDatabase } from "../../src/db/open-database.ts";
import { insertPerson, insertUser } from "../../src/identity/bucket-store.ts";
import { OF_NO_PERSON, PERSONAL_COLUMNS } from "../../src/identity/decisions/personal-columns.ts";
import {
  accountOf,
  forgetPerson,
  forgottenName,
  personalRows,
  personalTraces,
} from "../../src/identity/personal-data.ts";
import { linkPerson, linkSource } from "../../src/identity/people-store.ts";
import { setRoles } from "../../src/identity/role-holders.ts";

const ANNA = "u_0123456789abcdef01234567";

function opened(t: Test) {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  t.teardown(() => database[Symbol.dispose]());
  const { write } = database;
  insertUser(write, {
    ...{ userId: ANNA, username: "anna", now: 1_000, projectId: "p_a", bucket: "anna-1" },
    quotaBytes: 9,
  });
  insertPerson(write, { userId: "u_bert", username: "bert", now: 1_000 });
  return database;
}

t.test(
  "no column of the database names a user and is left out of what a person is told",
  async (t) => {
    const { read } = opened(t);
    const tables = read
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .pluck()
      .all();
    const pointing = tables.flatMap((table) =>
      read
        .prepare<[], { from: string; table: string }>(`PRAGMA foreign_key_list(${table})`)
        .all()
        .filter((key) => key.table === "users")
        .map(({ from }) => `${table}.${from}`),
    );
    const told = new Set([
      ...PERSONAL_COLUMNS.flatMap(({ column, twin = column }) => [column, twin]),
      ...Object.keys(OF_NO_PERSON),
    ]);
    t.ok(pointing.length > 15, "there are some");
    t.same(
      pointing.filter((column) => !told.has(column)),
      [],
    );
    const parts = PERSONAL_COLUMNS.map(({ part }) => part);
    t.equal(new Set(parts).size, parts.length, "each has a part of its own");
    for (const column of told) {
      const [table, name] = column.split(".");
      const columns = read.prepare<[], { name: string }>(`PRAGMA table_info(${table})`).all();
      t.ok(
        columns.some((one) => one.name === name),
        column,
      );
    }
  },
);

t.test("a person is told what is held, in times of the world, and of nobody else", async (t) => {
  const { read, write } = opened(t);
  setRoles(write, "u_bert", ["security-officer"]);
  write.prepare("INSERT INTO ssh_keys VALUES (?, 0, 'ssh-ed25519 AAAA anna@laptop')").run(ANNA);
  write
    .prepare(
      `INSERT INTO approvals (id, kind, what, requester_id, state, single_person, created_at, expires_at)
       VALUES ('a_1', 'role', ?, 'u_bert', 'requested', 0, 2000, 3000)`,
    )
    .run(JSON.stringify({ kind: "role", userId: ANNA, role: "data-steward", change: "grant" }));
  const opening = { kind: "disclosure", shard: "2026", subjects: [ANNA], receiver: "u_bert" };
  write
    .prepare(
      `INSERT INTO later_approvals (id, kind, what, requester_id, state, single_person, created_at, expires_at)
       VALUES ('a_2', 'disclosure', ?, 'u_bert', 'requested', 0, 2001, 3000)`,
    )
    .run(JSON.stringify(opening));
  write.exec("INSERT INTO later_signatures VALUES ('a_2', 'request', 'u_bert', '00', 'a.b.c', 9)");
  t.match(accountOf(read, ANNA), { username: "anna", createdAt: "1970-01-01T00:00:01.000Z" });
  t.equal(accountOf(read, "u_nobody"), null);
  const rows = [...personalRows(read, ANNA)];
  t.same(
    rows.map(({ part }) => part),
    ["project", "project-founded", "ssh-key", "concerned", "concerned"],
  );
  t.match(rows[1], { bucket: "anna-1", name: "default" });
  t.match(rows[3], { id: "a_1", createdAt: "1970-01-01T00:00:02.000Z", decidedAt: null });
  t.same(
    [...personalRows(read, "u_bert")].map(({ part }) => part),
    ["role", "request", "request", "concerned", "signature"],
  );
  write.transaction(() => forgetPerson(write, "u_bert", 7_000))();
  t.equal(read.prepare("SELECT count(*) FROM every_signature").pluck().get(), 0);
});

t.test(
  "a forgotten person has no name, account or directory here, and what stays says why",
  async (t) => {
    const { read, write } = opened(t);
    linkPerson(write, ANNA, "kc-1");
    linkSource(write, ANNA, { name: "corp", subject: "uid-7", kind: "storage" });
    setRoles(write, ANNA, ["data-steward"]);
    write.prepare("INSERT INTO user_groups VALUES (?, 'corp/doctors')").run(ANNA);
    write.prepare("INSERT INTO ssh_keys VALUES (?, 0, 'ssh-ed25519 AAAA anna@laptop')").run(ANNA);
    write
      .prepare(
        `INSERT INTO platform_keys (id, hash, prefix, last4, name, user_id, project_id, scopes, created_at, expires_at)
       VALUES ('k_1', zeroblob(32), 'rsk', 'abcd', 'anna''s laptop', ?, 'p_a', '[]', 1, 2)`,
      )
      .run(ANNA);
    write.transaction(() => forgetPerson(write, ANNA, 7_000))();
    t.match(accountOf(read, ANNA), {
      ...{ username: forgottenName(ANNA), source: null, sourceId: null },
      disabledAt: "1970-01-01T00:00:07.000Z",
    });
    t.equal(forgottenName(ANNA), "forgotten-0123456789ab");
    t.match(personalTraces(read, ANNA), [
      { part: "project", count: 1, stays: /pseudonym alone/ },
      { part: "project-founded", count: 1, stays: /pseudonym alone/ },
      { part: "platform-key", count: 1, stays: /without the key's name/ },
    ]);
    const all = JSON.stringify([...personalRows(read, ANNA), accountOf(read, ANNA)]);
    t.notMatch(all, /laptop|doctors|corp|uid-7/);
    t.match(accountOf(read, "u_bert"), { username: "bert" });
    write.transaction(() => forgetPerson(write, ANNA, 9_000))();
    t.match(accountOf(read, ANNA), { disabledAt: "1970-01-01T00:00:07.000Z" }, "again is the same");
  },
);
