/**
 * The process that decides: prints its figures as one JSON line. A process of its own, with the coordinator's flags, so that the memory is what
 * the coordinator has more.
 *
 *     node FLAGS decide-many.ts DECISIONS SEED
 */
import type { Action } from "@resontech/coordinator/actions";
import type { Caller, RoleGrant } from "@resontech/coordinator/caller";
import { seededRandom } from "@resontech/house/seeded-random";
import { quantile } from "../../statistics.ts";
import { StolenTime } from "../measure/stolen-time.ts";

const USERS = 1_000;
const PROJECTS = 200;
const ENGINE_ASKED = 2_000;

async function decideMany(decisions: number, seed: number): Promise<object> {
  const pick = picker(seededRandom(seed));
  const callers = callersOf(pick);
  const asks = Array.from({ length: decisions }, () => askOf(pick, callers));

  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const { decide } = await import("@resontech/coordinator/decide");
  const { policiesInForce } = await import("@resontech/coordinator/policies-in-force");
  const from = performance.now();
  const policies = policiesInForce();
  const loadMs = performance.now() - from;
  const loaded = process.memoryUsage().rss;

  const timed = ({ caller, action, asked }: Ask): number => {
    const at = performance.now();
    decide(caller, action as "job.read", asked);
    return performance.now() - at;
  };
  const cold = asks.slice(0, 1_000).map(timed);
  const stolen = new StolenTime();
  const warm = asks.map(timed);
  const stolenShare = stolen.share();

  const engine = Array.from({ length: ENGINE_ASKED }, (_, n) => {
    const at = performance.now();
    // Another moment each time: no kept answer fits.
    policies.answer({
      ...{ action: "key.mint", principal: { type: "User", roles: ["researcher"] } },
      resource: { isOwn: true, place: [] },
      context: {
        ...{ now: 0, zone: "users", singlePerson: false, approval: null, proof: null },
        holds: ["researcher"],
        signIn: { level: 2, minutesAgo: n },
      },
    });
    return performance.now() - at;
  });
  const p99 = quantile(warm, 0.99);
  const inAll = asks.flatMap(({ isInAll }, n) => (isInAll ? [warm[n]!] : []));
  return {
    ...{ seed, users: USERS, projects: PROJECTS, policies: policies.policies.length, decisions },
    p50_ms: rounded(quantile(warm, 0.5)),
    p99_ms: rounded(p99),
    p999_ms: rounded(quantile(warm, 0.999)),
    p99_ms_of_users_in_all_projects: rounded(quantile(inAll, 0.99)),
    first_1000: { p50_ms: rounded(quantile(cold, 0.5)), p99_ms: rounded(quantile(cold, 0.99)) },
    engine_p50_ms: rounded(quantile(engine, 0.5)),
    engine_p99_ms: rounded(quantile(engine, 0.99)),
    decision_to_engine_p50: rounded(quantile(warm, 0.5) / quantile(engine, 0.5)),
    load_ms: Math.round(loadMs),
    engine_and_policies_mb: rounded((loaded - before) / 1e6),
    stolen_share: rounded(stolenShare),
  };
}

type Ask = {
  caller: Caller;
  action: Action;
  asked: "rows" | { userId: string; projectId: string; node: string };
  isInAll: boolean;
};
type Pick = <T>(from: readonly T[]) => T;
type Known = { caller: Caller; isInAll: boolean };

const ROLES = ["project-lead", "researcher", "researcher", "researcher", "viewer"] as const;
const OF_USERS = [
  ...["job.list", "job.read", "job.read", "job.cancel", "job.outputs.list", "bucket.read"],
  ...["key.list", "project.list", "audit.search", "fleet.read", "approval.list"],
] as Action[];
const OF_NODES: Action[] = ["agent.beat", "agent.report"];

function picker(random: () => number): Pick {
  return (from) => from[Math.floor(random() * from.length)]!;
}

function callersOf(pick: Pick): readonly Known[] {
  const people = Array.from({ length: USERS }, (_, n): Known[] => {
    const isInAll = n % 10 === 0;
    const few = Array.from({ length: 1 + (n % 5) }, () => projectOf(pick));
    const projects = isInAll ? Array.from({ length: PROJECTS }, (_, at) => `p${at}`) : few;
    const grants = projects.map((projectId): RoleGrant => ({ role: pick(ROLES), projectId }));
    const id = { userId: `u${n}`, projectId: projects[0]! };
    return [
      {
        isInAll,
        caller: {
          ...{ kind: "session", sessionId: `s${n}`, ...id, grants },
          holds: [...new Set(grants.map(({ role }) => role))],
          signIn: { acr: "2", at: Date.now() - (n % 400) * 60_000 },
        },
      },
      {
        isInAll: false,
        caller: {
          ...{ kind: "key", keyId: `k${n}`, ...id },
          holds: n % 100 === 0 ? ["platform-admin", "project-lead"] : ["project-lead"],
          role: "project-lead",
          scopes: ["storage", "jobs:read", "jobs:write", "keys", "audit:read"],
        },
      },
    ];
  });
  const nodes = Array.from(
    { length: 20 },
    (_, n): Known => ({
      isInAll: false,
      caller: { kind: "node", node: `n${n}`, by: "certificate" },
    }),
  );
  return [...people.flat(), ...nodes];
}

function askOf(pick: Pick, callers: readonly Known[]): Ask {
  const { caller, isInAll } = pick(callers);
  const action = pick(caller.kind === "node" ? OF_NODES : OF_USERS);
  const row = {
    ...{ userId: `u${pick(TEN) * 100 + pick(TEN) * 10 + pick(TEN)}`, projectId: projectOf(pick) },
    node: caller.kind === "node" ? caller.node : "n0",
  };
  return { caller, action, asked: pick(["rows" as const, row]), isInAll };
}

const TEN = Array.from({ length: 10 }, (_, n) => n);

function projectOf(pick: Pick): string {
  return `p${(pick(TEN) * 100 + pick(TEN) * 10 + pick(TEN)) % PROJECTS}`;
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}

const [decisions, seed] = process.argv.slice(2).map(Number);
process.stdout.write(`${JSON.stringify(await decideMany(decisions!, seed!))}\n`);
