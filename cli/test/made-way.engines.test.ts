/** A job that makes way for another project's, from a shell, on the real coordinator: for whom, what stays, and when it is back. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { untilFound } from "@resontech/house/until-found";
import { Shell } from "./helper/shell.ts";

const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const [ada, bert] = [
  await running.control("add-user", { username: "ada" }),
  await running.control("add-user", { username: "bert" }),
];
const agent = await joinAgent(running, "node-a", 2);
t.teardown(() => agent.close());
await agent.beat([]);

const env = {
  ...{ RESON_API_KEY: ada.platformKey, RESON_BASE_URL: running.url },
  SSL_CERT_FILE: join(dir, "ca.crt"),
};

async function submit({ bucketAlias, platformKey }: typeof ada, slug: string): Promise<string> {
  await upload(running.s3, bucketAlias, slug, goodFiles());
  const { body } = await running.request("POST", "/api/tasks", platformKey, goodBody(slug));
  return String(body["id"]);
}

t.test("whoever lent workers reads for whom the job made way", async (t) => {
  const lent = await submit(ada, "lent");
  const members = await agent.desiredOf(lent, 3);
  await agent.bringUp(members);
  await agent.report(members[0]!, { kind: "job-started", nvflareJob: "nv-1" });
  const guaranteed = await submit(bert, "guaranteed");
  const history = `/api/jobs/${guaranteed}/history`;
  const { body } = await running.request("GET", history, bert.platformKey);
  await running.control("share-set", { id: String(body["projectId"]), guarantee: { cpu: 2 } });
  const show = () => Shell.run(env, "jobs", "show", lent);
  await untilFound("a job that makes way", async () =>
    /It makes way for another project\./.test((await show()).out),
  );
  // It can't go on from a round, so nobody is asked to commit.
  const told = (await agent.desired()).map(({ desired, stopAfter }) => stopAfter ?? desired);
  t.same(told, ["stop", "stop", "stop"]);
  for (const member of members)
    await agent.report(member, {
      ...{ kind: "released", processesGone: true, diskGone: true },
      devicesAtBaseline: true,
    });
  await untilFound("a job that made way", async () =>
    /It made way for another project\. It begins anew\./.test((await show()).out),
  );
});
