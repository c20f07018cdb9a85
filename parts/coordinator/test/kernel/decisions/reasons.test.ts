import { AGENT_REASONS, isAgentReason, KERNEL_REASONS } from "@resontech/contracts/job-reasons";
import t from "tap";
import {
  REASONS,
  hintOf,
  reasonEntry,
  reasonWords,
} from "../../../src/kernel/decisions/reasons.ts";
import { evaluateRetry, RETRY_BUDGETS } from "../../../src/kernel/decisions/retry.ts";

const UNSPENT = { infrastructure: 0, lease_lost: 0, out_of_memory: 0 };

t.test("every reason has an entry, and every entry is a reason", async (t) => {
  t.same(Object.keys(REASONS).toSorted(), [...AGENT_REASONS, ...KERNEL_REASONS].toSorted());
  for (const reason of [...AGENT_REASONS, ...KERNEL_REASONS]) {
    const { message, hint } = reasonEntry(reason);
    t.match(message, /^[A-Z].*\.$/, reason);
    t.match(hint, /^[A-Z].*\.$/, reason);
    t.not(message, hint, reason);
  }
});

t.test("what only the coordinator may say is not taken from an agent", async (t) => {
  for (const reason of KERNEL_REASONS) t.notOk(isAgentReason(reason), reason);
  for (const reason of AGENT_REASONS) t.ok(isAgentReason(reason), reason);
});

t.test("retry budgets by cause are those of the design", async (t) => {
  t.same(RETRY_BUDGETS, {
    never: 0,
    infrastructure: 5,
    lease_lost: 10,
    out_of_memory: 1,
    free: Infinity,
  });
  t.same(evaluateRetry("user_exception", UNSPENT), { again: false, spends: null });
  t.same(evaluateRetry("user_cancelled", UNSPENT), { again: false, spends: null });
  t.same(evaluateRetry("preempted", { ...UNSPENT, infrastructure: 5 }), {
    again: true,
    spends: null,
  });
  t.same(evaluateRetry("node_removed", { ...UNSPENT, lease_lost: 10 }), {
    again: true,
    spends: null,
  });
  t.same(evaluateRetry("container_failed", { ...UNSPENT, infrastructure: 4 }), {
    again: true,
    spends: "infrastructure",
  });
  t.same(evaluateRetry("container_failed", { ...UNSPENT, infrastructure: 5 }), {
    again: false,
    spends: "infrastructure",
  });
  t.same(evaluateRetry("node_lost", { ...UNSPENT, lease_lost: 9, infrastructure: 5 }), {
    again: true,
    spends: "lease_lost",
  });
  t.same(evaluateRetry("node_lost", { ...UNSPENT, lease_lost: 10 }), {
    again: false,
    spends: "lease_lost",
  });
  t.same(
    evaluateRetry("lease_lost", { ...UNSPENT, lease_lost: 10 }, true),
    { again: true, spends: null },
    "the fault is ours",
  );
  t.same(evaluateRetry("out_of_memory", UNSPENT), { again: true, spends: "out_of_memory" });
  t.same(evaluateRetry("out_of_memory", { ...UNSPENT, out_of_memory: 1 }), {
    again: false,
    spends: "out_of_memory",
  });
});

t.test("a workload's own words come before those that all kinds share", async (t) => {
  const own = { payload_exited: { message: "It fell.", hint: "Read files_out/logs/<site>.log." } };
  t.same(reasonWords("payload_exited", own), own.payload_exited);
  t.equal(hintOf("payload_exited", "site-1", own), "Read files_out/logs/site-1.log.");
  t.equal(reasonWords("out_of_memory", own).message, reasonEntry("out_of_memory").message);
});

t.test("a hint names the log of the member that failed", async (t) => {
  t.match(hintOf("payload_exited", "site-2"), /files_out\/logs\/site-2\.log/);
  t.match(hintOf("payload_exited", "server"), /files_out\/training_log\.txt/);
  t.notMatch(hintOf("user_exception", "server"), /<site>/);
  t.equal(hintOf("payload_exited", null), reasonEntry("payload_exited").hint);
});
