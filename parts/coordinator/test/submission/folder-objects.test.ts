import t from "tap";
import type { ObjectVersion } from "../../src/storage/object-store.ts";
import { listFolders } from "../../src/submission/folder-objects.ts";

const versionOf = (key: string): ObjectVersion => ({
  key,
  versionId: "v",
  etag: "e",
  sizeBytes: 1,
});

/** @param most so many keys one answer holds */
function storeOf(keys: readonly string[], most: number) {
  const asked: string[] = [];
  const below = (prefix: string) => keys.filter((key) => key.startsWith(prefix)).map(versionOf);
  return {
    asked,
    list: async (_bucket: string, prefix: string) => {
      asked.push(`list ${prefix}`);
      return below(prefix);
    },
    listAtOnce: async (_bucket: string, prefix: string) => {
      asked.push(`at once ${prefix}`);
      const found = below(prefix);
      return found.length > most ? null : found;
    },
  };
}

const KEYS = ["j/a/", "j/a/x/y.py", "j/ab/z.py", "j/b/1.zip", "j/logs/0", "other/model.pt"];
const FOLDERS = ["j/a", "j/b", "other"];
const FOUND = [["x/y.py"], ["1.zip"], ["model.pt"]];

for (const [most, asked] of [
  [10, ["at once j/", "list other/"]],
  [3, ["at once j/", "list other/", "list j/a/", "list j/b/"]],
] as const)
  t.test(`folders below one root, with an answer of ${most} keys`, async (t) => {
    const store = storeOf(KEYS, most);
    const found = await listFolders(store, "bucket", "j", FOLDERS);
    t.same(
      found.map((objects) => objects.map(({ path }) => path)),
      FOUND,
    );
    t.same(store.asked, asked);
  });

t.test("one folder below the root is asked for by itself", async (t) => {
  const store = storeOf(KEYS, 10);
  const [found] = await listFolders(store, "bucket", "j", ["j/a"]);
  t.same(
    found?.map(({ key }) => key),
    ["j/a/x/y.py"],
  );
  t.same(store.asked, ["list j/a/"]);
});
