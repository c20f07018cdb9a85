/**
 * Every proof by name: the folder of its file, what it shows, its goal, which of its figures stand in docs/proofs.md, and how long it takes on two cores. A figure is a
 * path into the proof's `figures` with the words that follow it; a list counts its members.
 */
export type ProofEntry = {
  folder: "audit" | "faults" | "lives" | "clients" | "bench";
  shows: string;
  /** What must hold, in words; null where `ok` says it all. */
  goal: string | null;
  figures: readonly (readonly [path: string, words: string])[];
  minutes: number;
};

export const PROOFS: Readonly<Record<string, ProofEntry>> = {
  "accept-rate": {
    folder: "bench",
    shows:
      "single jobs that eight clients have accepted in a second, durable and audited: by the kernel, by the API, by real Slurm, beside the disk's syncs",
    goal: "1,000/s by the kernel; p50 of 25 ms and p99 of 60 ms by the API",
    figures: [
      ["kernel.per_s", "jobs a second by the kernel"],
      ["api.per_s", "by the API"],
      ["slurm.per_s", "by Slurm"],
      ["api.alone_p50_ms", "ms one by the API, p50"],
      ["api.alone_p99_ms", "p99"],
      ["missed", "goals missed"],
    ],
    minutes: 5,
  },
  "audit-count": {
    folder: "audit",
    shows:
      "every object operation of the unmodified client has its entry in the log, counted apart from the S3 door",
    goal: "none differs",
    figures: [
      ["requests", "requests"],
      ["differing", "differing"],
    ],
    minutes: 4,
  },
  "audit-crash": {
    folder: "audit",
    shows:
      "power cuts, kills and full disks lose nothing that the log acknowledged; each sync that matters is missed when left out",
    goal: "nothing is broken",
    figures: [
      ["images", "images of power cuts"],
      ["kills", "kills"],
      ["broken", "broken"],
    ],
    minutes: 90,
  },
  "audit-crash-cases": {
    folder: "audit",
    shows: "power cuts at the places where they found defects once break nothing",
    goal: "nothing is broken",
    figures: [
      ["cases", "cases"],
      ["broken", "broken"],
    ],
    minutes: 5,
  },
  "audit-erasure": {
    folder: "audit",
    shows:
      "after an erasure no file, process or kept key of the appliance gives an erased value back",
    goal: "nothing is found",
    figures: [
      ["commitments_erased", "values erased"],
      ["forms_looked_for", "forms looked for"],
      ["still_found", "found"],
    ],
    minutes: 6,
  },
  "audit-export": {
    folder: "audit",
    shows: "a receiver of the log that is down and killed while it reads misses nothing",
    goal: "none is missing",
    figures: [
      ["entries_in_log", "entries"],
      ["kills", "kills"],
      ["missing", "missing"],
    ],
    minutes: 45,
  },
  "audit-foreign": {
    folder: "clients",
    shows: "a verifier of other authors takes the log and refuses altered copies",
    goal: "none is missed",
    figures: [
      ["altered", "altered copies"],
      ["missedByForeign", "missed by it"],
      ["missedByOurs", "missed by ours"],
    ],
    minutes: 5,
  },
  "audit-fuzz": {
    folder: "audit",
    shows:
      "nothing handed to the verifier crashes it, hangs it, takes more than 256 MiB, or passes though altered",
    goal: "none of these",
    figures: [
      ["inputs", "inputs"],
      ["findings", "findings"],
    ],
    minutes: 125,
  },
  "audit-honest": {
    folder: "audit",
    shows:
      "honest logs with crashes, restores, erasures and wrong clocks raise no alarm, and the verifier tells what happened",
    goal: "no false alarm",
    figures: [
      ["logs", "logs"],
      ["false_alarms", "false alarms"],
      ["missed", "events untold"],
    ],
    minutes: 60,
  },
  "audit-interop": {
    folder: "clients",
    shows: "Go's own note and tlog packages verify our log",
    goal: null,
    figures: [["verified", "sizes verified"]],
    minutes: 3,
  },
  "audit-mutation": {
    folder: "audit",
    shows: "every flipped bit of an export is caught and named",
    goal: "all are caught",
    figures: [
      ["flipped", "bits flipped"],
      ["faults", "missed"],
    ],
    minutes: 45,
  },
  "audit-operations": {
    folder: "audit",
    shows:
      "while auditd is stopped or hangs, each changing request is refused in time and has no effect",
    goal: "503 within 2.5 s, no effect",
    figures: [
      ["refusals.stopped.asked", "requests"],
      ["refusals.stopped.slowestMs", "ms at most"],
      ["refusals.stopped.effects", "effects"],
    ],
    minutes: 12,
  },
  "audit-restore": {
    folder: "audit",
    shows: "a log that was put back from a backup signs nothing before two people agree",
    goal: null,
    figures: [["rows", "ways to put it back"]],
    minutes: 45,
  },
  "audit-search": {
    folder: "bench",
    shows: "searches of a million entries answer in milliseconds",
    goal: null,
    figures: [
      ["entries", "entries"],
      ["by_subject_and_type_p99_ms", "ms at the 99th percentile, two fields"],
      ["rebuild_s", "s to make the index anew"],
    ],
    minutes: 15,
  },
  "audit-submit": {
    folder: "bench",
    shows: "what the log adds to a submission",
    goal: "10 ms at the 99th percentile",
    figures: [
      ["added_p50_ms", "ms at the median"],
      ["added_p99_ms", "ms at the 99th percentile"],
    ],
    minutes: 20,
  },
  "audit-throughput": {
    folder: "bench",
    shows:
      "durable events a second beside a POSIX Tessera log, and the verifier beside SHA-256 alone",
    goal: "10,000 a second, 50 ms, 1 × of Tessera, 3 syncs for an idle event",
    figures: [
      ["events_per_s", "events/s"],
      ["ack_p99_ms", "ms at the 99th percentile"],
      ["ratio_to_tessera.median", "× of Tessera"],
      ["idle_ack_p50_in_raw_fdatasyncs", "syncs for an idle event"],
    ],
    minutes: 12,
  },
  "audit-versions": {
    folder: "audit",
    shows: "one verdict under Node 20, 22, 24, 26 and in Chromium",
    goal: "none differs",
    figures: [
      ["cases", "reports"],
      ["different", "different"],
    ],
    minutes: 8,
  },
  "audit-witness-interop": {
    folder: "clients",
    shows: "Tessera's own client is served by our witness",
    goal: null,
    figures: [["cosigned", "checkpoints cosigned"]],
    minutes: 4,
  },
  authorization: {
    folder: "bench",
    shows:
      "a decision by policy at 1,000 users × 200 projects, beside the policy engine asked alone",
    goal: "1 ms at the 99th percentile",
    figures: [
      ["p50_ms", "ms at the median"],
      ["p99_ms", "ms at the 99th percentile"],
      ["p99_ms_of_users_in_all_projects", "ms at the 99th for users in all projects"],
      ["engine_p50_ms", "ms for the engine at the median"],
      ["engine_and_policies_mb", "MB for engine and policies"],
    ],
    minutes: 1,
  },
  "scheduler-histories": {
    folder: "faults",
    shows:
      "in made histories of fleets, and of the kernel on its database, no worker is given out twice, no job is lost, torn or starved, guarantees are kept, and planted bugs are found",
    goal: "nothing is broken, every bug is found",
    figures: [
      ["fleets", "histories of fleets"],
      ["kernels", "of the kernel"],
      ["fleet.broken", "and"],
      ["kernel.broken", "broken"],
      ["bugs_found", "of 14 bugs found"],
    ],
    minutes: 60,
  },
  "placement-quality": {
    folder: "bench",
    shows:
      "how many GPUs of a production trace the plan leaves over at 130 % of demand, beside fragmentation gradient descent, best fit and first fit",
    goal: "no more than fragmentation gradient descent leaves over",
    figures: [
      [
        "unallocated_percent.half.ours by 1 at 100 %.median",
        "% left over by ours where tasks of several GPUs ask for half, at 100 %",
      ],
      ["unallocated_percent.half.descent at 100 %.median", "by gradient descent"],
      ["unallocated_percent.half.best fit at 100 %.median", "by best fit"],
      ["unallocated_percent.half.first fit at 100 %.median", "by first fit"],
      ["worse", "where ours is worse"],
    ],
    minutes: 10,
  },
  "shared-load": {
    folder: "bench",
    shows:
      "a made hour of six projects by shares and in order of arrival: waits, how even, how much works; and whether jobs start when they are expected to",
    goal: "8 of 10 start within 60 s or 20 % of what was told",
    figures: [
      ["shares.jain", "Jain's index by shares"],
      ["arrival.jain", "in order of arrival"],
      ["shares.utilisation", "of the fleet works by shares"],
      ["arrival.utilisation", "in order of arrival"],
      [
        "expected by shares, overstated by 0.near_part",
        "start as told by shares, where jobs end as they state",
      ],
      ["expected by arrival, overstated by 0.near_part", "in order of arrival"],
      ["missed", "goals missed"],
    ],
    minutes: 10,
  },
  "slurm-hour": {
    folder: "bench",
    shows:
      "a made hour of six projects in real Slurm with fair-share and preemption, beside ours by shares and in order of arrival: how even, how much works",
    goal: null,
    figures: [
      ["slurm.jain", "Jain's index in Slurm"],
      ["shares.jain", "by shares"],
      ["arrival.jain", "in order of arrival"],
      ["slurm.utilisation", "of the fleet works in Slurm"],
      ["shares.utilisation", "by shares"],
      ["arrival.utilisation", "in order of arrival"],
      ["slurm.preemptions", "made way in Slurm"],
      ["shares.preemptions", "by shares"],
    ],
    minutes: 6,
  },
  "scheduler-cycle": {
    folder: "bench",
    shows:
      "what a cycle of the scheduler takes at 100 × 1,000 to 5,000 × 100,000 nodes × queued jobs, with and without shares, while others are answered",
    goal: "p99 of 5, 100 and 1,000 ms, 1.5 GB, a lag of 50 ms, a guarantee's wait of 2 s",
    figures: [
      ["sizes.1000x10000 without shares.plan.p99_ms", "ms a plan, p99, of 1,000 × 10,000"],
      ["sizes.5000x100000 without shares.plan.p99_ms", "ms of 5,000 × 100,000"],
      [
        "sizes.1000x10000 with shares.database.p99_ms",
        "ms a whole cycle of 1,000 × 10,000 with shares",
      ],
      ["missed", "goals missed"],
    ],
    minutes: 8,
  },
  "sign-in": {
    folder: "bench",
    shows: "signing in, being out, what front door and policies cost, memory of all parts",
    goal: "out 2 s after Keycloak says so, 300 s after a removal; a decision 1 ms; 1,300 MB",
    figures: [
      ["sign_in_p50_ms", "ms for a sign-in at the median"],
      ["back_channel_s", "s until out by Keycloak's message"],
      ["removed_local_s", "s until a removed person is out"],
      ["door_ratio", "× a submission behind the door"],
      ["decision_p99_ms", "ms for a decision at the 99th"],
      ["memory_mb", "MB"],
    ],
    minutes: 8,
  },
  "role-schemas": {
    folder: "audit",
    shows:
      "schemathesis over every route as each role, and one outcome for each operation in the log",
    goal: "nothing wrong",
    figures: [
      ["cases", "cases"],
      ["wrong", "wrong"],
      ["operations", "operations"],
      ["without_one_outcome", "without one outcome"],
    ],
    minutes: 6,
  },
  "restore-drill": {
    folder: "lives",
    shows:
      "a host that is lost beneath a job: its backup on an empty root, people, keys, objects, the job, and a log that says so",
    goal: "healthy in 60 s, at most 1 s of work lost",
    figures: [
      ["restore_s", "s to healthy"],
      ["lost_s", "s of work lost"],
      ["job", "job"],
    ],
    minutes: 8,
  },
  "resume-upload": {
    folder: "faults",
    shows:
      "an upload of 1 GiB whose process is killed five times goes on with the parts that are missing, and arrives whole",
    goal: "digest equal; less than four parts of 50 MiB sent again for each kill",
    figures: [
      ["kills", "kills"],
      ["sent_again_share", "of the file sent again"],
      ["ratio", "× the time of an undisturbed upload"],
    ],
    minutes: 2,
  },
  "returned-people": {
    folder: "lives",
    shows:
      "a rollback to a release with an older Keycloak gives nobody back what was taken meanwhile: an account, a password",
    goal: "who stayed gets in, nobody else",
    figures: [
      ["keycloaks", "Keycloaks"],
      ["after.stays", "who stayed"],
      ["after.disabled", "who was disabled"],
      ["after.changed", "who got another password"],
      ["rollback_s", "s to roll back"],
    ],
    minutes: 7,
  },
  "role-matrix": {
    folder: "audit",
    shows:
      "each role × each route and list of a running coordinator, the operator's on root's socket, against the policies",
    goal: "no cell differs",
    figures: [
      ["callers", "callers"],
      ["routes", "routes"],
      ["cells", "cells"],
      ["wrong", "wrong"],
    ],
    minutes: 2,
  },
  "bundle-size": {
    folder: "bench",
    shows: "size of the bundle",
    goal: null,
    figures: [
      ["total_mb", "MB"],
      ["second_build_s", "s for a second build"],
    ],
    minutes: 3,
  },
  "clock-steps": {
    folder: "faults",
    shows: "clocks set by an hour during a job kill nothing",
    goal: "all end FINISHED in the first attempt",
    figures: [["each", "steps"]],
    minutes: 15,
  },
  develop: {
    folder: "bench",
    shows: "`npm run dev` in Chromium: a changed component shows, a changed coordinator answers",
    goal: "less than 2 s and 10 s, without a reload of the page",
    figures: [
      ["component_worst_ms", "ms until the component showed, at worst"],
      ["coordinator_worst_ms", "ms until the coordinator answered, at worst"],
    ],
    minutes: 4,
  },
  "dashboard-figures": {
    folder: "bench",
    shows:
      "the dashboard on 10,000 jobs, 1,000 nodes and a log of a million lines: load, lists, long life, logs, reasons, roles, sessions, looks",
    goal: "nine figures met",
    figures: [
      ["met", "figures met"],
      ["missed", "missed"],
    ],
    minutes: 25,
  },
  "dashboard-pictures": {
    folder: "bench",
    shows: "a picture of every page of the dashboard, in both themes and at two widths",
    goal: "no page is wider than its window",
    figures: [
      ["pictures", "pictures"],
      ["too_wide", "wider than their window"],
    ],
    minutes: 5,
  },
  "dashboard-tasks": {
    folder: "bench",
    shows:
      "a new user finds why jobs failed, runs one again, compares two, talks to a model, asks the log and names the disk that fills, from the pages alone",
    goal: "each answer right, in its time",
    figures: [
      ["tasks", "tasks"],
      ["right", "right"],
      ["most_clicks", "clicks at most"],
      ["slowest_s", "s the slowest"],
    ],
    minutes: 8,
  },
  "federated-overhead": {
    folder: "bench",
    shows: "a federated job beside plain NVFlare",
    goal: "whole job 1.3 ×, rounds 1.05 ×",
    figures: [
      ["whole_job_ratio", "× whole job"],
      ["rounds_2_to_n_ratio.median", "× rounds 2 to n"],
    ],
    minutes: 15,
  },
  "frozen-agent": {
    folder: "faults",
    shows: "an agent that is frozen for a minute is fenced, and nothing runs twice",
    goal: "no double",
    figures: [
      ["runs", "runs"],
      ["left", "left over"],
    ],
    minutes: 10,
  },
  room: {
    folder: "lives",
    shows:
      "an install on 7 and 12 GiB is refused before anything changes, with what is missing; one on 30 GiB comes up and takes what its account says",
    goal: "none is wrong",
    figures: [
      ["each", "file systems"],
      ["wrong", "wrong"],
    ],
    minutes: 4,
  },
  "full-disks": {
    folder: "faults",
    shows: "full disks of five kinds during a job are named, and the job ends FINISHED",
    goal: null,
    figures: [["each", "disks"]],
    minutes: 20,
  },
  "cuda-image": {
    folder: "lives",
    shows:
      "both CUDA images are built, import torch, and each trains a site of one federated job, on pretended devices of a bare host",
    goal: "the job ends FINISHED, each site in its device's image",
    figures: [
      ["build_s", "s for the build"],
      ["layers_mb", "images"],
      ["wrong", "wrong"],
    ],
    minutes: 30,
  },
  "deployment-kinds": {
    folder: "lives",
    shows:
      "every kind of deployment is made on an installed appliance as its documents say, and shows in figures and pages",
    goal: "each answers",
    figures: [
      ["answered", "kinds answer"],
      ["silent", "do not"],
    ],
    minutes: 12,
  },
  "deployment-states": {
    folder: "faults",
    shows:
      "deployments that come, go, fail and wake in random order lose no call, lead none to a closed replica, and don't thrash",
    goal: "none is broken",
    figures: [
      ["steps", "steps"],
      ["calls_led", "calls led"],
      ["broken", "broken"],
    ],
    minutes: 5,
  },
  "openai-clients": {
    folder: "clients",
    shows:
      "seven clients of the OpenAI API, unmodified, through chat, streams, tools, a schema, responses and embeddings, on real models",
    goal: "none fails",
    figures: [
      ["clients", "clients"],
      ["steps", "steps held"],
      ["failures", "failed"],
    ],
    minutes: 8,
  },
  "inference-usage": {
    folder: "faults",
    shows:
      "usage of a model equals what its engine counts, through kill -9 of gateway, auditd, keeper and connections; of calls that are cut it is a lower bound, and says so",
    goal: "each whole call is exact, none counts twice",
    figures: [
      ["calls", "calls"],
      ["kills", "kills"],
      ["exact", "exact"],
      ["lower_bounds", "lower bounds"],
      ["fault_count", "faults"],
    ],
    minutes: 10,
  },
  hosts: {
    folder: "lives",
    shows:
      "other distributions at their smallest check the medium and run our programs; Debian 11, 12 and 13 install, finish jobs and uninstall without a route and without a package added",
    goal: "none fails",
    figures: [
      ["hosts", "distributions"],
      ["failed", "failed"],
    ],
    minutes: 25,
  },
  "idle-memory": {
    folder: "bench",
    shows: "memory of the whole appliance 60 s after the last job",
    goal: "1,200 MB",
    figures: [["pss_total_mb", "MB"]],
    minutes: 6,
  },
  "inference-gateway": {
    folder: "bench",
    shows:
      "what the gateway of deployments adds to a call with its record durable, beside two others without; hang-ups free the engine; nothing else of it is reached",
    goal: "p50 0.3 ms, p99 1 ms, 0.6 × of the direct rate, free in 1 s",
    figures: [
      ["gateway.added_p50_ms.median", "ms at p50"],
      ["gateway.added_p99_ms.median", "ms at p99"],
      ["gateway.share.median", "× of the direct rate"],
      ["litellm.added_p50_ms.median", "ms LiteLLM"],
      ["portkey.added_p50_ms.median", "ms Portkey"],
      ["free.p99_ms", "ms until free"],
      ["reached", "other paths reached"],
    ],
    minutes: 12,
  },
  "install-cuts": {
    folder: "lives",
    shows: "an install that is cut at any fsync or rename goes on to the same end",
    goal: "none is faulty",
    figures: [
      ["points", "points"],
      ["faulty", "faulty"],
    ],
    minutes: 8,
  },
  "kill-matrix": {
    folder: "faults",
    shows: "kill -9 of every part, and of two at once, during jobs: each job ends FINISHED",
    goal: "none is bad",
    figures: [
      ["kills", "kills"],
      ["bad", "bad"],
      ["left", "left over"],
    ],
    minutes: 110,
  },
  "large-models": {
    folder: "lives",
    shows:
      "jobs with models of 1.1 GB on two sites and 2.3 GB on one end well: the server has the memory that its model needs",
    goal: "each ends FINISHED",
    figures: [
      ["percent", "% of those sizes"],
      ["runs", "jobs"],
    ],
    minutes: 40,
  },
  "lease-fence": {
    folder: "faults",
    shows:
      "a node that is killed and cut off loses its job at the lease's end, and the job goes on elsewhere",
    goal: "no double",
    figures: [
      ["runs", "runs"],
      ["placed_s.median", "s until placed again"],
      ["left", "left over"],
    ],
    minutes: 40,
  },
  "member-series": {
    folder: "bench",
    shows:
      "what the figures of a member take of Prometheus' disk, and how soon curves of a job with 24 sites are there",
    goal: "200 kB a member and day, and a second",
    figures: [
      ["member_day_bytes", "bytes a member and day"],
      ["answer_slowest_ms", "ms for the slowest of five answers over six hours"],
    ],
    minutes: 2,
  },
  "no-route": {
    folder: "lives",
    shows: "install, job, upgrade, rollback and verification where there is no route out",
    goal: null,
    figures: [
      ["job.state", "job"],
      ["left_after_uninstall", "left over"],
    ],
    minutes: 6,
  },
  nodes: {
    folder: "lives",
    shows:
      "two hosts become nodes by one command, killed on its way, and leave while a job runs on them",
    goal: "the job ends well, nothing is left",
    figures: [
      ["joins.killed", "kills of the command"],
      ["three.nodes", "nodes of one job"],
      ["left", "left over"],
    ],
    minutes: 8,
  },
  "nothing-leaves": {
    folder: "lives",
    shows: "install, job, upgrade, rollback and uninstall say nothing to anybody outside",
    goal: "nothing is recorded",
    figures: [
      ["recorded", "packets recorded"],
      ["planted", "planted ones seen"],
    ],
    minutes: 6,
  },
  "older-programs": {
    folder: "lives",
    shows:
      "programs of earlier releases open today's database, finish the job that lives in it, and nothing is lost",
    goal: "no fault",
    figures: [
      ["programs", "earlier programs"],
      ["faults", "faults"],
    ],
    minutes: 1,
  },
  "own-certificate": {
    folder: "lives",
    shows: "ports 8000, 3900 and 5000 show a customer's certificate, and jobs pass through them",
    goal: "jobs end, the endpoint answers",
    figures: [
      ["steps.length", "changes"],
      ["lasting.attempt", "attempt of the job beneath"],
    ],
    minutes: 10,
  },
  "planned-stop": {
    folder: "lives",
    shows: "a planned stop of the coordinator, and a restart of everything, kill no job",
    goal: "same processes, first attempt",
    figures: [
      ["coordinator.away_s", "s without a coordinator"],
      ["everything.restart_s", "s to restart everything"],
    ],
    minutes: 12,
  },
  preemption: {
    folder: "lives",
    shows:
      "on an installed appliance a training gives borrowed workers back, makes way for a higher class, and goes on later; a reservation and maintenance are kept; all of it seen in Chromium",
    goal: "no round lost, no retry spent, the weights of an undisturbed run",
    figures: [
      ["reclaim.decided_s", "s until who borrows is told"],
      ["reclaim.first_container_s", "s until the owner's container runs"],
      ["class.first_container_s", "s for a higher class"],
      [
        "maintenance.first_container_s_after_its_end",
        "s from the end of maintenance until a container runs",
      ],
      ["reclaim.rounds_lost", "and"],
      ["class.rounds_lost", "rounds lost"],
      ["weights.tensors", "tensors compared"],
    ],
    minutes: 10,
  },
  properties: {
    folder: "faults",
    shows: "properties that `npm test` tries some hundred times hold as often as each of them says",
    goal: "each holds",
    figures: [
      ["properties", "properties"],
      ["files", "files"],
      ["broken", "broken"],
    ],
    minutes: 3,
  },
  "renamed-appliance": {
    folder: "lives",
    shows: "an appliance gets another name, and its first one back, beneath a job and an endpoint",
    goal: "job goes on, endpoint and old URLs answer",
    figures: [
      ["renames.0.seconds", "s to rename"],
      ["renames.0.api_away_s.0", "s without the API"],
      ["job.attempt", "attempt of the job"],
    ],
    minutes: 8,
  },
  "replaced-client": {
    folder: "faults",
    shows: "a site that is lost with its node is replaced inside the attempt",
    goal: null,
    figures: [
      ["state", "job"],
      ["replaced_after_s", "s until replaced"],
    ],
    minutes: 6,
  },
  rollout: {
    folder: "lives",
    shows:
      "a newer version of a chat model takes the place of the older one under 32 streams, by the same key and name",
    goal: "none is dropped",
    figures: [
      ["rollouts", "rollouts"],
      ["whole", "streams whole"],
      ["dropped", "dropped"],
    ],
    minutes: 8,
  },
  "s3-clients": {
    folder: "clients",
    shows: "twelve clients of object stores and registries go through a scenario each",
    goal: "every step says what it should",
    figures: [
      ["steps_that_held", "clients"],
      ["failures", "steps failed"],
    ],
    minutes: 10,
  },
  "s3-conformance": {
    folder: "clients",
    shows:
      "the tests of S3 that the engine's makers publish, through the door; what must fail is kept in a list, each with its reason",
    goal: "no other fails, and none of the list passes",
    figures: [
      ["tests", "tests"],
      ["passed", "passed"],
      ["failed_as_expected", "failed as listed"],
      ["failures", "failed besides"],
    ],
    minutes: 6,
  },
  "s3-copies": {
    folder: "bench",
    shows:
      "a write after a copy costs what a write without one costs, in a bucket of 100,000 versions",
    goal: "1.2 ×",
    figures: [["versions", "versions"]],
    minutes: 2,
  },
  "s3-front": {
    folder: "bench",
    shows: "the S3 front beside the engine alone",
    goal: "0.8 × at 8 streams, 1 ms more at the median, quota exact",
    figures: [
      ["throughput.PUT_8.ratio.median", "× PUT at 8 streams"],
      ["throughput.GET_8.ratio.median", "× GET at 8 streams"],
    ],
    minutes: 25,
  },
  saturation: {
    folder: "lives",
    shows:
      "an endpoint with more calls than it takes, for hours: nothing that is merely busy is ended",
    goal: "no stream is broken, one replica",
    figures: [
      ["minutes", "minutes"],
      ["whole", "streams whole"],
      ["broken", "broken"],
    ],
    minutes: 185,
  },
  "site-losses": {
    folder: "faults",
    shows:
      "a site or a connection that is lost in a running attempt costs no job: it goes on, and takes the new container in",
    goal: "each is borne",
    figures: [
      ["losses", "losses"],
      ["broken", "not borne"],
    ],
    minutes: 4,
  },
  soak: {
    folder: "lives",
    shows: "a hundred jobs in an hour leave memory and files flat",
    goal: "all as they should be",
    figures: [
      ["jobs", "jobs"],
      ["wrong", "wrong"],
      ["restarts", "restarts"],
    ],
    minutes: 65,
  },
  staging: {
    folder: "bench",
    shows: "shards and outputs of 3 GB go past the agent's main thread",
    goal: "2.5 CPU s/GB, 0.6 × of the door's GET rate, 100 ms of loop lag",
    figures: [["staging", "stagings"]],
    minutes: 15,
  },
  "submit-latency": {
    folder: "bench",
    shows: "`POST /api/tasks` beside the disk's fdatasync",
    goal: "25 ms at the median, 60 ms at the 99th percentile",
    figures: [
      ["submit_p50_ms", "ms at the median"],
      ["submit_p99_ms", "ms at the 99th percentile"],
      ["disk_fdatasync_p99_ms", "ms for a sync at the 99th"],
    ],
    minutes: 6,
  },
  "systemd-unit": {
    folder: "lives",
    shows: "the unit under a real systemd: kill -9, stop, power cut and boot",
    goal: null,
    figures: [
      ["healthy_after_kill_9_s", "s after kill -9"],
      ["healthy_after_power_cut_and_boot_s", "s after a power cut"],
    ],
    minutes: 8,
  },
  "two-nodes": {
    folder: "lives",
    shows: "a job over two nodes, through kills of both agents, reaches its own server alone",
    goal: "models equal to the bit",
    figures: [
      ["same_models", "same models"],
      ["left", "left over"],
    ],
    minutes: 12,
  },
  "upgrade-chain": {
    folder: "lives",
    shows:
      "three releases one after another, back and forth, beneath a federated job, jobs that wait, a chat endpoint under streams and an open page",
    goal: "jobs FINISHED, those that waited in their order, endpoint answers the same, rollback < 60 s, disk ≤ 1.05 × new bytes, no-op < 5 s, nobody is refused without a word",
    figures: [
      ["switches", "switches"],
      ["job.state", "job"],
      ["waited", "jobs that waited"],
      ["nothing_s", "s for a no-op"],
    ],
    minutes: 14,
  },
  "upgrade-cuts": {
    folder: "lives",
    shows:
      "upgrade and rollback, broken off at each line of the journal by kill -9 of the installer or of everything, between two databases, by a full disk at each step, by a release that never gets healthy, and by two at once",
    goal: "each is taken to its end or back, within 900 s, and the job above it goes on",
    figures: [
      ["cut_count", "cuts"],
      ["ended_newer", "ended with the newer release"],
      ["ended_older", "with the older one"],
      ["faulty_count", "faults"],
      ["slowest_s", "s the slowest"],
    ],
    minutes: 60,
  },
  "upgrade-nodes": {
    folder: "lives",
    shows:
      "a newer release for an appliance and two joined nodes, and back, while one node is away and a federated job runs over the others",
    goal: "the job FINISHED on its first attempt, the node that was away catches up by itself",
    figures: [
      ["up.nodes_s", "s for the nodes"],
      ["up.caught_up_s", "s until the one that was away has it"],
      ["job.state", "job"],
    ],
    minutes: 12,
  },
  "wake-times": {
    folder: "bench",
    shows:
      "calls at the moment at which a replica goes to sleep, and how long sleeping and cold deployments take to answer",
    goal: "none fails; 1.5 s asleep, 4 s cold llama.cpp, 8 s cold torch at the 95th percentile",
    figures: [
      ["within_50_ms", "calls within 50 ms of an edge"],
      ["failed", "failed"],
      ["p95.asleep_ms", "ms asleep"],
      ["p95.cold_llama_ms", "ms cold llama.cpp"],
      ["p95.cold_torch_ms", "ms cold torch"],
    ],
    minutes: 25,
  },
};
