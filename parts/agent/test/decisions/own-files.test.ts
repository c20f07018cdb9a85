import t from "tap";
import { chooseOwnFiles, MAX_OWN_BYTES, MAX_OWN_FILES } from "../../src/decisions/own-files.ts";

const file = (path: string, sizeBytes = 1) => ({ path, sizeBytes });
const keys = (...found: ReturnType<typeof file>[]) =>
  chooseOwnFiles(found, "files_out", "GLOBAL_MODEL.pt").files.map(({ key }) => key);

t.test("what the server's code wrote comes back by its name, the model not twice", async (t) => {
  const found = [file("plots/loss.png"), file("GLOBAL_MODEL.pt", 9), file("best.pt", 5)];
  t.strictSame(keys(...found), ["files_out/plots/loss.png", "files_out/best.pt"]);
  t.equal(chooseOwnFiles(found, "files_out", "GLOBAL_MODEL.pt").left, null);
});

t.test("names that are the platform's, or no keys, stay and are counted", async (t) => {
  const bad = [
    "training_log.txt",
    "metrics.jsonl",
    "logs/site-1.log",
    "sites/x",
    "a b",
    ".hidden",
    "ü.txt",
    "a/b/c/d/e/f/g/h",
  ];
  const { files, left } = chooseOwnFiles(
    bad.map((path) => file(path)),
    "files_out",
    null,
  );
  t.strictSame(files, []);
  t.match(left, /^files of \/app\/out did not come back: 8 whose names/);
});

t.test("more than the limits stays, the smallest files come", async (t) => {
  const many = Array.from({ length: MAX_OWN_FILES + 3 }, (_, at) => file(`f${at}`));
  const { files, left } = chooseOwnFiles([...many, file("huge", MAX_OWN_BYTES)], "files_out", null);
  t.equal(files.length, MAX_OWN_FILES);
  t.match(left, /: 4 beyond 200 files or 2147483648 bytes$/);
  t.strictSame(keys(file("small"), file("huge", MAX_OWN_BYTES)), ["files_out/small"]);
});
