import type { OperatorAnswer } from "@resontech/contracts/operator-routes";
import type {
  AuditEventReply,
  AuditEventRow,
  AuditEventsReply,
  AuditProofsReply,
} from "@resontech/contracts/http-audit";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { policiesInForce } from "../../src/authorization/policies-in-force.ts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { verifyProof } from "@resontech/verifier/event-proof";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

type User = OperatorAnswer<"add-user">;

t.test(
  "people look into the audit log",
  { skip: process.getuid?.() === 0 ? false : "audit-out's file must be root's" },
  async (t) => {
    const coordinator = await RunningCoordinator.create();
    t.teardown(() => coordinator[Symbol.asyncDispose]());
    const search = await coordinator.startSearch();
    const user = (username: string) => coordinator.control("add-user", { username });
    const [alice, bob, officer] = [await user("alice"), await user("bob"), await user("officer")];
    coordinator.giveRoles(officer.userId, ["security-officer"]);
    for (const { platformKey } of [alice, bob])
      for (let i = 0; i < 7; i++) await coordinator.get("/api/keys", platformKey);
    const look = async (query: string, { platformKey }: User = officer) =>
      await coordinator.get(`/api/audit/events${query}`, platformKey);
    const page = async (query: string, by?: User) =>
      (await look(query, by)).body as AuditEventsReply;
    for (
      let tries = 0;
      tries < 2_000 && (await page("?type=key.list&limit=1000")).events.length < 14;
      tries++
    )
      await sleep(50);

    t.test("page by page all that a security officer may see, once and in order", async (t) => {
      const found: AuditEventRow[] = [];
      let at = await page("?type=key.list&limit=4&order=oldest");
      for (;;) {
        found.push(...at.events);
        if (!at.more) break;
        at = await page(`?type=key.list&limit=4&order=oldest&cursor=${at.cursor}`);
      }
      const leaves = await readLeaves(coordinator.auditd.logDir);
      const indices = leaves.flatMap(({ type }, index) => (type === "key.list" ? [index] : []));
      t.same(
        found.map(({ index }) => index),
        indices,
      );
    });

    t.test(
      "anybody else sees what he did, and nothing else: not in a list, not by its number, not with another's cursor",
      async (t) => {
        const { events } = await page("?limit=1000", alice);
        const own = (await page(`?type=key.list&limit=1000`)).events.filter(
          ({ onBehalfOf }) => onBehalfOf === events[0]?.onBehalfOf,
        );
        t.equal(own.length, 7);
        t.equal(new Set(events.map(({ onBehalfOf }) => onBehalfOf)).size, 1, "one person's alone");
        const others = (await page("?type=key.list&limit=1000")).events.find(
          ({ onBehalfOf }) => onBehalfOf !== events[0]?.onBehalfOf,
        );
        t.match(await coordinator.get(`/api/audit/events/${others!.index}`, alice.platformKey), {
          status: 404,
          body: { code: "not_found" },
        });
        const { cursor } = await page("?type=key.list&limit=4");
        t.match(await look(`?type=key.list&limit=4&cursor=${cursor}`, alice), {
          status: 400,
          body: { code: "cursor_invalid" },
        });
        t.match(
          await look("?sub=usr-1", alice),
          { status: 400, body: { code: "validation_failed" } },
          "the bound is not the caller's to set",
        );
      },
    );

    t.test("an entry comes with a proof that the offline verifier takes", async (t) => {
      const { events } = await page("?type=key.list&limit=1", bob);
      const { status, body } = await coordinator.get(
        `/api/audit/events/${events[0]!.index}`,
        bob.platformKey,
      );
      t.equal(status, 200);
      const { event, proof } = body as AuditEventReply;
      t.match(event, { type: "key.list", on_behalf_of: events[0]!.onBehalfOf });
      const policy = readFileSync(coordinator.auditd.config.policyFile);
      const { verdicts } = await verifyProof(Buffer.from(proof), policy, nodePlatform);
      t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
    });

    t.test("a page of proofs has what a search finds, of one's own entries alone", async (t) => {
      const asked = "?type=key.list&limit=3";
      const proofs = async ({ platformKey }: typeof bob) =>
        (await coordinator.get(`/api/audit/proofs${asked}`, platformKey)).body as AuditProofsReply;
      const own = await proofs(alice);
      t.ok(own.events.length > 0);
      t.equal(new Set(own.events.map(({ onBehalfOf }) => onBehalfOf)).size, 1);
      const { events } = await page(asked, bob);
      const proven = await proofs(bob);
      t.same(
        proven.events.map(({ index }) => index),
        events.map(({ index }) => index),
      );
      const policy = readFileSync(coordinator.auditd.config.policyFile);
      for (const { proof } of proven.events) {
        const { verdicts } = await verifyProof(Buffer.from(proof), policy, nodePlatform);
        t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
      }
      t.match(await coordinator.get("/api/audit/proofs?limit=101", alice.platformKey), {
        status: 400,
      });
    });

    t.test(
      "the API itself knows what refused means; what can match nothing is refused",
      async (t) => {
        const refused = await coordinator.control("add-user", { username: "eve" });
        t.match(
          await coordinator.get(`/api/people/${alice.userId}/sessions`, refused.platformKey),
          { status: 403 },
        );
        let found: AuditEventRow[] = [];
        for (let tries = 0; tries < 1_000 && found.length === 0; tries++, await sleep(20))
          found = (await page("?outcome=refused&from=1h&limit=10")).events;
        t.match(found[0], { type: "auth.refused", onBehalfOf: refused.userId });
        for (const [query, said] of [
          ["?type=job.sumbit", /job\.submit/],
          ["?outcome=quota_exeeded", /no entry has the outcome quota_exeeded: .*ok/],
          ["?holds=src.adr=10.0.0.1", /src\.addr/],
          ["?from=next%20week", /yesterday, now/],
        ] as const)
          t.match(await look(query), {
            status: 400,
            body: { code: "search_invalid", message: said },
          });
        t.match(await page("?outcome=quota_exceeded"), { events: [] }, "a code that may come yet");
      },
    );

    t.test("a question is answered within what its asker may see", async (t) => {
      const ask = async (path: string, { platformKey }: User) =>
        await coordinator.get(`/api/audit/questions${path}`, platformKey);
      const { body } = await ask("", alice);
      t.match((body as { questions: object[] }).questions[0], { id: "data-read", needs: [] });
      const of = `/person?person=${bob.userId}&limit=1000`;
      const seen = (await ask(of, officer)).body as AuditEventsReply;
      t.ok(
        seen.events.some(({ type }) => type === "iam.user.create"),
        "what was done for him",
      );
      t.equal(seen.events.filter(({ type }) => type === "key.list").length, 7);
      t.same(((await ask(of, alice)).body as AuditEventsReply).events, []);
      t.match(await ask("/person", officer), { status: 400, body: { code: "search_invalid" } });
      t.match(await ask("/gossip", officer), { status: 400 });
    });

    t.test(
      "each look is on record before it is answered: which filters, not their values",
      async (t) => {
        await look("?type=key.mint&object=canary-1&from=2026-01-01T00:00:00Z", alice);
        let found;
        for (let tries = 0; tries < 1_000 && found === undefined; tries++) {
          await sleep(50);
          const leaves = await readLeaves(coordinator.auditd.logDir);
          found = leaves.find((leaf) => String(leaf.detail?.["filters"]) === "from,object,type");
        }
        t.match(found, {
          phase: "fact",
          detail: { filters: ["from", "object", "type"], more: false },
        });
        t.notMatch(JSON.stringify(found), /canary/);
      },
    );

    t.test(
      "each look says which policy let it see what it saw: all that there is, or the caller's own",
      async (t) => {
        const { index } = (await page("?type=key.list&limit=1", alice)).events[0]!;
        for (const { platformKey } of [alice, officer])
          await coordinator.get(`/api/audit/events/${index}`, platformKey);
        const decided = async (type: string, by: User) => {
          for (let tries = 0; ; tries++) {
            const leaves = await readLeaves(coordinator.auditd.logDir);
            const shown = leaves.filter(
              (leaf) =>
                leaf.type === type &&
                leaf.on_behalf_of === by.userId &&
                leaf.detail?.["entries"] !== 0,
            );
            if (shown.length > 0 || tries === 100) return shown.map(({ decision }) => decision);
            await sleep(50);
          }
        };
        for (const [by, policy] of [
          [alice, "audit-own"],
          [officer, "audit-all"],
        ] as const)
          for (const type of ["audit.search", "audit.read"]) {
            const decisions = await decided(type, by);
            t.ok(decisions.length > 0, `${policy} ${type}`);
            for (const decision of decisions)
              t.strictSame(decision, {
                ...{ effect: "allow", policy_set_sha256: policiesInForce().sha256 },
                policy_ids: [policy],
              });
          }
      },
    );

    /** Waits for the record of looks that showed nothing. */
    const emptyLooks = async (type: string, least: number): Promise<number> => {
      for (let tries = 0; ; tries++) {
        const leaves = await readLeaves(coordinator.auditd.logDir);
        const { length } = leaves.filter(
          (leaf) => leaf.type === type && leaf.detail?.["entries"] === 0,
        );
        if (length >= least || tries === 60) return length;
        await sleep(50);
      }
    };

    t.test(
      "a look for an entry that is not there, or not the caller's, is on record as well",
      async (t) => {
        t.match(await coordinator.get("/api/audit/events/999999", alice.platformKey), {
          status: 404,
        });
        // The one before it was bob's entry, asked for by alice.
        t.equal(await emptyLooks("audit.read", 2), 2);
      },
    );

    t.test("a question is answered with proofs, within what its asker may see", async (t) => {
      const ask = async (path: string, { platformKey }: User) =>
        (await coordinator.get(`/api/audit/questions${path}`, platformKey)).body;
      const about = `person=${alice.userId}`;
      const newest = (await ask(`/person?${about}&limit=1`, officer)) as AuditEventsReply;
      // Whatever is indexed from now on came later.
      const of = `${about}&to=${newest.events[0]!.t_log}&limit=5`;
      const { events, cursor } = (await ask(`/person?${of}`, officer)) as AuditEventsReply;
      const proven = (await ask(`/person/proofs?${of}`, officer)) as AuditProofsReply;
      t.equal(proven.events.length, 5);
      t.same(
        proven.events.map(({ index }) => index),
        events.map(({ index }) => index),
      );
      const next = `/person/proofs?${of}&cursor=${cursor}`;
      const later = (await ask(next, officer)) as AuditProofsReply;
      t.ok(later.events[0]!.index < events.at(-1)!.index, "goes on where the answer ended");
      const { verdicts } = await verifyProof(
        Buffer.from(later.events[0]!.proof),
        readFileSync(coordinator.auditd.config.policyFile),
        nodePlatform,
      );
      t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
      const others = (await ask(`/person/proofs?${of}`, bob)) as AuditProofsReply;
      t.same(others.events, [], "of others nothing");
      t.match(await ask("/person/proofs", officer), { code: "search_invalid" });
    });

    t.test("while audit-out is away nothing else is: searches say so", async (t) => {
      const before = await emptyLooks("audit.search", 0);
      await search.stop();
      t.match(await look(""), { status: 503, body: { code: "audit_search_unavailable" } });
      t.equal(
        await emptyLooks("audit.search", before + 1),
        before + 1,
        "that somebody looked is on record",
      );
      t.match(await coordinator.get("/api/keys", alice.platformKey), { status: 200 });
    });
  },
);
