import t from "tap";
import { rankWords } from "../../src/job/rank-words.ts";

t.test("ranks are told with their members and their strategy", async (t) => {
  const words = (ranks: number, workersPerMember: number) =>
    rankWords({ ranks, workersPerMember, strategy: "ddp" });
  t.equal(words(4, 2), "4 in 2 members, 2 workers each; ddp");
  t.equal(words(8, 8), "8 in one member, 8 workers in all; ddp");
  t.equal(words(2, 1), "2 in 2 members, 1 worker each; ddp");
  t.equal(words(1, 1), "1 in one member, 1 worker in all; ddp");
});

t.test("a job without ranks, and an older appliance, tell none", async (t) => {
  t.equal(rankWords({ ranks: null, strategy: null, workersPerMember: 2 }), null);
  t.equal(rankWords({ workersPerMember: 1 }), null);
});
