/** What may stay although it waits by a literal sleep or compares a clock: why, where, and the statement in one line. */
export type SteadyExceptions = { because: string; where: Readonly<Record<string, string[]>> };

export const STEADY_EXCEPTIONS: readonly SteadyExceptions[] = [
  {
    because: "whoever connects then tries again by itself",
    where: {
      "house/src/engines/podman-service.ts": ["if (!existsSync(socket)) return false;"],
      "parts/audit-out/test/process.engines.test.ts": [
        'await until(() => existsSync(auditd.socket("audit-out")), 60_000);',
      ],
    },
  },
  {
    because: "the moment of a kill is the input: each moment must end well",
    where: {
      "parts/agent/test/agent-killed.engines.test.ts": ["await sleep(waitMs);"],
      "parts/auditd/test/shards.engines.test.ts": ["await sleep(delayMs);"],
      "parts/auditd/test/restored-before-turn.engines.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, delayMs));",
      ],
      "parts/vault/test/erasure.engines.test.ts": [
        "await sleep(((round - 1) / (rounds - 2)) * 1.5 * undisturbedMs);",
      ],
      "parts/vault/test/interrupted.engines.test.ts": ["await sleep(round * 40);"],
      "parts/s3-front/test/quota.engines.test.ts": ["await sleep(at * 5);", "await sleep(40);"],
    },
  },
  {
    because: "a part that the test plays takes its time, as the real one does",
    where: {
      "airgap/test/cache/step-cache.engines.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, 20));",
      ],
      "parts/coordinator/test/http/leave-socket.engines.test.ts": ["await sleep(3);"],
      "parts/s3-front/test/http/engine-connection.test.ts": ["await sleep(20);"],
      "parts/inference-gateway/test/chaos.engines.test.ts": [
        "await sleep(50);",
        "await sleep(20);",
      ],
      "parts/inference-gateway/test/helper/played-gateway.ts": [
        "await sleep(afterMs);",
        "await sleep(this.thinkMs);",
      ],
      "parts/inference-gateway/test/records/call-recorder.test.ts": ["await sleep(20);"],
    },
  },
  {
    because: "time is what is tested, by a clock of another process: later is as good",
    where: {
      "appliance/test/audit/supervisor-record.engines.test.ts": [
        "await sleep(ACKNOWLEDGEMENT_TIMEOUT_MS + 1_500);",
      ],
      "parts/auditd/test/shards.engines.test.ts": ["await sleep(4_500);"],
      "cli/test/storage.engines.test.ts": ["await sleep(QUOTA_HOLDS_MS);"],
      "parts/coordinator/test/identity/directories.browser.test.ts": [
        "await sleep(READ_AGAIN_MS + 200);",
      ],
      "parts/s3-front/test/helper/running-front.ts": ["await sleep(QUIET_MS);"],
      "parts/inference-gateway/test/llama-program.engines.test.ts": [
        "await sleep(turn === 0 ? 15_000 : 50);",
      ],
    },
  },
  {
    because: "a rate: who is slower may do more, so a busy machine fails nothing",
    where: {
      "parts/agent/test/member-life.engines.test.ts": [
        "t.ok(writes <= 1 + Math.ceil(seconds / 5), `${writes} in ${seconds} s`);",
        "t.ok(rounds.length <= 2 + Math.ceil(seconds / 2), `${rounds.length} in ${seconds} s`);",
      ],
      "parts/inference-gateway/test/limits-at-the-door.test.ts": [
        "t.ok(good > 0 && good <= Math.floor((1_000 * (1 + minutes)) / 174), `${good} lists`);",
      ],
    },
  },
  {
    because:
      "nothing may happen meanwhile, and no later event tells so: a busy machine fails nothing",
    where: {
      "appliance/test/backup/run-backups.engines.test.ts": ["await sleep(100);"],
      "parts/auditd/test/shards.engines.test.ts": ["await sleep(200);", "await sleep(500);"],
      "parts/audit-out/test/sinks/sinks.engines.test.ts": ["await pause(200);"],
      "parts/audit-out/test/worm/worm-copy.engines.test.ts": [
        "await sleep(200);",
        "await sleep(100);",
      ],
      "parts/vault/test/erasure.engines.test.ts": ["await sleep(500);", "await sleep(300);"],
      "parts/vault/test/retention.engines.test.ts": ["await sleep(500);"],
      "parts/coordinator/test/audit/record-pump.engines.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, 1_500));",
      ],
      "parts/coordinator/test/identity/bucket-rights.engines.test.ts": ["await sleep(300);"],
      "parts/coordinator/test/outputs/long-completions.engines.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, 1_500));",
      ],
      "dashboard/test/live-connection.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, 300));",
      ],
      "dashboard/test/palette.browser.test.ts": ["await page.waitForTimeout(300);"],
      "installer/test/end-monitors.engines.test.ts": ["await sleep(50);"],
      "parts/prometheus/test/alert-rules.engines.test.ts": ["await sleep(4_000);"],
      "parts/notifier/test/notifier.engines.test.ts": ["await sleep(1_500);"],
      "parts/s3-front/test/hostile.engines.test.ts": ["await sleep(200);"],
      "parts/s3-front/test/http/follow-certificate.engines.test.ts": ["await sleep(200);"],
      "parts/inference-gateway/test/callbacks/callbacks.test.ts": [
        "await sleep(100);",
        "await sleep(200);",
      ],
      "parts/inference-gateway/test/predict-outside.test.ts": ["await sleep(200);"],
    },
  },
  {
    because: "either order of the two is right, and the sleep makes the rarer one likely",
    where: {
      "appliance/test/host-sessions/follow-host-sessions.test.ts": ["await sleep(200);"],
      "parts/auditd/test/lies-and-restores.engines.test.ts": [
        "await new Promise((resolve) => setTimeout(resolve, 300));",
      ],
      "parts/coordinator/test/outputs/log-searches.engines.test.ts": ["await sleep(150);"],
      "frame/test/event-loop-lag.test.ts": ["await sleep(50);"],
      "dashboard/test/inference.browser.test.ts": ["await page.waitForTimeout(500);"],
      "dashboard/test/jobs.browser.test.ts": ["await page.waitForTimeout(300);"],
      "proofs/test/doubles.engines.test.ts": ["await sleep(500);"],
      "parts/s3-front/test/broken-uploads.engines.test.ts": [
        "await sleep(200);",
        "await sleep(300);",
      ],
      "parts/s3-front/test/copies.engines.test.ts": ["await sleep(200);"],
      "parts/s3-front/test/hostile.engines.test.ts": ["await sleep(300);"],
      "parts/s3-front/test/http/engine-connection.test.ts": [
        "await sleep(50);",
        "await sleep(100);",
      ],
      "parts/inference-gateway/test/callbacks/killed-callbacks.engines.test.ts": [
        "await sleep(50);",
      ],
    },
  },
  {
    because:
      "a leaf that auditd has yet to sign for looks like none: nothing tells when the last one is covered",
    where: { "house/src/installed/appliance-log.ts": ["await sleep(COVERED_MS);"] },
  },
];
