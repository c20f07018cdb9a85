/** Twelve jobs that break, each by a cause that the driver knows. How each broke is told with the figures. */
import Database from "better-sqlite3";
import { RETRY_BUDGETS } from "@resontech/coordinator/retry";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { untilFound } from "@resontech/house/until-found";
import { submitFederation } from "../dashboard/federation.ts";
import { begin, fail, letGo, replay } from "../dashboard/members.ts";
import type { Office, OfficePerson } from "../dashboard/office.ts";

const MEMBERS = 3;
const OUT_OF_MEMORY = 137;
const EXPIRY_MS = 180_000;

export type BrokenJob = {
  name: string;
  cause: string;
  /** What the sentences on the page must hold. */
  says: readonly RegExp[];
  /** Whose words the coordinator was told. */
  told: "by a recorded real job" | "in the agent's form" | "by the coordinator itself";
};

type Breaking = BrokenJob & { breaks: (office: Office, name: string) => Promise<void> };

/** What a job of real NVFlare said before it ended. */
const recorded = (record: string) => ({
  told: "by a recorded real job" as const,
  breaks: async (office: Office, name: string): Promise<void> => {
    const job = await submitFederation(office, name);
    await replay(office.agent, await office.agent.desiredOf(job, MEMBERS), record);
  },
});

