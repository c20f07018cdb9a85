/**
 * Every object operation of the unmodified client in one submit and download has its leaf. The operations are counted where the client's bytes go into
 * TLS, by something that knows neither the client nor the S3 door; the leaves are those of the user's own key and of the URLs that it was issued.
 *
 * `npm run prove -- audit-count`
 */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { repository } from "@resontech/house/local-appliance";
import { isVerified, verifyAudit } from "@resontech/house/verify-audit";
import { Workstation } from "@resontech/house/workstation";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { ApplianceLog } from "@resontech/house/appliance-log";
import type { ProofContext, ProofResult } from "../proof.ts";

type Seen = { method: string; target: string; host: string | null; accessKey: string | null };
/** By kind of operation. */
type Count = Record<string, number>;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const log = new ApplianceLog(appliance);
  const work = installed.folder("work");
  const example = observedExample(installed.folder("example"));
  const workstation = await Workstation.open(appliance, work, example);
  await workstation.python(["/example/make_shards.py", "--out", "/work"]);
  const { RESON_S3_ENDPOINT: endpoint = "" } = appliance.quickstart();

  const before = await log.size();
  const outcome = await workstation.submit(progress);
  const all = await log.since(before);
  const leaves = all.filter(({ prod }) => prod === "s3-front");
  const seen = readFileSync(join(work, "requests.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Seen)
    .filter(({ host }) => host === new URL(endpoint).host);

  const own = seen.filter(({ accessKey }) => accessKey !== null);
  const byUrl = seen
    .map(({ target }) => new URL(target, endpoint).searchParams)
    .filter((query) => query.has("X-Amz-Signature"));
  const counted = countOf(own.map(operationOf));
  const logged = countOf(
    leaves
      .filter(isFirst)
      .filter(isOfUser)
      .map(({ type }) => type),
  );
  const says = (name: string, text: string | null) =>
    all.some(({ detail }) => detail?.[name] === sha256(text ?? ""));
  // A part of an upload is told by the upload's own records.
  const missingUrls = byUrl.filter((query) =>
    query.has("partNumber")
      ? !says("upload_sha256", query.get("uploadId"))
      : !says("url_sha256", query.get("X-Amz-Signature")),
  );
  const differing = [...new Set([...Object.keys(counted), ...Object.keys(logged)])].filter(
    (kind) => counted[kind] !== logged[kind],
  );
  const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
  const ok =
    outcome.state === "FINISHED" &&
    own.length > 5 &&
    differing.length === 0 &&
    missingUrls.length === 0 &&
    isVerified(audit);
  return {
    ok,
    figures: {
      state: outcome.state,
      requests: seen.length,
      counted,
      logged,
      differing,
      byUrl: byUrl.length,
      missingUrls: missingUrls.length,
      audit,
    },
  };
}

/** The example as it is, its script started by the observer. */
function observedExample(folder: string): string {
  cpSync(join(repository, "examples", "digits"), folder, { recursive: true });
  mkdirSync(join(folder, "original"));
  renameSync(join(folder, "submit.py"), join(folder, "original", "submit.py"));
  copyFileSync(join(folder, "digits_model.py"), join(folder, "original", "digits_model.py"));
  copyFileSync(join(import.meta.dirname, "observer/observe.py"), join(folder, "observe.py"));
  const starts = `import runpy, sys
sys.argv = ["/example/observe.py", "/work/requests.jsonl", "/example/original/submit.py", *sys.argv[1:]]
runpy.run_path(sys.argv[0], run_name="__main__")
`;
  writeFileSync(join(folder, "submit.py"), starts);
  return folder;
}

/** The type that a request must leave, by the S3 API; parts of an upload leave none of their own. */
function operationOf({ method, target }: Seen): string | null {
  const { pathname, searchParams } = new URL(target, "https://s3.invalid");
  const isObject = pathname.split("/").filter((part) => part !== "").length > 1;
  if (!isObject) {
    if (method === "POST" && searchParams.has("delete")) return "data.bucket.delete";
    return method === "GET" &&
      ![...searchParams.keys()].some((name) => ["location", "policy", "versioning"].includes(name))
      ? "data.bucket.list"
      : "data.bucket.inspect";
  }
  if (searchParams.has("partNumber")) return null;
  if (searchParams.has("uploads") || searchParams.has("uploadId")) return "data.object.multipart";
  if (method === "PUT") return "data.object.write";
  return method === "DELETE" ? "data.object.delete" : "data.object.read";
}

function countOf(types: readonly (string | null)[]): Count {
  const count: Count = {};
  for (const type of types) if (type !== null) count[type] = (count[type] ?? 0) + 1;
  return count;
}

/** One of the records of an operation. */
const isFirst = ({ phase }: AuditEvent): boolean => phase === "requested" || phase === "fact";
/** By the user's own key pair; what nodes and coordinator do is signed by others. */
const isOfUser = ({ actor, detail }: AuditEvent): boolean =>
  actor.kind === "user" ||
  (typeof detail?.["claimed"] === "string" && detail["claimed"] !== "coordinator");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
