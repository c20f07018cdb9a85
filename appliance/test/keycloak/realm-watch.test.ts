import { setTimeout as sleep } from "node:timers/promises";
import type { Drift } from "@resontech/keycloak/realm-drift";
import { pino } from "pino";
import t from "tap";
import { readRealmFacts, watchRealm } from "../../src/keycloak/realm-watch.ts";
import { Layout } from "@resontech/frame/layout";

const drift: Drift = { kind: "client", name: "x", what: "unknown", want: null, have: null };

t.test("a difference is told once it is seen twice, and its end", async (t) => {
  const layout = new (class extends Layout {
    readonly dir = t.testdir();
    override run(...path: string[]): string {
      return `${this.dir}/${path.join("/")}`;
    }
  })("/nowhere", "test");
  const answers: (Drift[] | Error)[] = [
    new Error("keycloak starts"),
    ...[[drift], [], [drift], [drift], [drift], [drift], []],
  ];
  const told: number[] = [];
  let compared = 0;
  const ended = new AbortController();
  const watching = watchRealm(
    {
      ...{ layout, log: pino({ level: "silent" }), compareMs: 5, againMs: 1 },
      told: (differences) => void told.push(differences),
      compare: async () => {
        compared += 1;
        const next = answers.shift() ?? [];
        if (next instanceof Error) throw next;
        return next;
      },
    },
    ended.signal,
  );
  const upTo = answers.length + 3;
  const isOver = () => compared >= upTo;
  while (!isOver()) await sleep(5);
  ended.abort();
  await watching;
  t.same(told, [1, 0]);
  t.same(readRealmFacts(layout), { differences: 0, first: [] });
});
