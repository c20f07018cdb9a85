import t from "tap";
import {
  idleEndText,
  idleText,
  IDLING,
  judgeIdling,
  judgeUse,
} from "../../../src/kernel/decisions/idling.ts";

const MINUTE = 60_000;

t.test("what nobody knows is never idle, and what is known to compute is active", async (t) => {
  const rests = { cpuShare: 0.001, device: null };
  const unknown = { cpuShare: null, device: null };
  const device = (percent: number | null) => ({ cpuShare: 0, device: { percent } });
  t.equal(judgeUse([rests, device(0)]), "idle");
  t.equal(judgeUse([rests, unknown]), "unknown");
  t.equal(judgeUse([rests, device(null)]), "unknown");
  t.equal(judgeUse([unknown, { cpuShare: 0.5, device: null }]), "active");
  t.equal(judgeUse([{ cpuShare: null, device: { percent: 40 } }]), "active");
  t.equal(judgeUse([]), "unknown", "its members are on their way");
});

t.test("it is warned at its limit, ended ten minutes later, and forgiven in between", async (t) => {
  const at = (minutes: number, warned: number | null, idleSince: number | null = 0) =>
    judgeIdling({
      ...{ now: minutes * MINUTE, idleSince, limitMs: IDLING.limitMs },
      ...{ warnedAt: warned === null ? null : warned * MINUTE, isTold: warned !== null },
    });
  t.equal(at(59, null), null);
  t.equal(at(60, null), "warn");
  t.equal(at(69, 60), null);
  t.equal(at(70, 60), "end");
  t.equal(at(69, 60, 68 * MINUTE), "forget", "it did something, and rests again");
  t.equal(at(69, 60, null), "forget");
  t.equal(at(69, null, null), null);
});

t.test("both sentences name the times", async (t) => {
  t.match(idleText(60 * MINUTE), /used nothing for 60 minutes: it is ended in 10 minutes unless/);
  t.match(idleEndText(MINUTE), /used nothing for 11 minutes/);
});
