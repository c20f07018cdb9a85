/**
 * schemathesis over every route as each role, with a key alone, and without one: no answer is the server's fault or unlike the API's description, and the audit log has one
 * outcome for each operation that began.
 *
 * `npm run prove -- role-schemas [EXAMPLES]`
 */
import { APPLIANCE_ROLES } from "@resontech/coordinator/roles";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { operationsAnswered, trySchemas } from "@resontech/coordinator/testing/schemathesis";
import type { ProofContext, ProofResult } from "../proof.ts";

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const examples = Number(args[0] ?? 12);
  await using coordinator = await RunningCoordinator.create({ identity: true });
  await coordinator.startSearch();
  const wrong: string[] = [];
  let cases = 0;
  let turnedAway = 0;
  const ask = async (
    name: string,
    headers: Readonly<Record<string, string>>,
    ownKey = "",
  ): Promise<void> => {
    const tried = await trySchemas(coordinator, headers, examples, ownKey);
    const { code, output } = tried;
    turnedAway += operationsAnswered(tried, 429).length;
    cases += Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
    if (code !== 0) wrong.push(`${name}: ${output.slice(-9_000)}`);
    progress(
      `${name}: ${code === 0 ? "nothing wrong" : "something is wrong"}, ${cases} cases so far`,
    );
  };
  const keyed = await coordinator.control("add-user", { username: "f-key" });
  const [own] = (await coordinator.control("key-list", { username: "f-key" })).keys;
  await ask("with a key", { authorization: `Bearer ${keyed.platformKey}` }, own?.key);
  await ask("without a key", {});
  // A member of the own project leads it; further roles come with those of the whole appliance.
  for (const role of [...APPLIANCE_ROLES, null]) {
    const name = role ?? "project-lead";
    const user = await coordinator.control("add-user", { username: `f-${name}` });
    const headers = await coordinator.signedIn(user.userId, { roles: role === null ? [] : [role] });
    await ask(name, headers);
  }
  await coordinator.stop("SIGTERM");
  const open = new Map<string, number>();
  const leaves = await readLeaves(coordinator.auditd.logDir);
  for (const { op, phase } of leaves) {
    if (phase === "requested") open.set(op, 0);
    else if (open.has(op) && phase !== "fact") open.set(op, (open.get(op) ?? 0) + 1);
  }
  const twice = [...open.values()].filter((outcomes) => outcomes !== 1).length;
  return {
    ok: wrong.length === 0 && turnedAway === 0 && twice === 0 && open.size > 0,
    figures: {
      ...{ roles: APPLIANCE_ROLES.length + 1, cases, wrong: wrong.length, turned_away: turnedAway },
      ...{ operations: open.size, without_one_outcome: twice, first_wrong: wrong[0] ?? null },
    },
  };
}
