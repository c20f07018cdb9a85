/** Deployments on the real kernel and scaler, through kills, lost messages, failing replicas and calls that come and go. */
import fc from "fast-check";
import t from "tap";
import type { Load } from "../../src/inference/decisions/deployment.ts";
import { DeploymentTable } from "../../src/inference/deployment-table.ts";
import { Rollouts } from "../../src/inference/rollouts.ts";
import { Scaler } from "../../src/inference/scaler.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";
import { deploy } from "./replica-world.ts";

type Action =
  | { kind: "crash" | "look" | "cancel" | "entitled" }
  | { kind: "calls"; queued: number }
  | { kind: "work"; agent: number; times: number; lost: "request" | "answer" | null }
  | { kind: "fail"; agent: number; member: number }
  | { kind: "wipe" | "register" | "cordon"; agent: number }
  | { kind: "wait"; seconds: number; beating: boolean };

const agent = fc.integer({ min: 0, max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Action>({ kind: "crash" }) },
  { weight: 8, arbitrary: fc.constant<Action>({ kind: "look" }) },
  { weight: 1, arbitrary: fc.constant<Action>({ kind: "cancel" }) },
  { weight: 3, arbitrary: fc.constant<Action>({ kind: "entitled" }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("calls" as const), queued: fc.nat(8) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("work" as const),
      ...{ agent, times: fc.integer({ min: 0, max: 4 }) },
      lost: fc.constantFrom("request" as const, "answer" as const, null, null, null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fail" as const), agent, member: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("wipe" as const, "register" as const, "cordon" as const),
      agent,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ...{ seconds: fc.constantFrom(1, 5, 45, 130, 320), beating: fc.boolean() },
    }),
  },
);

const MOST_ENTITLED = 4;
const SCALINGS = [
  { min: 0, max: 2, targetOngoing: 2 },
  { min: 2, max: 2, targetOngoing: 2 },
] as const;

class Play implements Disposable {
  readonly world = new KernelWorld();
  readonly agents = ["node-a", "node-b"].map((node) => new SimAgent(this.world, node, 2));
  readonly ids: string[] = [];
  /** Deployments of a project that is guaranteed half of the workers. */
  readonly entitled: string[] = [];
  queued = 0;
  #scaler = this.#open();
  readonly #generations = new Map<string, number>();

  [Symbol.dispose](): void {
    this.world[Symbol.dispose]();
  }

  async begin(): Promise<void> {
    for (const each of this.agents) {
      // Whoever makes way has its port until it is gone.
      each.ports = { from: 29_000, to: 29_003 };
      this.world.admit(each.node);
      await each.register();
    }
    this.world.parts.db.exec(`
      INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
      INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-b', '{"cpu":2}', 1);
    `);
    for (const [at, scaling] of SCALINGS.entries())
      this.ids.push(await deploy(this.world, `d${at}`, scaling));
  }

  /** Calls are many, and replicas have all workers. */
  async fill(): Promise<void> {
    this.queued = 8;
    const ready = () => this.world.one<number>("SELECT count(*) FROM members WHERE is_ready = 1");
    await this.rest(() => ready() === 4);
  }

  async perform(step: Action): Promise<void> {
    const { parts } = this.world;
    const at = this.agents["agent" in step ? step.agent : 0]!;
    switch (step.kind) {
      case "crash":
        return this.crash();
      case "look":
        return this.look();
      case "cancel":
        return this.cancel(this.ids[1]!);
      case "entitled":
        return this.submitEntitled();
      case "calls":
        this.queued = step.queued;
        return;
      case "work":
        await at.fetch();
        for (let member = 0; member < 4; member++) at.advance(member, null, step.times);
        return at.send(step.lost);
      case "fail":
        at.advance(step.member, "payload_exited");
        return at.send();
      case "wipe":
        at.forget();
        await at.register();
        return;
      case "register":
        await at.register();
        return;
      case "cordon":
        return parts.commit.run(() => parts.nodes.setCordon(at.node, "drained"));
      case "wait":
        return this.wait(step.seconds, step.beating);
    }
  }

  crash(): void {
    const told = () => {
      const { sharing, sleepers = [] } = this.world.parts.snapshots.read();
      const { running = [] } = sharing ?? {};
      return JSON.stringify([
        running.toSorted((a, b) => (a.attempt < b.attempt ? -1 : 1)),
        sleepers,
      ]);
    };
    const kept = told();
    this.world.crash();
    const fresh = told();
    if (kept !== fresh) throw new Error(`kept ${kept}, fresh ${fresh}`);
    this.#scaler = this.#open();
  }

  async look(): Promise<void> {
    await this.#scaler.look();
    await this.world.parts.scheduler.cycle();
  }

  async submitEntitled(): Promise<void> {
    if (this.entitled.length >= MOST_ENTITLED) return;
    const name = `entitled-${this.entitled.length}`;
    const scaling = { min: 1, max: 1, targetOngoing: 2 };
    this.entitled.push(await deploy(this.world, name, scaling, null, "project-b"));
  }

  async cancel(id: string): Promise<void> {
    const gate = {
      op: crypto.randomUUID(),
      index: 1,
      leafHash: "0".repeat(64),
      unwitnessed: false,
    };
    await this.world.parts.kernel.requestStop(id, "user_cancelled", gate);
  }