const BREAKING: readonly Breaking[] = [
  {
    ...{ name: "imports a package that is not there", cause: "wrong import" },
    says: [/^Can't load model_def\.DigitsCNN: No module named 'torchvison'/],
    ...recorded("wrong_import"),
  },
  {
    ...{ name: "does not parse", cause: "syntax error" },
    says: [/'\(' was never closed \(model_def\.py, line 1\)/],
    ...recorded("syntax_error"),
  },
  {
    ...{ name: "takes too much memory", cause: "out of memory" },
    says: [/limit of [\d.]+ GiB/, /smaller batch/],
    told: "in the agent's form",
    breaks: async (office, name) => {
      const { agent } = office;
      const job = await submitFederation(office, name);
      for (let attempt = 0; attempt <= RETRY_BUDGETS.out_of_memory; attempt += 1) {
        const members = await agent.desiredOf(job, MEMBERS);
        await begin(agent, members);
        await fail(agent, members[1]!, OUT_OF_MEMORY, null);
        await letGo(agent, members);
      }
    },
  },
  {
    ...{ name: "diverges", cause: "NaN loss, model of NaN" },
    says: [/round 1/, /NaN/],
    ...recorded("model_of_nan"),
  },
  {
    ...{ name: "looks in another folder", cause: "wrong path of data" },
    says: [/No such file or directory: '\/app\/payload\/train\/labels\.csv'/, /site-1/],
    ...recorded("wrong_path"),
  },
  {
    ...{ name: "meets a row without label", cause: "a site's own exception" },
    says: [/site-2/, /row 1742 of scans\.csv has no label/],
    ...recorded("site_exception"),
  },
  {
    ...{ name: "writes too much", cause: "disk full of output" },
    says: [/site-2: OSError: \[Errno 28\] No space left on device/, /Write less/],
    ...recorded("disk_full"),
  },
  {
    ...{ name: "wants an image that is gone", cause: "image not found" },
    says: [/image .* could not be (pulled|fetched)/],
    told: "in the agent's form",
    breaks: async (office, name) => {
      const { agent } = office;
      const job = await submitFederation(office, name);
      for (let attempt = 0; attempt <= RETRY_BUDGETS.infrastructure; attempt += 1) {
        const members = await agent.desiredOf(job, MEMBERS);
        await agent.report(members[1]!, {
          ...{ kind: "failed", reason: "image_pull_failed" },
          message: `the image ${members[1]!.image} could not be pulled: reading manifest: manifest unknown`,
        });
        await letGo(agent, members);
      }
    },
  },
  {
    ...{ name: "asks for memory that no worker has", cause: "no worker that fits" },
    says: [/needs 2 workers; 0 of \d+ would do/i, /of other models|too little memory/],
    told: "by the coordinator itself",
    breaks: async (office, name) =>
      void (await submitFederation(office, name, {
        gpuModels: ["t4", "cpu"],
        estimatedMemoryMb: 8_000,
      })),
  },
  {
    ...{ name: "is stopped by a colleague", cause: "cancelled by somebody" },
    says: [/^grace cancelled the job/],
    told: "by the coordinator itself",
    breaks: async (office, name) => {
      const { agent } = office;
      const job = await submitFederation(office, name);
      const members = await agent.desiredOf(job, MEMBERS);
      await begin(agent, members);
      await cancelAsColleague(office, job);
      await letGo(agent, members);
    },
  },
  {
    ...{ name: "takes too long", cause: "time limit" },
    says: [/ran out of the time that it had stated/, /State a longer time/],
    told: "by the coordinator itself",
    breaks: async (office, name) => {
      const { agent } = office;
      const job = await submitFederation(office, name, { timeLimitMinutes: 1 });
      const members = await agent.desiredOf(job, MEMBERS);
      await begin(agent, members);
      await untilFound(
        "the end of its time",
        async () =>
          (await agent.desired()).some((member) => member.job === job && member.desired === "stop"),
        EXPIRY_MS,
      );
      await letGo(agent, members);
    },
  },
];

const LOST: BrokenJob = {
  ...{ name: "loses its node", cause: "node lost" },
  says: [/The node node-b stopped answering/],
  told: "by the coordinator itself",
};

/** Those that take long break beside the others. */
export async function breakJobs(
  office: Office,
  progress: (line: string) => void,
): Promise<readonly BrokenJob[]> {
  const lose = await beginOnNodeThatGoes(office, LOST.name);
  const told = async ({ cause }: BrokenJob, broken: Promise<void>): Promise<void> => {
    await broken;
    progress(`broken: ${cause}`);
  };
  await Promise.all([
    told(LOST, lose()),
    ...BREAKING.map((one) => told(one, one.breaks(office, one.name))),
  ]);
  return [...BREAKING, LOST];
}

/** The job fills its node, so no other one is lost with it. @returns what takes the node away, and lasts until the job has failed of it */
async function beginOnNodeThatGoes(office: Office, name: string): Promise<() => Promise<void>> {
  const { house, ada } = office;
  const lost = await house.addNode("node-b", 2);
  await lost.beat([]);
  const job = await submitFederation(office, name, {
    ...{ workerIds: ["node-b-0", "node-b-1"], autoSelectWorkers: false },
    ...{ gpuModels: undefined, maxPricePerGpuHourCents: undefined },
  });
  await begin(lost, await lost.desiredOf(job, MEMBERS));
  return async () => {
    spendRetries(house.running.config.databaseFile, job);
    await lost.close();
    await untilFound(
      `the end of ${job}`,
      async () => {
        const { body } = await house.running.get(`/api/tasks/${job}`, ada.platformKey);
        return body["status"] === "FAILED";
      },
      EXPIRY_MS,
    );
  };
}

/** Ada takes somebody into her project, who cancels a job of hers. */
async function cancelAsColleague({ house, ada }: Office, job: string): Promise<void> {
  const { running } = house;
  const grace = await house.addUser("grace");
  const ask = async (person: OfficePerson, path: string, body?: object): Promise<void> => {
    const reply = await fetchWithCa(running.caPem, running.url + path, {
      method: "POST",
      headers: {
        ...(await running.signedIn(person.userId)),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (reply.status >= 300) throw new Error(`${path}: ${await reply.text()}`);
  };
  const role = { username: "grace", role: "project-lead" };
  await ask(ada, `/api/projects/${ada.project}/members`, role);
  await ask(grace, `/api/tasks/${job}/cancel`);
}

/** As if ten nodes had been lost before: the next is the last. */
function spendRetries(file: string, job: string): void {
  const db = new Database(file, { timeout: 60_000 });
  try {
    db.prepare("UPDATE jobs SET retries_lease_lost = ? WHERE id = ?").run(
      RETRY_BUDGETS.lease_lost,
      job,
    );
  } finally {
    db.close();
  }
}
