/** Of bytes that anybody may have written, and beside the host's own tools. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { composeEvent } from "@resontech/audit/producer";
import fc from "fast-check";
import t from "tap";
import { observeSession, type OpenSession } from "../../src/host-sessions/decisions/sessions.ts";
import { readUtmp, UTMP_BYTES, UTMP_TYPE } from "../../src/host-sessions/decisions/utmp-record.ts";
import { sessionRecord } from "../../src/host-sessions/session-record.ts";
import { signIn, signOut, utmpBytes } from "./utmp-bytes.ts";

const AT_S = 1_769_903_999;

function lacks(tool: string): string | false {
  return spawnSync(tool, ["--version"]).status === 0 ? false : `the machine has no ${tool}`;
}

t.test("a record is read as utmp(5) lays it out", async (t) => {
  const bytes = utmpBytes({
    ...{ pid: 123, line: "pts/0", user: "alice", host: "desk.example", address: "10.0.0.7" },
    ...{ seconds: AT_S, microseconds: 999_999 },
  });
  t.same(readUtmp(bytes), {
    ...{
      type: 7,
      pid: 123,
      line: "pts/0",
      user: "alice",
      host: "desk.example",
      address: "10.0.0.7",
    },
    atMs: Date.parse("2026-01-31T23:59:59.999Z"),
  });
});

t.test("what utmpdump makes of text is read alike", { skip: lacks("utmpdump") }, async (t) => {
  const lines = [
    "[7] [00123] [ts/0] [alice   ] [pts/0       ] [10.0.0.7            ] [10.0.0.7       ] [2026-01-31T23:59:59,999000+00:00]",
    "[7] [00124] [ts/1] [bob     ] [pts/1       ] [desk.example        ] [2001:db8::7    ] [2026-02-01T00:00:00,000000+00:00]",
    "[8] [00123] [ts/0] [        ] [pts/0       ] [                    ] [0.0.0.0        ] [2026-02-01T00:00:01,500000+00:00]",
  ];
  const made = spawnSync("utmpdump", ["-r"], { input: `${lines.join("\n")}\n` }).stdout;
  t.equal(made.length, lines.length * UTMP_BYTES);
  t.match(
    lines.map((_, at) => readUtmp(made.subarray(at * UTMP_BYTES, (at + 1) * UTMP_BYTES))),
    [
      {
        type: 7,
        pid: 123,
        line: "pts/0",
        user: "alice",
        address: "10.0.0.7",
        atMs: Date.parse("2026-01-31T23:59:59.999Z"),
      },
      { type: 7, pid: 124, user: "bob", host: "desk.example", address: "2001:db8::7" },
      {
        type: 8,
        pid: 123,
        line: "pts/0",
        user: null,
        host: null,
        address: null,
        atMs: Date.parse("2026-02-01T00:00:01.500Z"),
      },
    ],
  );
});

t.test("what the tests write is what last reads", { skip: lacks("last") }, async (t) => {
  const file = join(t.testdir(), "wtmp");
  const alice = { line: "pts/7", host: "10.0.0.7", address: "10.0.0.7", seconds: AT_S };
  writeFileSync(
    file,
    Buffer.concat([signIn(7, alice), signOut(7, { line: "pts/7", seconds: AT_S + 60 })]),
  );
  const { stdout } = spawnSync("last", ["-f", file, "--time-format", "iso"], {
    encoding: "utf8",
    env: { TZ: "UTC" },
  });
  t.match(stdout, /^alice +pts\/7 +10\.0\.0\.7 +2026-01-31T23:59:59\S+ - 2026-02-01T00:00:59/);
});

t.test("a name that fills its field, or is no text, is told by all its bytes", async (t) => {
  t.equal(
    readUtmp(signIn(1, { user: "x".repeat(32), host: "y".repeat(256) })).user,
    "x".repeat(32),
  );
  t.equal(readUtmp(signIn(1, { user: Buffer.from("6dff0061", "hex") })).user, "hex:6dff");
  t.equal(readUtmp(signIn(1, { user: "Jürgen\n" })).user, "Jürgen\n");
  t.equal(readUtmp(signIn(1, { user: "" })).user, null);
});

t.test("an address has one form", async (t) => {
  const addressOf = (hex: string) =>
    readUtmp(signIn(1, { address: Buffer.from(hex, "hex") })).address;
  t.equal(addressOf("0a000007000000000000000000000000"), "10.0.0.7");
  t.equal(addressOf("00000000000000000000ffff0a000007"), "10.0.0.7");
  t.equal(addressOf("00000000000000000000000000000001"), "::1");
  t.equal(addressOf("20010db8000000000001000000000000"), "2001:db8:0:0:1::");
  t.equal(addressOf("00000000000000000000000000000000"), null);
});

t.test("a time of nonsense is no reason to pass a sign-in over", async (t) => {
  const recordOf = (more: object) => {
    const { event } = observeSession([], readUtmp(signIn(1, more)), crypto.randomUUID());
    return sessionRecord(event!, AT_S * 1_000).draft.detail;
  };
  t.match(
    recordOf({ seconds: 0 }),
    { at: "2026-01-31T23:59:59.000Z", lag_ms: 0 },
    "none: when it was seen",
  );
  t.match(recordOf({ seconds: AT_S - 2, microseconds: -1 }), {
    at: "2026-01-31T23:59:57.000Z",
    lag_ms: 2_000,
  });
  t.match(
    recordOf({ seconds: 0xff_ff_ff_ff }),
    { at: "2106-02-07T06:28:15.000Z", lag_ms: 0 },
    "the clock was set back since",
  );
});

t.test(
  "whatever the bytes, what they say is an event that the log takes, and memory has an end",
  async (t) => {
    let open: readonly OpenSession[] = [];
    const type = fc.constantFrom(...Object.values(UTMP_TYPE), UTMP_TYPE.userProcess, 0, -1, 9);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: UTMP_BYTES, maxLength: UTMP_BYTES }),
        type,
        (random, its) => {
          const bytes = Buffer.from(random);
          bytes.writeInt16LE(its, 0);
          const observed = observeSession(open, readUtmp(bytes), crypto.randomUUID());
          open = observed.open;
          if (observed.event === null) return;
          const { draft, disclosures } = sessionRecord(observed.event, Date.now());
          composeEvent({ ...draft, phase: "observed" }, { boot: "b", pseq: 1 }, disclosures);
        },
      ),
    );
    for (let pid = 1; pid < 6_000; pid += 1)
      ({ open } = observeSession(
        open,
        readUtmp(signIn(pid)),
        "00000000-0000-0000-0000-000000000000",
      ));
    t.equal(open.length, 4_096);
  },
);

t.test("only the end of what was seen to begin is a sign-out", async (t) => {
  let open: readonly OpenSession[] = [];
  const take = (bytes: Buffer, op = "none") => {
    const observed = observeSession(open, readUtmp(bytes), op);
    open = observed.open;
    return observed.event === null ? null : [observed.event.type, observed.event.op];
  };
  const dead = (pid: number, line: string) => signOut(pid, { line });
  t.equal(take(dead(1, "tty1")), null, "getty, or a session from before");
  t.same(take(signIn(1), "a"), ["auth.host.login", "a"]);
  t.equal(take(dead(1, "tty1")), null, "another line: the number of the process was used again");
  t.same(take(dead(1, "pts/1")), ["auth.host.logout", "a"]);
  t.equal(take(dead(1, "pts/1")), null, "once");
  take(signIn(2), "b");
  t.same(take(dead(2, "")), ["auth.host.logout", "b"], "init(1) may clear the line");
  take(signIn(3), "c");
  take(signIn(4, { line: "pts/3" }), "d");
  t.equal(take(dead(3, "pts/3")), null, "its line had another by then");
  t.same(take(dead(4, "pts/3")), ["auth.host.logout", "d"]);
  take(signIn(5), "e");
  t.equal(take(utmpBytes({ type: UTMP_TYPE.bootTime, line: "~", user: "reboot" })), null);
  t.equal(take(dead(5, "pts/5")), null, "nothing outlives a boot");
});