  async wait(seconds: number, isBeating: boolean): Promise<void> {
    const { parts } = this.world;
    for (let left = seconds; left > 0; left -= 5) {
      this.world.nowMs += Math.min(5, left) * 1_000;
      if (isBeating) for (const each of this.agents) await each.beat();
      await parts.liveness.tick();
    }
    parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(this.world.nowMs);
    await parts.sweeper.sweep();
  }

  /** Everybody does what they should, until nothing happens any more. */
  async rest(isOver: () => boolean): Promise<void> {
    for (const each of this.agents) await each.register();
    for (let turn = 0; turn < 200 && !isOver(); turn++) {
      for (const each of this.agents) {
        await each.beat();
        await each.fetch();
        for (let member = 0; member < 4; member++) each.advance(member, null);
        await each.send();
        await each.send();
      }
      await this.wait(5, true);
      await this.look();
      this.world.parts.db.prepare("UPDATE nodes SET is_cordoned = 0").run();
      this.world.parts.db.prepare("UPDATE workers SET is_quarantined = 0").run();
    }
  }

  violations(): string[] {
    const found: string[] = [];
    for (const { worker, member } of this.agents.flatMap((each) => each.inUse())) {
      const holder = this.world.one<string | undefined>(
        "SELECT member_id FROM leases WHERE worker_id = ? AND released_at IS NULL",
        worker,
      );
      if (holder !== undefined && holder !== member)
        found.push(`${worker} is given to ${holder} while ${member} uses it`);
    }
    const none = (what: string, sql: string) => {
      const rows = this.world.all<object>(sql);
      if (rows.length > 0) found.push(`${what}: ${JSON.stringify(rows)}`);
    };
    none(
      "two replicas behind a port",
      `SELECT bridge_node, bridge_port FROM attempts JOIN members ON attempt_id = attempts.id
       WHERE state NOT IN ('RELEASED', 'QUARANTINED') AND bridge_port IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1`,
    );
    none(
      "an attempt with more than one replica",
      "SELECT attempt_id FROM members GROUP BY 1 HAVING count(*) <> 1",
    );
    none(
      "authority after the attempt",
      `SELECT members.id FROM members JOIN attempts ON attempts.id = attempt_id
       WHERE attempts.ended_at IS NOT NULL AND members.state IN ('LEASED', 'STARTING', 'RUNNING', 'DRAINING')`,
    );
    none(
      "a lease without a holder",
      `SELECT members.id FROM leases JOIN members ON members.id = member_id
       WHERE released_at IS NULL AND members.state IN ('RELEASED', 'QUARANTINED')`,
    );
    none("a negative number of replicas", "SELECT id FROM jobs WHERE replicas_due < 0");
    const rows = this.world.all<{ job_id: string; generation: number }>(
      "SELECT job_id, generation FROM deployments",
    );
    for (const { job_id: id, generation } of rows) {
      if (generation < (this.#generations.get(id) ?? 0)) found.push(`${id} went back in time`);
      this.#generations.set(id, generation);
    }
    return found;
  }

  #open(): Scaler {
    const { world } = this;
    const load = (): Load => ({
      ...{ generation: Number.MAX_SAFE_INTEGER, inFlight: {}, lastCompletionAt: null },
      queued: this.queued,
    });
    const table = new DeploymentTable(world.read);
    return new Scaler({
      ...{ commit: world.parts.commit, replicas: world.parts.replicas, load },
      ...{ table, rollouts: new Rollouts(world.read, table), now: () => world.nowMs },
      onChange: () => undefined,
      onError: (error) => world.errors.push(error),
    });
  }
}

t.test(
  "any kill, loss or failure: replicas come back, none is held twice, none is left over",
  async (t) => {
    let woken = 0;
    let madeWay = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(action, { minLength: 20, maxLength: 80 }),
        async (isFull, steps) => {
          using play = new Play();
          await play.begin();
          if (isFull) await play.fill();
          for (const step of steps) {
            await play.perform(step);
            await play.world.parts.scheduler.cycle();
            const found = play.violations();
            if (found.length > 0)
              throw new Error(`after ${JSON.stringify(step)}: ${found.join("; ")}`);
          }
          const [first, second] = play.ids as [string, string];
          madeWay += play.world.one<number>("SELECT count(*) FROM preemptions");
          for (const id of play.entitled) await play.cancel(id);
          play.queued = 1;
          const table = () => new DeploymentTable(play.world.read);
          const isHot = () => table().state(first)?.state === "HOT";
          const hasEnded = (id: string) =>
            play.world.one("SELECT ended_at FROM jobs WHERE id = ?", id) !== null;
          // What failed on its first way up is its user's, and over.
          await play.rest(() => isHot() || hasEnded(first));
          if (!isHot() && !hasEnded(first))
            throw new Error(`nobody answers: ${JSON.stringify(table().state(first))}`);
          if (isHot()) woken += 1;
          for (const id of [first, second]) await play.cancel(id);
          const held = () =>
            play.world.one<number>("SELECT count(*) FROM leases WHERE released_at IS NULL");
          const areOver = () => [first, second, ...play.entitled].every(hasEnded);
          await play.rest(() => areOver() && held() === 0);
          const left = [...play.violations(), ...play.world.errors.map(String)];
          if (!areOver() || held() > 0 || left.length > 0)
            throw new Error(`something is left: ${held()} ${left.join("; ")}`);
        },
      ),
      {
        numRuns: Number(process.env["FC_RUNS"] ?? 60),
        seed: Number(process.env["FC_SEED"] ?? 20261126),
      },
    );
    t.ok(woken > 0, `${woken} came back`);
    t.ok(madeWay > 0, `${madeWay} made way`);
  },
);
