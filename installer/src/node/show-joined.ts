import { asTable } from "@resontech/cli/table";
import { say } from "../say.ts";
import type { Joined } from "./join.ts";

/** The end of a join, in words: what was done, which workers are good, and why one is not. */
export function showJoined({ node, root, isNew, fetched, workers, startCommand }: Joined): void {
  const done = isNew
    ? "joined"
    : `had joined already; ${fetched === 0 ? "every file is whole" : `${fetched} files were put right`}`;
  say(`node ${node} ${done}, and the appliance answers it`);
  if (workers.every(({ image }) => image === null))
    say("no container was tried: the appliance named no job image");
  process.stdout.write(
    asTable(
      ["WORKER", "DEVICE", "TRIED WITH", "GOOD", "WHY NOT"],
      workers.map(({ worker, device, image, isGood, why }) => [
        worker,
        device,
        image?.split("@")[0]?.split("/").at(-1) ?? "-",
        isGood ? "yes" : "no",
        why,
      ]),
      process.stdout.columns ?? null,
    ),
  );
  if (startCommand !== null) say(`after each boot of this host, let it run: ${startCommand}`);
  say(`take this host away again: ${root}/leave`);
}
