/** Against the real auditd: a coordinator that relays what nodes sign, honest and not. */
import { sign } from "node:crypto";
import { join } from "node:path";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import {
  NODE_EVENT_LABEL,
  type NodeEventType,
  type SignedNodeEvent,
} from "@resontech/contracts/node-audit";
import t, { type Test } from "tap";
import { CertificateAuthority } from "@resontech/coordinator/certificate-authority";
import {
  makeForeignCertificate,
  makeSigningRequest,
  makeTestCa,
} from "@resontech/coordinator/testing/node-certificates";
import { composeEvent, connectProducer } from "@resontech/audit/producer";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { startedAuditd } from "./helper/auditd-fixture.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const OF_MEMBER = { job: "job-1", attempt: "a-1", generation: 1, counter: 1 };

async function started(t: Test) {
  const ca = await makeTestCa(join(temporaryFolder(t), "ca"));
  const auditd = await startedAuditd(t, {
    nodeRelay: { producer: "coordinator-gate", rootCertFile: ca.rootCertFile },
  });
  const authority = await CertificateAuthority.load(ca);
  const gate = await connectProducer({ socketPath: auditd.socket("coordinator-gate"), boot: "b" });
  t.teardown(() => gate.close());
  const node = async (id: string) => {
    const { csrPem, keyPem } = await makeSigningRequest(id);
    return {
      id,
      keyPem,
      certChain: (await authority.signNode(id, csrPem)).certPem + authority.intermediatePem,
    };
  };
  const leaves = async () => {
    await gate.close();
    await auditd.stop();
    return await readLeaves(auditd.logDir);
  };
  return { auditd, gate, node, leaves };
}

function signed(
  node: { id: string; keyPem: string },
  pseq: number,
  change: Partial<EventDraft> = {},
): SignedNodeEvent {
  const draft: EventDraft<NodeEventType> = {
    ...{ type: "job.node.started", phase: "fact", op: crypto.randomUUID() },
    ...{ actor: { sub: node.id, kind: "node" }, object: { kind: "member", id: "m-1" } },
    detail: { ...OF_MEMBER, container: "c0ffee" },
  };
  const { event } = composeEvent({ ...draft, ...change }, { boot: "life-1", pseq });
  const key = { key: node.keyPem, dsaEncoding: "ieee-p1363" } as const;
  const signature = sign("sha256", Buffer.from(NODE_EVENT_LABEL + event, "utf8"), key).toString(
    "base64",
  );
  return { event, disclosures: [], signature };
}

t.test("what a node signs stands in the log as the node's, once, in its order", async (t) => {
  const { gate, node, leaves } = await started(t);
  const one = await node("a-node-whose-name-is-forty-letters-long-x");
  const { certChain } = one;
  const events = [1, 2, 3].map((pseq) => signed(one, pseq));
  t.same(await gate.relay(one.id, { certChain, boot: "life-1", events }), {
    settledPseq: 3,
    refused: null,
  });
  t.same(
    await gate.relay(one.id, { certChain, boot: "life-1", events }),
    { settledPseq: 3, refused: null },
    "again: the same",
  );
  t.same(await gate.relay(one.id, { certChain, boot: "life-1", events: [signed(one, 4)] }), {
    settledPseq: 4,
    refused: null,
  });
  const told = (await leaves()).filter(({ prod }) => prod === `node-${one.id}`);
  t.same(
    told.map(({ pseq, boot, type }) => [pseq, boot, type]),
    [1, 2, 3, 4].map((pseq) => [pseq, "life-1", "job.node.started"]),
  );
});

