/** Which deployments a batch called for whom, as its record in the log says it. Pure. */
import { type EventDetail, MAX_CALLED } from "@resontech/contracts/audit-catalogue";
import type { CallBegun } from "./call-line.ts";

type Called = Pick<EventDetail<"model.calls">, "called" | "called_beyond">;

/** Pairs of deployment and key in the order of their first call; those beyond what a record holds are counted together. */
export function calledBy(calls: readonly Pick<CallBegun, "deployment" | "keySha256">[]): Called {
  const pairs = new Map<string, NonNullable<Called["called"]>[number]>();
  let beyond = 0;
  for (const { deployment, keySha256 } of calls) {
    const name = `${deployment} ${keySha256}`;
    const known = pairs.get(name);
    if (known !== undefined) known.calls += 1;
    else if (pairs.size < MAX_CALLED)
      pairs.set(name, { deployment, key_sha256: keySha256, calls: 1 });
    else beyond += 1;
  }
  return {
    ...(pairs.size === 0 ? {} : { called: [...pairs.values()] }),
    ...(beyond === 0 ? {} : { called_beyond: beyond }),
  };
}
