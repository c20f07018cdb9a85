import t from "tap";
import { foldersOf, MAX_FOLDERS } from "../../src/audit/vault-tokens.ts";

t.test("a path lies in each of its folders, the bucket among them, and in no other", async (t) => {
  t.same(foldersOf("b/jobs/x/a.csv"), ["b/", "b/jobs/", "b/jobs/x/"]);
  t.same(foldersOf("b/a.csv"), ["b/"]);
  t.same(
    foldersOf("b/jobs/x/"),
    ["b/", "b/jobs/", "b/jobs/x/"],
    "a folder's marker lies in its folder",
  );
  t.same(foldersOf("b//a"), ["b/", "b//"], "an empty name is one");
  t.same(foldersOf("b/jobs/x/a.csv?versionId=01J"), ["b/", "b/jobs/", "b/jobs/x/"]);
  t.same(foldersOf("alone"), []);
  t.equal(
    foldersOf(`b/${"d/".repeat(200)}a`).length,
    MAX_FOLDERS,
    "a deep one by its outermost folders",
  );
});
