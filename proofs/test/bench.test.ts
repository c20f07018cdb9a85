import t from "tap";
import { bench, byRound } from "../bench/measure/bench.ts";

const calm = () => ({ share: () => 0 });

t.test(
  "who comes first in a round comes last in the next, and a warm-up does not count",
  async (t) => {
    const order: string[] = [];
    const of = (name: string) => ({
      prepare: async () => void order.push(`ready ${name}`),
      measure: async (round: number) => {
        order.push(`${name} ${round}`);
        return round;
      },
    });
    const { measured, repeated } = await bench(
      { ours: of("ours"), peer: of("peer") },
      { rounds: 2, warmUp: 1, watch: calm },
    );
    t.same(
      order.filter((line) => !line.startsWith("ready")),
      ["peer -1", "ours -1", "ours 0", "peer 0", "peer 1", "ours 1"],
    );
    t.same(order.slice(0, 2), ["ready peer", "peer -1"]);
    t.same(measured, { ours: [0, 1], peer: [0, 1] });
    t.equal(repeated, 0);
  },
);

t.test("a round in which the host took too much from anybody is measured again", async (t) => {
  const shares = [0, 0, 0.3, 0, 0, 0];
  const told: number[] = [];
  const { measured, repeated } = await bench<{ ours: number; peer: number }>(
    { ours: { measure: async (round) => round }, peer: { measure: async (round) => round } },
    {
      ...{ rounds: 2, mostStolen: 0.1, told: (_, round) => told.push(round) },
      watch: () => {
        const share = shares.shift() ?? 0;
        return { share: () => share };
      },
    },
  );
  t.same(measured.ours, [0, 2]);
  t.equal(repeated, 1);
  t.same(told, [0, 1]);
});

t.test("nothing was measured where the host never was calm", async (t) => {
  let rounds = 0;
  await t.rejects(
    bench(
      { ours: { measure: async () => (rounds += 1) } },
      { rounds: 4, mostStolen: 0.1, watch: () => ({ share: () => 0.5 }) },
    ),
    /more than 10 % of the processors in 12 rounds/,
  );
  t.equal(rounds, 12);
});

t.test("rounds are compared with one another, not medians of different ones", async (t) => {
  t.same(
    byRound([10, 40, 30], [20, 40, 10], (own, beside) => own / beside),
    { median: 1, min: 0.5, max: 3 },
  );
});
