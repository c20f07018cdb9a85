/** The coordinator is killed right after each commit of a preemption, from the decision until whoever asked runs: nothing is lost or doubled. */
import t from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

class Killed extends Error {
  override readonly name = "Killed";
}

/** What the process would have done after its `nth` commit is not done, and whoever waits for an answer gets none. */
function killAfter(world: KernelWorld, nth: number): void {
  const { commit } = world.parts;
  const run = commit.run.bind(commit);
  let commits = 0;
  commit.run = async (work) => {
    if (commits >= nth) throw new Killed();
    const answer = await run(work);
    commits += 1;
    if (commits >= nth) throw new Killed();
    return answer;
  };
}

type Story = { world: KernelWorld; agent: SimAgent; victim: string; entitled: string };

/** A training runs on the only worker that there is, and a job waits that is guaranteed it. */
async function beforePreemption(): Promise<Story> {
  const world = new KernelWorld();
  const { db } = world.parts;
  db.exec(`
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
    INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-b', '{"cpu":1}', 1);
  `);
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, projectId: string) => {
    const task = world.task(slug, { projectId, minClients: 1, resumable: true }, 1);
    return (await world.parts.kernel.submit(task)).id;
  };
  const victim = await submit("training", "project-a");
  await world.parts.scheduler.cycle();
  for (let step = 0; step < 5; step += 1) await turn({ world, agent });
  if (stateOf(world, victim) !== "RUNNING") throw new Error("the training does not run");
  return { world, agent, victim, entitled: await submit("entitled", "project-b") };
}

function stateOf(world: KernelWorld, id: string): string {
  return world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
}

/** The agent hears, does its next things and tells them. */
async function turn({ world, agent }: Pick<Story, "world" | "agent">): Promise<void> {
  world.nowMs += 1_000;
  world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  await agent.beat();
  await agent.fetch();
  for (let member = 0; member < 2; member += 1) agent.advance(member, null);
  await agent.send();
  await agent.send();
  await world.parts.sweeper.sweep();
}

/** Goes on until both jobs have ended; every kill on the way was survived. */
async function toTheEnd(story: Story): Promise<void> {
  const { world, victim, entitled } = story;
  for (let step = 0; step < 80; step += 1) {
    await world.parts.scheduler.cycle();
    await turn(story);
    const held = world.one<number>("SELECT count(*) FROM leases WHERE released_at IS NULL");
    if (held > 1) throw new Error(`the worker has ${held} holders`);
    const ends = [stateOf(world, victim), stateOf(world, entitled)];
    if (ends.every((state) => state === "SUCCEEDED")) return;
  }
  throw new Error(
    JSON.stringify(world.all("SELECT id, state, reason, waiting_for, deadline_at FROM jobs")),
  );
}

/** How many commits it takes until whoever asked runs. */
async function commitsOf(): Promise<number> {
  const story = await beforePreemption();
  using world = story.world;
  const { commit } = world.parts;
  const run = commit.run.bind(commit);
  let commits = 0;
  commit.run = async (work) => {
    const answer = await run(work);
    commits += 1;
    return answer;
  };
  while (stateOf(world, story.entitled) !== "RUNNING") {
    await world.parts.scheduler.cycle();
    await turn(story);
  }
  return commits;
}

t.test("a kill after each commit of a preemption", async (t) => {
  const commits = await commitsOf();
  t.ok(commits >= 10, `${commits} commits`);
  for (let nth = 1; nth <= commits; nth += 1) {
    const story = await beforePreemption();
    using world = story.world;
    killAfter(world, nth);
    await t.rejects(toTheEnd(story), new Killed(), `killed after commit ${nth}`);
    world.crash();
    await story.agent.register();
    await toTheEnd(story);
    t.same(
      world.all("SELECT victim_job, job_id FROM preemptions"),
      [{ victim_job: story.victim, job_id: story.entitled }],
      "it makes way once",
    );
    t.same(
      world.all(
        "SELECT attempts_made, retries_infrastructure + retries_lease_lost AS spent FROM jobs WHERE id = ?",
        story.victim,
      ),
      [{ attempts_made: 2, spent: 0 }],
      "its second attempt ends it, and no retry is spent",
    );
    t.same(world.errors, []);
  }
});
