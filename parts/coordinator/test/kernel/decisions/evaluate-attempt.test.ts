import { JOB_STATES, type JobState } from "@resontech/contracts/job-states";
import t from "tap";
import {
  type AttemptFacts,
  evaluateAttempt,
  type AttemptVerdict,
  isCommitOver,
  type MemberFacts,
  stoppedEvent,
  vacanciesOf,
} from "../../../src/kernel/decisions/evaluate-attempt.ts";

const member = (id: string, change: Partial<MemberFacts> = {}): MemberFacts => ({
  id,
  isLead: id === "server",
  state: "RUNNING",
  desired: "run",
  hasProgress: true,
  isFinished: false,
  hasOutputs: false,
  reason: null,
  isNodeAlive: true,
  isReplaced: false,
  ...change,
});

const attempt = (
  state: JobState,
  members: MemberFacts[],
  change: Partial<AttemptFacts> = {},
): AttemptFacts => ({
  state,
  reason: null,
  quorum: 2,
  hasRequired: false,
  startsWithMembers: false,
  mayRetry: true,
  members,
  ...change,
});

const healthy = [member("server"), member("c1"), member("c2"), member("c3")];
const but = (id: string, change: Partial<MemberFacts>) =>
  healthy.map((each) => (each.id === id ? { ...each, ...change } : each));

const CASES: [what: string, facts: AttemptFacts, expected: Partial<AttemptVerdict> | null][] = [
  ["all claimed", attempt("RESERVED", healthy), { event: "claim" }],
  ["one not claimed yet", attempt("RESERVED", but("c3", { state: "LEASED" })), null],
  ["bytes flow", attempt("PROVISIONING", healthy), { event: "stage" }],
  [
    "nothing flows yet",
    attempt(
      "PROVISIONING",
      healthy.map((each) => ({ ...each, hasProgress: false })),
    ),
    null,
  ],
  [
    "a client fails before the start",
    attempt("STAGING", but("c1", { reason: "container_failed" })),
    { event: "fault", reason: "container_failed", blame: "c1" },
  ],
  [
    "a client fails while the quorum holds",
    attempt("RUNNING", but("c1", { reason: "container_failed" })),
    null,
  ],
  [
    "a client is lost while the quorum holds",
    attempt("RUNNING", but("c1", { state: "FENCED" })),
    null,
  ],
  [
    "the quorum is lost",
    attempt("RUNNING", but("c1", { state: "FENCED" }), { quorum: 3 }),
    { event: "fault", reason: "node_lost", blame: "c1" },
  ],
  [
    "the server is lost",
    attempt("RUNNING", but("server", { state: "FENCED" })),
    { event: "fault", reason: "node_lost", blame: "server" },
  ],
  [
    "the server fails of the platform",
    attempt("RUNNING", but("server", { reason: "federation_failed" })),
    { event: "fault", reason: "federation_failed" },
  ],
  [
    "a client ends of its own code while the quorum holds",
    attempt("RUNNING", but("c2", { reason: "payload_exited" })),
    null,
  ],
  [
    "and when it does not",
    attempt("RUNNING", but("c2", { reason: "payload_exited" }), { quorum: 3 }),
    { event: "stop", reason: "payload_exited", blame: "c2" },
  ],
  [
    "and before the start",
    attempt("STAGING", but("c2", { reason: "payload_exited" })),
    { event: "stop", reason: "payload_exited", blame: "c2" },
  ],
  [
    "the server ends of the job's own code, whatever the quorum",
    attempt("RUNNING", but("server", { reason: "payload_exited" })),
    { event: "stop", reason: "payload_exited", blame: "server" },
  ],
  [
    "a user's exception behind a federation that broke of it",
    attempt("RECOVERING", but("c2", { reason: "user_exception" }), { reason: "federation_failed" }),
    { event: "stop", reason: "user_exception" },
  ],
  [
    "a member let go without having ended",
    attempt("RUNNING", but("server", { state: "RELEASED" })),
    { event: "fault", reason: "agent_fault" },
  ],
  [
    "the server finished",
    attempt("RUNNING", but("server", { isFinished: true, state: "DRAINING" })),
    { event: "finish" },
  ],
  [
    "a client finished first",
    attempt("RUNNING", but("c1", { isFinished: true, state: "RELEASED" })),
    null,
  ],
  [
    "the model is stored",
    attempt("FINALIZING", but("server", { hasOutputs: true, state: "RELEASING" }), {
      hasRequired: true,
    }),
    { event: "store" },
  ],
  [
    "outputs without a model",
    attempt("FINALIZING", but("server", { hasOutputs: true, state: "RELEASING" })),
    { event: "stop", reason: "output_missing" },
  ],
  ["a client is lost in FINALIZING", attempt("FINALIZING", but("c1", { state: "FENCED" })), null],
  [
    "the server's node is lost in FINALIZING",
    attempt("FINALIZING", but("server", { state: "FENCED" })),
    { event: "fault", reason: "node_lost" },
  ],
  [
    "an upload failed in FINALIZING",
    attempt("FINALIZING", but("server", { reason: "upload_failed" })),
    { event: "fault", reason: "upload_failed" },
  ],
  ["still uploading", attempt("FINALIZING", but("server", { state: "DRAINING" })), null],
  [
    "recovering, somebody still there",
    attempt("RECOVERING", healthy, { reason: "node_lost" }),
    null,
  ],
  [
    "recovering, nothing left",
    attempt(
      "RECOVERING",
      healthy.map((each) => ({ ...each, state: "RELEASED" as const })),
    ),
    { event: "requeue" },
  ],
  [
    "recovering, what is left is fenced on a dead node",
    attempt(
      "RECOVERING",
      healthy.map((each) => ({ ...each, state: "FENCED" as const, isNodeAlive: false })),
    ),
    { event: "requeue" },
  ],
  [
    "recovering, fenced on a living node",
    attempt(
      "RECOVERING",
      but("c1", { state: "FENCED" }).map((each) =>
        each.id === "c1" ? each : { ...each, state: "RELEASED" as const },
      ),
    ),
    null,
  ],
  [
    "recovering, budget spent",
    attempt(
      "RECOVERING",
      healthy.map((each) => ({ ...each, state: "QUARANTINED" as const })),
      { mayRetry: false },
    ),
    { event: "give-up" },
  ],
  [
    "stopping, somebody may still write",
    attempt("STOPPING", but("c1", { state: "DRAINING" }), { reason: "user_cancelled" }),
    null,
  ],
  [
    "stopping, nobody writes any more",
    attempt(
      "STOPPING",
      healthy.map((each) => ({ ...each, state: "RELEASING" as const })),
      { reason: "user_cancelled" },
    ),
    { event: "stopped-cancelled" },
  ],
  [
    "stopping without members",
    attempt("STOPPING", [], { reason: "expired" }),
    { event: "stopped-expired" },
  ],
  [
    "preempted and gone",
    attempt(
      "PREEMPTING",
      healthy.map((each) => ({ ...each, state: "RELEASED" as const, desired: "stop" as const })),
    ),
    { event: "vacate" },
  ],
  ["the lead commits", attempt("PREEMPTING", healthy), null],
  [
    "the last round ends well meanwhile",
    attempt("PREEMPTING", but("server", { isFinished: true })),
    { event: "finish" },
  ],
  [
    "the round fails of the user's own",
    attempt("PREEMPTING", but("server", { reason: "user_exception" })),
    { event: "stop", reason: "user_exception", blame: "server" },
  ],
  [
    "a site ends before the server has said that it is over",
    attempt("PREEMPTING", but("c1", { reason: "payload_exited" })),
    null,
  ],
  [
    "its node is lost with it, and no retry is spent",
    attempt("PREEMPTING", [
      member("server", { state: "FENCED", isNodeAlive: false }),
      member("c1", { state: "RELEASED", desired: "stop" }),
    ]),
    { event: "vacate" },
  ],
];

