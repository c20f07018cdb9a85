import t from "tap";
import { removalsStatement } from "../../src/keycloak/decisions/removals-statement.ts";

const NOTHING = { users: [], roles: [], groups: [], identities: [], credentials: [], clients: [] };

t.test("the statement is one line, as PostgreSQL without a server reads it", async (t) => {
  const text = removalsStatement(JSON.stringify(NOTHING, null, 2));
  t.equal(text.trimEnd().split("\n").length, 1);
  t.match(text, /^DO \$removals\$ .* END \$removals\$;\n$/);
});

t.test("a name that looks like a statement stays a name", async (t) => {
  const roles = [["u1", "", "it's'; DROP TABLE user_entity; -- $removals$ \n"]];
  const text = removalsStatement(JSON.stringify({ ...NOTHING, roles }));
  t.equal(text.trimEnd().split("\n").length, 1);
  t.match(text, "it''s''; DROP TABLE");
  t.equal(text.split("$removals$").length, 3, "the quote ends where it is meant to");
});

t.test("what is no answer of the query makes no statement", async (t) => {
  t.throws(() => removalsStatement(""));
  t.throws(() => removalsStatement("psql: error"));
});
