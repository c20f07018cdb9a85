/** One script run twice, with another rate; each prints its accuracy. */
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import type { Office } from "../dashboard/office.ts";

export const RATES = ["0.01", "0.3"] as const;
const EPOCHS = 12;

/** @property accuracy what it printed last */
type Run = { name: string; id: string; accuracy: number };

export async function trainTwice({ house, ada, agent }: Office): Promise<Run[]> {
  const { running } = house;
  const script = "jobs/scans/scripts/train.py";
  await running.s3.store.put(ada.bucketAlias, script, "print('training')\n", "text/plain");
  const runs: Run[] = [];
  for (const [at, rate] of RATES.entries()) {
    const name = `scans at rate ${rate}`;
    const { status, body } = await running.request("POST", "/api/tasks", ada.platformKey, {
      ...{ kind: "command", name, scriptPath: `/${script}`, gpuModels: ["cpu"] },
      arguments: ["--rate", rate, "--epochs", String(EPOCHS)],
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    const id = String(body["id"]);
    const [member] = await agent.desiredOf(id, 1);
    await agent.bringUp([member!]);
    let accuracy = 0;
    for (let epoch = 1; epoch <= EPOCHS; epoch += 1) {
      // The greater rate learns faster, and ends worse.
      const reached = at === 0 ? 0.93 : 0.87;
      accuracy = Number((reached * (1 - Math.exp(-epoch * (at === 0 ? 0.4 : 1.2)))).toFixed(4));
      const value = JSON.stringify({ epoch, accuracy, loss: Number((1 - accuracy).toFixed(4)) });
      await agent.report(member!, { kind: "metric", site: "command", value });
    }
    await agent.report(member!, { kind: "finished", exitCode: 0 });
    await agent.report(member!, { kind: "outputs-uploaded", keys: [] });
    await agent.report(member!, CLEAN);
    runs.push({ name, id, accuracy });
  }
  return runs;
}