for (const [what, facts, expected] of CASES)
  t.test(`${facts.state}: ${what}`, async (t) => {
    const judgement = evaluateAttempt(facts);
    if (expected === null) t.equal(judgement, null);
    else t.match({ ...judgement }, expected);
  });

t.test("a commit is waited for while it may come", async (t) => {
  const isOver = (members: MemberFacts[]) => isCommitOver(attempt("PREEMPTING", members));
  t.equal(isOver(healthy), false);
  t.equal(isOver(but("c1", { reason: "node_lost" })), false, "enough sites are left");
  t.equal(isOver(but("server", { desired: "stop" })), true, "it was told to stop");
  t.equal(isOver(but("server", { state: "RELEASING", hasOutputs: true })), true, "it has ended");
  t.equal(isOver(but("server", { state: "DRAINING", reason: "federation_failed" })), true);
  const two = but("c1", { reason: "node_lost" }).map((each) =>
    each.id === "c2" ? { ...each, reason: "node_lost" as const } : each,
  );
  t.equal(isOver(two), true, "no round ends without its quorum");
});

t.test("nothing is judged where no attempt decides", async (t) => {
  for (const state of JOB_STATES.filter((each) =>
    /^(ACCEPTED|QUEUED|HELD|SUCCEEDED|FAILED|CANCELLED|EXPIRED|REJECTED)$/.test(each),
  ))
    t.equal(evaluateAttempt(attempt(state, healthy)), null, state);
});

t.test("STOPPING ends by the reason's terminal state", async (t) => {
  t.equal(stoppedEvent("user_cancelled"), "stopped-cancelled");
  t.equal(stoppedEvent("user_exception"), "stopped-failed");
  t.equal(stoppedEvent("expired"), "stopped-expired");
  t.equal(stoppedEvent(null), "stopped-failed");
});

t.test("a lost client's place is vacant once it has let go, while the attempt runs", async (t) => {
  const lost = (change: Partial<MemberFacts>, state: JobState = "RUNNING") =>
    vacanciesOf(attempt(state, but("c3", { reason: "node_lost", ...change })));
  t.same(lost({ state: "FENCED", isNodeAlive: false }), [{ member: "c3", reason: "node_lost" }]);
  t.same(lost({ state: "RELEASED" }), [{ member: "c3", reason: "node_lost" }]);
  t.same(lost({ state: "FENCED" }), [], "its node may still run it");
  t.same(lost({ state: "DRAINING" }), []);
  t.same(lost({ state: "RELEASED", isReplaced: true }), []);
  t.same(lost({ state: "RELEASED", reason: null, desired: "stop" }), [], "it has done its part");
  for (const state of ["STAGING", "FINALIZING", "RECOVERING", "STOPPING"] as const)
    t.same(lost({ state: "RELEASED" }, state), [], state);
});

t.test(
  "who was replaced counts neither as lost nor for the quorum, but must let go before another attempt",
  async (t) => {
    const replaced = [
      ...but("c3", { state: "FENCED", reason: "node_lost", isReplaced: true, isNodeAlive: false }),
      member("c4"),
    ];
    t.equal(evaluateAttempt(attempt("RUNNING", replaced, { quorum: 3 })), null);
    const alive = [
      ...but("c3", { state: "FENCED", reason: "node_lost", isReplaced: true }).map((one) =>
        one.id === "c3" ? one : { ...one, state: "RELEASED" as const },
      ),
      member("c4", { state: "RELEASED" }),
    ];
    t.equal(evaluateAttempt(attempt("RECOVERING", alive)), null);
  },
);
