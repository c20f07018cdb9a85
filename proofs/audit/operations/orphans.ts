/** Operations that are open when their producer is killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { ApplianceLog } from "@resontech/house/appliance-log";
import type { FirstBucket } from "./first-bucket.ts";

/** Each producer dies with an operation open; how the log says that it ended. */
export async function orphansClosed(
  {
    appliance,
    api,
    bucket,
    log,
  }: { appliance: LocalAppliance; api: ApplianceApi; bucket: FirstBucket; log: ApplianceLog },
  progress: (line: string) => void,
) {
  const pidOf = (part: string): number =>
    appliance.status().parts.find(({ name }) => name === part)?.pid ?? 0;
  const closedAs = async (from: number, type: string) =>
    (await log.since(from)).findLast((leaf) => leaf.type === type && leaf.phase === "failed")
      ?.outcome?.code ?? "open";

  progress("the coordinator is killed while the object store has not answered it");
  let size = await log.size();
  const engine = pidOf("s3");
  process.kill(engine, "SIGSTOP");
  const asked = api
    .call("POST", "/api/users/storage/upload/init", { key: "jobs/killed/one", size: 5 })
    .catch(() => null);
  await sleep(1_000);
  process.kill(pidOf("coordinator"), "SIGKILL");
  await asked;
  process.kill(engine, "SIGCONT");
  await untilHealthy(appliance);
  const coordinator = await closedAs(size, "data.upload.init");

  progress("the S3 front is killed while an object comes in");
  size = await log.size();
  const put = await slowWrite(bucket);
  await sleep(1_000);
  process.kill(pidOf("s3-front"), "SIGKILL");
  await put.ended;
  await untilHealthy(appliance);
  const front = await closedAs(size, "data.object.write");

  progress("the command is killed while a part stops");
  size = await log.size();
  const registry = pidOf("registry");
  process.kill(registry, "SIGSTOP");
  const command = spawn(
    join(appliance.root, "current", "bin", "appliance"),
    ["--root", appliance.root, "stop", "registry"],
    {
      detached: true,
      stdio: "ignore",
    },
  );
  const exited = once(command, "exit");
  await sleep(3_000);
  process.kill(-(command.pid ?? 0), "SIGKILL");
  await exited;
  process.kill(registry, "SIGCONT");
  await appliance
    .command(["start", "registry"])
    .catch(() => appliance.command(["start", "registry"]));
  await untilHealthy(appliance);
  return { coordinator, front, command: await closedAs(size, "admin.stop") };
}

/** A write of the first user's that is under way until somebody ends it. */
async function slowWrite({ s3, ca, name }: FirstBucket): Promise<{ ended: Promise<void> }> {
  const url = await s3.presign("PUT", [name, "jobs/killed/two"], {}, 60);
  const sent = request(url, { method: "PUT", ca, headers: { "content-length": "5000000" } });
  const ended = new Promise<void>((resolve) => {
    sent.on("close", resolve).on("error", () => resolve());
  });
  sent.write(Buffer.alloc(100_000));
  return { ended };
}
