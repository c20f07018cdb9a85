import t from "tap";
import { filesOfTier, namedFiles, readTestOptions, TestOptionsError } from "../tests/options.ts";
import { tierOf } from "../tests/tier.ts";

t.test("a file's name says its tier", async (t) => {
  t.equal(tierOf("audit/test/format/tree/merkle.test.ts"), "unit");
  t.equal(tierOf("parts/auditd/test/shards.engines.test.ts"), "engines");
  t.equal(tierOf("verifier/test/page/page.browser.test.ts"), "browser");
  t.equal(tierOf("acceptance/test/federated-job.test.ts"), "acceptance");
});

t.test("a tier, a revision or files choose what runs", async (t) => {
  const plain = { help: false, tier: null, since: null, files: [], busy: 0, isKept: false };
  t.same(readTestOptions([]), { ...plain, isFresh: false, isRecorded: false });
  t.match(readTestOptions(["--tier", "unit", "--since", "HEAD~1"]), {
    ...{ tier: "unit", since: "HEAD~1", isFresh: false },
  });
  const files = ["a/test/x.test.ts", "a/test/y.engines.test.ts"];
  t.same(filesOfTier(files, "unit", null), ["a/test/x.test.ts"]);
  t.same(filesOfTier(files, "engines", "unit"), []);
});

t.test(
  "a folder names the test files below it, and a name that means none is refused",
  async (t) => {
    const all = ["a/test/x.test.ts", "a/test/y.engines.test.ts", "ab/test/z.test.ts"];
    t.same(namedFiles(all, ["a"]), all.slice(0, 2));
    t.same(namedFiles(all, ["ab/test/z.test.ts", "a/test/", "a/test/x.test.ts"]), [
      ...["ab/test/z.test.ts", "a/test/x.test.ts", "a/test/y.engines.test.ts"],
    ]);
    t.throws(
      () => namedFiles(all, ["a/src"]),
      new TestOptionsError("no test file is named by a/src"),
    );
  },
);

t.test("wrong arguments say what is allowed", async (t) => {
  t.throws(
    () => readTestOptions(["--tier", "quick"]),
    new TestOptionsError('there is no tier "quick": say unit, engines, browser, acceptance'),
  );
  t.throws(() => readTestOptions(["--fast"]), /--fast/);
  t.throws(() => readTestOptions(["--keep"]), /name them/);
  t.throws(() => readTestOptions(["--since", "HEAD", "a.test.ts"]), /name none beside it/);
});

t.test(
  "what is named, recorded or run beside busy processes runs whatever is cached",
  async (t) => {
    for (const args of [["--fresh"], ["--record"], ["--busy", "2"], ["a/test/x.test.ts"]])
      t.equal(readTestOptions(args).isFresh, true, args.join(" "));
  },
);

t.test("a part of a run is no record, and busy processes are counted", async (t) => {
  t.throws(() => readTestOptions(["--record", "--tier", "unit"]), /whole runs/);
  t.throws(() => readTestOptions(["--busy", "many"]), /from 0 to 16/);
  t.throws(() => readTestOptions(["--busy", "17"]), /from 0 to 16/);
});

t.test("folders of named files are kept where that is asked for", async (t) => {
  t.equal(readTestOptions(["a/test/x.test.ts", "--keep"]).isKept, true);
  t.equal(readTestOptions(["a/test/x.test.ts"]).isKept, false);
});
