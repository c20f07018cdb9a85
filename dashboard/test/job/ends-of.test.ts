import t from "tap";
import { endOf, sitesThatEndedWell } from "../../src/pages/job/ends-of.ts";

type Member = Parameters<typeof endOf>[0];
const member = (change: Partial<Member>): Member => ({
  ...{ state: "RELEASED", site: "site-1", exitCode: 0, reason: null },
  ...change,
});

t.test("an end is told by its code and its reason, as far as they are known", async (t) => {
  t.equal(endOf(member({})), "code 0");
  t.equal(endOf(member({ exitCode: 137, reason: "out_of_memory" })), "code 137: out of memory");
  t.equal(endOf(member({ state: "LOST", exitCode: null, reason: "node_lost" })), "node lost");
  t.equal(endOf(member({ exitCode: null })), null);
  t.equal(endOf(member({ state: "RUNNING" })), null, "what runs has no end");
});

t.test("sites that ended well are counted once all have ended", async (t) => {
  const server = member({ site: null });
  t.equal(sitesThatEndedWell([server, member({}), member({ exitCode: null })]), "2 of 2");
  t.equal(
    sitesThatEndedWell([server, member({}), member({ exitCode: 1, reason: "payload_exited" })]),
    "1 of 2",
  );
  t.equal(sitesThatEndedWell([member({}), member({ state: "LOST" })]), "1 of 2");
  t.equal(sitesThatEndedWell([member({}), member({ state: "DRAINING" })]), null);
  t.equal(sitesThatEndedWell([server]), null);
  t.equal(
    sitesThatEndedWell([server, member({}), member({ site: "site-2" })], "site-2"),
    "1 of 2",
    "whoever the job failed at did not end well, whatever its process said",
  );
});
