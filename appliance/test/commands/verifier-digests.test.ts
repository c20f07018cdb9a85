import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { verifierDigests } from "../../src/commands/verifier-digests.ts";
import { Layout } from "@resontech/frame/layout";

t.test("the digests are those of the files that the release has", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "rta-"));
  t.teardown(() => rmSync(root, { recursive: true }));
  const app = join(root, "current", "app");
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, "sov-verify.mjs"), "program");
  t.throws(
    () => verifierDigests(new Layout(root, "test")),
    { code: "ENOENT" },
    "a release without its page says so",
  );
  writeFileSync(join(app, "sov-verify.html"), "page");
  const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
  t.same(verifierDigests(new Layout(root, "test")), [
    { file: join(app, "sov-verify.mjs"), sha256: digestOf("program") },
    { file: join(app, "sov-verify.html"), sha256: digestOf("page") },
  ]);
});
