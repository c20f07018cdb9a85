import fc from "fast-check";
import Database from "better-sqlite3";
import t from "tap";
import { isInFilter, type RowFilter, type RowMatch, whereOf } from "../../src/db/row-filter.ts";

const COLUMNS = { userId: "user_id", projectId: "project_id" };

t.test("a filter is a condition with its values in order", async (t) => {
  t.same(whereOf("all", COLUMNS), { sql: "TRUE", values: [] });
  t.same(whereOf([], COLUMNS), { sql: "FALSE", values: [] });
  t.same(whereOf([{ projectId: "p" }], COLUMNS), { sql: "(project_id = ?)", values: ["p"] });
  t.same(whereOf([{ projectId: "p", userId: "u" }, { projectId: "q" }], COLUMNS), {
    sql: "(project_id = ? AND user_id = ?) OR (project_id = ?)",
    values: ["p", "u", "q"],
  });
});

t.test("a filter that the table can't obey is an error, never a wider one", async (t) => {
  t.throws(() => whereOf([{ node: "n" }], COLUMNS), TypeError);
  t.throws(() => whereOf([{}], COLUMNS), TypeError);
  t.throws(() => isInFilter([{}], { userId: "u" }), TypeError);
  t.equal(isInFilter([{ projectId: "p" }], { userId: "u" }), false, "a row without the attribute");
});

t.test("SQL and code let the same rows through", async (t) => {
  const db = new Database(":memory:");
  t.teardown(() => db.close());
  db.exec("CREATE TABLE rows (user_id TEXT, project_id TEXT) STRICT");
  const rows = ["a", "b"].flatMap((userId) =>
    ["p", "q"].map((projectId) => ({ userId, projectId })),
  );
  for (const { userId, projectId } of rows)
    db.prepare("INSERT INTO rows VALUES (?, ?)").run(userId, projectId);
  const match: fc.Arbitrary<RowMatch> = fc
    .record(
      { userId: fc.constantFrom("a", "b", "c"), projectId: fc.constantFrom("p", "q", "r") },
      { requiredKeys: [] },
    )
    .filter((one) => Object.keys(one).length > 0);
  const filter: fc.Arbitrary<RowFilter> = fc.oneof(
    fc.constant("all" as const),
    fc.array(match, { maxLength: 3 }),
  );
  fc.assert(
    fc.property(filter, (filter) => {
      const { sql, values } = whereOf(filter, COLUMNS);
      const selected = db
        .prepare(
          `SELECT user_id AS userId, project_id AS projectId FROM rows WHERE ${sql} ORDER BY 1, 2`,
        )
        .all(...values);
      t.same(
        selected,
        rows.filter((row) => isInFilter(filter, row)),
      );
    }),
  );
});
