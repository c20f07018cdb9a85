/** Changes one file of a job that failed, and runs it again. */
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { submitFederation } from "../dashboard/federation.ts";
import { finish, replay } from "../dashboard/members.ts";
import type { Office } from "../dashboard/office.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";

const GOAL_S = 60;
const NAME = "reads labels";
const FILE = "scripts/model_def.py";
const MENDED = 'class Net:\n    labels = "/app/payload/labels.csv"\n';

export async function runAgain(office: Office): Promise<Task[]> {
  const { agent } = office;
  const failed = await submitFederation(office, NAME);
  await replay(agent, await agent.desiredOf(failed, 3), "wrong_path");
  const visitor = await visitorOf(office, office.ada);
  const { page } = visitor;
  let made = "";
  return [
    {
      name: "run-again-with-one-file-changed",
      goal_s: GOAL_S,
      visitor,
      expected: `a job of the same files but ${FILE}, which finished`,
      answer: async () => {
        await visitor.press(page.getByRole("link", { name: NAME, exact: true }).first());
        await visitor.press(page.getByRole("button", { name: "Submit again" }));
        await visitor.press(page.getByRole("button", { name: `Edit ${FILE}` }));
        await visitor.type(page.getByLabel("Text of model_def.py"), MENDED);
        await visitor.press(page.getByRole("button", { name: "Submit", exact: true }));
        await page.getByRole("heading", { level: 1, name: `${NAME} 2` }).waitFor();
        made = new URL(page.url()).pathname.split("/").at(-1) ?? "";
        await finish(agent, await agent.desiredOf(made, 3));
        const end = page.getByText("It finished, and its results are stored.");
        return `${NAME} 2: ${await visitor.read(end)}`;
      },
      isRight: async () => {
        const [before, after] = await Promise.all([failed, made].map((id) => filesOf(office, id)));
        const others = before!.filter(({ path }) => path !== FILE);
        const isSame = others.every(({ path, key, versionId }) =>
          after!.some((one) => one.path === path && one.key === key && one.versionId === versionId),
        );
        const changed = after!.find(({ path }) => path === FILE);
        return isSame && changed !== undefined && (await textOf(office, changed)) === MENDED;
      },
    },
  ];
}

type Input = JobParametersReply["inputs"][number];

async function filesOf({ house, ada }: Office, job: string): Promise<readonly Input[]> {
  const { body } = await house.running.get(`/api/jobs/${job}/parameters`, ada.platformKey);
  return (body as unknown as JobParametersReply).inputs;
}

async function textOf(
  { house, ada }: Office,
  { key, versionId, sizeBytes }: Input,
): Promise<string> {
  const object = { bucket: ada.bucketAlias, key, versionId };
  return String(await house.running.s3.store.getRange(object, 0, sizeBytes - 1));
}
