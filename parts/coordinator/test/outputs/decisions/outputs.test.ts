import { createHash } from "node:crypto";
import t from "tap";
import { multipartEtag } from "../../../src/outputs/decisions/multipart-etag.ts";
import {
  isSiteFile,
  outputKey,
  type OutputOwner,
} from "../../../src/outputs/decisions/output-key.ts";
import { completionLimitMs, partPlan, urlLifeS } from "../../../src/outputs/decisions/part-plan.ts";

const server: OutputOwner = {
  ...{
    isLead: true,
    name: "server",
    returnsFiles: false,
    memberId: "j-a1-server",
    fence: { generation: 2, counter: 3 },
    jobId: "j",
    attemptId: "j-a1",
    outputRoot: "jobs/x",
  },
};
const client: OutputOwner = { ...server, isLead: false, name: "site-1", memberId: "j-a1-site-1" };

t.test("the server alone writes outputs, each member its own log", async (t) => {
  t.equal(outputKey(server, "model_out/checkpoint.pt", "output"), "jobs/x/model_out/checkpoint.pt");
  t.equal(outputKey(server, "files_out/a/b.txt", "output"), "jobs/x/files_out/a/b.txt");
  t.equal(outputKey(client, "files_out/a.txt", "output"), null);
  t.equal(
    outputKey(client, "files_out/logs/site-1.log", "output"),
    "jobs/x/files_out/logs/site-1.log",
  );
  t.equal(outputKey(client, "files_out/logs/site-2.log", "output"), null, "another site's");
  t.equal(outputKey(client, "files_out/logs/site-1.log", "checkpoint"), null);
  t.equal(
    outputKey(server, "files_out/logs/site-1.log", "output"),
    null,
    "a site's log is the site's",
  );
});

t.test("a site's files leave it where the project says so, below its own name", async (t) => {
  const allowed = { ...client, returnsFiles: true };
  t.equal(outputKey(client, "files_out/sites/site-1/a.csv", "output"), null);
  t.equal(
    outputKey(allowed, "files_out/sites/site-1/a.csv", "output"),
    "jobs/x/files_out/sites/site-1/a.csv",
  );
  t.equal(outputKey(allowed, "files_out/sites/site-2/a.csv", "output"), null);
  t.equal(outputKey(allowed, "files_out/a.csv", "output"), null);
  t.equal(
    outputKey({ ...server, returnsFiles: true }, "files_out/sites/site-1/a.csv", "output"),
    null,
  );
  t.ok(isSiteFile("jobs/x", "jobs/x/files_out/sites/site-1/a.csv"));
  t.notOk(isSiteFile("jobs/x", "jobs/x/files_out/logs/site-1.log"));
  t.equal(outputKey(client, "j-a1-site-1-2.3/7", "log"), "logs/j/j-a1-site-1-2.3/7");
  t.equal(outputKey(client, "j-a1-server-2.3/7", "log"), null);
  for (const key of ["to-00000009/00000000", "7/8", "seven", "-1"])
    t.equal(outputKey(client, `j-a1-site-1-2.3/${key}`, "log"), null, `${key} is no part`);
  t.equal(outputKey(client, "j-a1-site-1-2.2/7", "log"), null, "of an older fence");
  t.equal(
    outputKey(server, "j-a1-server-2.3/4/model", "checkpoint"),
    "ckpt/j/j-a1/j-a1-server-2.3/4/model",
  );
  t.equal(outputKey(server, "j-a1-server-2.2/4/model", "checkpoint"), null, "of an older fence");
  t.equal(
    outputKey(client, "j-a1-site-1-2.3/4/model", "checkpoint"),
    null,
    "no client has the global model",
  );
});

t.test("keys that could leave their folder or confuse a reader are refused", async (t) => {
  const bad = [
    ...[
      "",
      "model_out",
      "/model_out/x",
      "model_out//x",
      "model_out/",
      "model_out/../x",
      "model_out/./x",
      "model_out/.hidden",
    ],
    ...[
      "scripts/x.py",
      "model_out/a b",
      "model_out/a\nb",
      "model_out/\u0000",
      "model_out/é",
      "model_out/a\\b",
    ],
    ...[
      `model_out/${"x".repeat(600)}`,
      `model_out/${Array.from({ length: 9 }, () => "d").join("/")}`,
    ],
  ];
  for (const key of bad) t.equal(outputKey(server, key, "output"), null, JSON.stringify(key));
});

t.test("parts: one for small and empty outputs, at most a thousand for large ones", async (t) => {
  const MIB = 1024 ** 2;
  t.same(partPlan(0), { partSizeBytes: 64 * MIB, partCount: 1 });
  t.same(partPlan(64 * MIB), { partSizeBytes: 64 * MIB, partCount: 1 });
  t.same(partPlan(64 * MIB + 1), { partSizeBytes: 64 * MIB, partCount: 2 });
  const large = partPlan(500e9)!;
  t.ok(large.partCount <= 1000 && large.partCount * large.partSizeBytes >= 500e9);
  t.equal(partPlan(6e12), null);
  t.equal(urlLifeS(0), 900);
  t.equal(urlLifeS(5_000_000 * 1_000), 1_000);
  t.equal(urlLifeS(1e15), 604_800);
  t.equal(completionLimitMs(0), 60_000);
  t.equal(completionLimitMs(20e9), 1_060_000);
});

t.test("the ETag of a completed multipart is known from its parts", async (t) => {
  const md5 = (text: string) => createHash("md5").update(text).digest();
  const whole = createHash("md5")
    .update(Buffer.concat([md5("a"), md5("b")]))
    .digest("hex");
  t.equal(multipartEtag([md5("a").toString("hex"), md5("b").toString("hex")]), `${whole}-2`);
  t.equal(multipartEtag(["not an md5"]), null);
});
