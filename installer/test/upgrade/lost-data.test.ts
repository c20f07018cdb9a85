import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import t from "tap";
import { describeLostData } from "../../src/upgrade/decisions/lost-data.ts";
import { peopleWhoLoseData } from "../../src/upgrade/people-who-lose-data.ts";

const BEFORE = `
  CREATE TABLE users (id TEXT, username TEXT, is_admin INTEGER, signed_in_at INTEGER, disabled_at INTEGER);
  CREATE TABLE role_holders (user_id TEXT, role TEXT);
  CREATE TABLE platform_keys (user_id TEXT, revoked_at INTEGER, expires_at INTEGER);
  CREATE TABLE bucket_pairs (user_id TEXT, access_key_id TEXT);
  INSERT INTO users VALUES ('u_1', 'first', 1, NULL, NULL), ('u_2', 'anna', 0, 5, NULL), ('u_3', 'aude', 0, 5, NULL),
    ('u_4', 'plain', 0, 5, NULL), ('u_5', 'taken', 1, 5, NULL), ('u_6', 'bare', 0, 5, NULL), ('u_7', 'gone', 0, 5, 6);
  INSERT INTO role_holders VALUES ('u_2', 'platform-admin'), ('u_3', 'compliance-auditor'), ('u_6', 'platform-admin'), ('u_7', 'platform-admin');
  INSERT INTO platform_keys SELECT id, NULL, 9e15 FROM users WHERE id <> 'u_6';
  INSERT INTO platform_keys VALUES ('u_6', 3, 9e15), ('u_6', NULL, 4);
  INSERT INTO bucket_pairs SELECT id, 'RT' FROM users WHERE id IN ('u_1', 'u_4');
`;

t.test(
  "who has a duty and a key or a pair is named, from a database that lies there or is used",
  async (t) => {
    const dir = t.testdir();
    const file = join(dir, "coordinator.db");
    t.equal(peopleWhoLoseData(file), null, "there is none yet");
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA journal_mode = WAL; ${BEFORE}`);
    const people = [
      { username: "anna", duty: "platform-admin", keys: 1, pairs: 0 },
      { username: "aude", duty: "compliance-auditor", keys: 1, pairs: 0 },
      { username: "first", duty: "platform-admin", keys: 1, pairs: 1 },
    ];
    t.same(peopleWhoLoseData(file), people, "while it is used");
    db.close();
    const files = readdirSync(dir);
    t.same(peopleWhoLoseData(file), people);
    t.same(readdirSync(dir), files, "no file of root's is left beside it");
    const after = new DatabaseSync(file);
    after.exec("CREATE TABLE restored_administrators (user_id TEXT)");
    after.close();
    t.equal(peopleWhoLoseData(file), null, "duties bind keys already");
    mkdirSync(join(dir, "no.db"));
    t.throws(() => peopleWhoLoseData(join(dir, "no.db")));
  },
);

t.test("the plan says it in words, and nothing where nobody loses anything", async (t) => {
  t.same(describeLostData([]), []);
  const lines = describeLostData([
    { username: "first", duty: "platform-admin", keys: 1, pairs: 2 },
    { username: "aude", duty: "compliance-auditor", keys: 2, pairs: 0 },
  ]);
  t.match(lines[1], "first (platform-admin): 1 platform key, which see no data; 2 S3 key pairs");
  t.match(lines[2], "aude (compliance-auditor): 2 platform keys, which are refused");
  t.match(lines.at(-1), "appliance add-user NAME");
});