t.test(
  "a coordinator can keep events back, but not forge, change, reorder or attribute them",
  async (t) => {
    const { gate, node, leaves } = await started(t);
    const [one, other] = [await node("node-a"), await node("node-b")];
    const { certChain } = one;
    const relay = (events: SignedNodeEvent[], id = one.id, chain = certChain) =>
      gate.relay(id, { certChain: chain, boot: "life-1", events }).then(({ refused }) => refused);
    t.equal(await relay([signed(one, 2)]), "pseq_gap", "the first ones are missing");
    t.equal(await relay([signed(one, 1)]), null);
    t.equal(await relay([signed(one, 3)]), "pseq_gap", "kept back: it shows");
    const second = signed(one, 2);
    t.equal(
      await relay([signed(one, 3), second]),
      "pseq_gap",
      "reordered: each has its own number alone",
    );
    const changed = signed(one, 2);
    t.equal(
      await relay([{ ...changed, event: changed.event.replace("c0ffee", "c0ffe0") }]),
      "signature",
    );
    t.equal(await relay([signed(other, 2)]), "signature", "signed by another node");
    t.equal(await relay([signed(one, 2)], "node-b"), "certificate", "told as another node's");
    const foreign = await makeForeignCertificate("node-a");
    t.equal(
      await relay(
        [signed({ id: "node-a", ...foreign }, 2)],
        "node-a",
        foreign.certPem + foreign.certPem,
      ),
      "certificate",
    );
    t.equal(
      await relay([signed(one, 2)], "node-a", certChain.split("-----END CERTIFICATE-----")[0]),
      "certificate",
    );
    t.equal(
      await relay([signed(one, 2, { actor: { sub: "node-b", kind: "node" } })]),
      "actor",
      "in another's name",
    );
    t.equal(
      await relay([
        signed(one, 2, { type: "key.list", object: { kind: "user", id: "u" }, detail: {} }),
      ]),
      "type",
      "what is no node's to say",
    );
    t.equal(await relay([second]), null, "and the true one is still taken, once");
    const all = await leaves();
    t.same(
      all.filter(({ prod }) => prod.startsWith("node-")).map(({ prod, pseq }) => [prod, pseq]),
      [
        ["node-node-a", 1],
        ["node-node-a", 2],
      ],
    );
    const rejected = all
      .filter(({ type }) => type === "audit.rejected")
      .map(({ detail }) => detail?.["reason"]);
    t.same(
      new Set(rejected),
      new Set(["pseq_gap", "signature", "certificate", "actor", "type"]),
      "each attempt stands in the log",
    );
  },
);

t.test(
  "a node goes on in its sequence after a restart of auditd; a lost journal is a new life that says so",
  async (t) => {
    const { auditd, gate, node, leaves } = await started(t);
    const one = await node("node-a");
    const { certChain } = one;
    await gate.relay(one.id, { certChain, boot: "life-1", events: [signed(one, 1)] });
    await auditd.stop("SIGKILL");
    await auditd.start();
    while (!gate.connected) await new Promise((resolve) => setTimeout(resolve, 20));
    t.match(await gate.relay(one.id, { certChain, boot: "life-1", events: [signed(one, 2)] }), {
      settledPseq: 2,
    });
    const again = signed(one, 1);
    const event = again.event.replace("life-1", "life-2");
    const key = { key: one.keyPem, dsaEncoding: "ieee-p1363" } as const;
    const signature = sign("sha256", Buffer.from(NODE_EVENT_LABEL + event, "utf8"), key).toString(
      "base64",
    );
    t.match(
      await gate.relay(one.id, {
        certChain,
        boot: "life-2",
        events: [{ event, disclosures: [], signature }],
      }),
      {
        settledPseq: 1,
      },
    );
    t.match(await gate.relay(one.id, { certChain, boot: "life-1", events: [signed(one, 3)] }), {
      refused: "boot_superseded",
    });
    const starts = (await leaves()).filter(
      ({ type, object }) => type === "audit.producer.start" && object.id === "node-node-a",
    );
    t.match(
      starts.map(({ detail }) => detail),
      [
        { boot: "life-1", prev_boot: null },
        { boot: "life-2", first_pseq: 1, prev_boot: "life-1", prev_pseq: 2 },
      ],
    );
  },
);

t.test("any other producer relays for nobody", async (t) => {
  const { auditd, node } = await started(t);
  const one = await node("node-a");
  await using appliance = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "a",
  });
  const asked = appliance.relay(one.id, {
    certChain: one.certChain,
    boot: "life-1",
    events: [signed(one, 1)],
  });
  await t.rejects(asked, { code: "audit_unavailable" });
});
