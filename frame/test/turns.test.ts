import t from "tap";
import { Turns } from "../src/turns.ts";

t.test(
  "one at a time, in the order in which they came, whatever became of the ones before",
  async (t) => {
    const turns = new Turns();
    const seen: string[] = [];
    const work = (name: string, fails: boolean) => async (): Promise<string> => {
      seen.push(`${name} begins`);
      await new Promise(setImmediate);
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
    const asked = [
      turns.run(work("a", false)),
      turns.run(work("b", true)),
      turns.run(work("c", false)),
    ];
    let isIdle = false;
    const idle = turns.idle().then(() => {
      isIdle = true;
    });
    t.equal(await asked[0], "a");
    t.notOk(isIdle);
    await t.rejects(asked[1]!, { message: "b" });
    t.equal(await asked[2], "c");
    await idle;
    t.same(seen, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  },
);
