import t from "tap";
import { filesOfTier, readTestOptions, TestOptionsError } from "../tests/options.ts";
import { tierOf } from "../tests/tier.ts";

t.test("a file's name says its tier", async (t) => {
  t.equal(tierOf("audit/test/log/format/tree/merkle.test.ts"), "unit");
  t.equal(tierOf("audit/test/log/auditd/shards.engines.test.ts"), "engines");
  t.equal(tierOf("audit/test/verifier/page/page.browser.test.ts"), "browser");
  t.equal(tierOf("acceptance/test/federated-job.test.ts"), "acceptance");
});

t.test("a tier, a revision or files choose what runs", async (t) => {
  t.same(readTestOptions([]), { help: false, tier: null, since: null, files: [] });
  t.same(readTestOptions(["--tier", "unit", "--since", "HEAD~1"]), {
    help: false,
    tier: "unit",
    since: "HEAD~1",
    files: [],
  });
  const files = ["a/test/x.test.ts", "a/test/y.engines.test.ts"];
  t.same(filesOfTier(files, "unit", null), ["a/test/x.test.ts"]);
  t.same(filesOfTier(files, "engines", "unit"), []);
});

t.test("wrong arguments say what is allowed", async (t) => {
  t.throws(
    () => readTestOptions(["--tier", "quick"]),
    new TestOptionsError('there is no tier "quick": say unit, engines, browser, acceptance'),
  );
  t.throws(() => readTestOptions(["--fast"]), /--fast/);
  t.throws(() => readTestOptions(["--since", "HEAD", "a.test.ts"]), /name none beside it/);
});
