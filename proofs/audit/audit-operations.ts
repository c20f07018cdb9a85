/**
 * Nothing escapes the log. While auditd is stopped, and while it hangs, every route that changes something, and every change
 * that a user can ask for at the S3 door, is answered 503 within 2.5 s and changes no row, object or container, then or later;
 * afterwards the same requests are served. A job whose containers run meanwhile goes on. While the log's disk is nearly full
 * what runs ends and new work is refused. What a kill -9 of each producer leaves open is closed by its next life. Commands of
 * the operator have their leaves, so has a sign-in at the host, and every operation of the whole log has one request and one outcome.
 *
 * `npm run prove -- audit-operations`; needs root: it mounts a disk.
 */
import { join } from "node:path";
import { isVerified, verifyAudit } from "@resontech/house/verify-audit";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { SmallDisk } from "@resontech/house/small-disk";
import { untilHealthy } from "@resontech/house/until-healthy";
import { ApplianceLog } from "@resontech/house/appliance-log";
import { commandsRecorded, isRecorded } from "./operations/commands.ts";
import { drains, isGoodDrain } from "./operations/drain.ts";
import { FirstBucket } from "./operations/first-bucket.ts";
import { hostSessionsObserved, isObserved } from "./operations/host-sessions.ts";
import { isRunOn, jobRunsOn } from "./operations/job-runs-on.ts";
import { orphansClosed } from "./operations/orphans.ts";
import { isRefusedWell, refusedWithoutAuditd } from "./operations/refused-without-auditd.ts";
import { RecordedJobs } from "@resontech/house/recorded-job";
import type { ProofContext, ProofResult } from "../proof.ts";

const DISK_BYTES = 4 * 1024 ** 3;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const jobs = await RecordedJobs.open(appliance, installed.folder("jobs"));
  await appliance.command(["stop"]);
  // Unmounted before the uninstall, which comes last.
  await using stack = new AsyncDisposableStack();
  const disk = stack.use(
    SmallDisk.under(join(appliance.root, "data", "audit"), DISK_BYTES, installed.folder("disk")),
  );
  stack.defer(async () => void (await appliance.command(["stop"])));
  await appliance.command(["start"]);
  await untilHealthy(appliance);
  const log = new ApplianceLog(appliance);
  const api = new ApplianceApi(appliance);
  stack.defer(() => api.close());

  const bucket = stack.use(await FirstBucket.open(appliance, api));
  const parts = { appliance, api, bucket, jobs, log, disk };

  const refusals = await refusedWithoutAuditd(parts, progress);
  const job = await jobRunsOn(parts, progress);
  const drain = await drains(parts, progress);
  const orphans = await orphansClosed(parts, progress);
  const commands = await commandsRecorded(appliance, log, installed.folder("commands"), progress);
  const host = await hostSessionsObserved(log, progress);
  const uneven = await log.uneven();
  const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
  const ok =
    isRefusedWell(refusals) &&
    isRunOn(job) &&
    isGoodDrain(drain) &&
    Object.values(orphans).every((one) => one === "interrupted") &&
    isRecorded(commands) &&
    isObserved(host) &&
    uneven.length === 0 &&
    isVerified(audit);
  return { ok, figures: { refusals, job, drain, orphans, commands, host, uneven, audit } };
}
