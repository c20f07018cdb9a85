/** What is taken for two people's word, and each way in which it is not. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import t from "tap";
import { evaluateApproval } from "../../src/approvals/evaluate-approval.ts";
import { stepUpNonce } from "../../src/format/approval/step-up-nonce.ts";
import { signedAct } from "@resontech/vault/decisions/signed-act";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import {
  ADMIN,
  newRealmKey,
  OFFICER,
  type Person,
  pinnedKey,
  STEWARD,
  StepUpPeople,
} from "../helper/step-up-people.ts";

const NOW_S = 1_800_000_000;
const WHAT = { kind: "erasure", subject: "usr-1", request: "req-1", legalBasis: "gdpr-17" };
const ROLES = ["security-officer", "data-steward"];
const ACT = { what: WHAT, requesterRoles: ROLES, approverRoles: ROLES };
const ID = "a_1";

t.test("the word of two people, as Keycloak signed it", async (t) => {
  const people = new StepUpPeople();
  const file = join(temporaryFolder(t), "keys.json");
  const judge = (proof: ApprovalProof, nowS = NOW_S) => {
    people.pin(file);
    return evaluateApproval(file, proof, ACT, nowS * 1000);
  };
  type Changes = Parameters<StepUpPeople["sign"]>[2];
  const two = (
    {
      asked = {},
      agreed = {},
      requester = STEWARD,
      approver = OFFICER,
      what = WHAT,
    }: {
      asked?: Changes;
      agreed?: Changes;
      requester?: Person;
      approver?: Person;
      what?: Record<string, unknown>;
    } = {},
    approval = ID,
  ): ApprovalProof => ({
    approval: ID,
    requested: people.sign(
      requester,
      { approval, answer: "request", what },
      { atS: NOW_S, ...asked },
    ),
    approved: people.sign(
      approver,
      { approval, answer: "approve", what },
      { atS: NOW_S, ...agreed },
    ),
  });

  t.match(await judge(two()), {
    ...{ approval: ID, requester: STEWARD.by, approvers: [OFFICER.by], singlePerson: false },
    signatures: [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}$/],
  });

  const stranger = newRealmKey();
  const swapped = two();
  const refusals: Record<string, [string, ApprovalProof, number?]> = {
    "a key that is not pinned": ["step_up_signature", two({ agreed: { key: newRealmKey("k2") } })],
    "another key by the same name": ["step_up_signature", two({ agreed: { key: stranger } })],
    "alg none": ["step_up_signature", two({ agreed: { header: { alg: "none" } } })],
    "HS256 with the public key": [
      "step_up_signature",
      two({ asked: { header: { alg: "HS256" } } }),
    ],
    "a key in the token's own header": [
      "step_up_signature",
      two({
        agreed: { key: stranger, header: { jwk: stranger.publicKey.export({ format: "jwk" }) } },
      }),
    ],
    "an access token": ["step_up_signature", two({ asked: { header: { typ: "at+jwt" } } })],
    "a token that calls itself another": [
      "step_up_token",
      two({ asked: { claims: { typ: "Logout" } } }),
    ],
    "another realm": ["step_up_token", two({ asked: { claims: { iss: "https://a/realms/b" } } })],
    "another client": ["step_up_token", two({ agreed: { claims: { azp: "resontech-cli" } } })],
    "another audience": ["step_up_token", two({ agreed: { claims: { aud: ["resontech-api"] } } })],
    "two audiences": [
      "step_up_token",
      two({ agreed: { claims: { aud: ["resontech-dashboard", "x"] } } }),
    ],
    "a sign-in by password alone": ["step_up_level", two({ agreed: { claims: { acr: "1" } } })],
    "a second factor of long ago": [
      "step_up_stale",
      two({ agreed: { claims: { auth_time: NOW_S - 3_600 } } }),
    ],
    "another act": ["step_up_nonce", two({ what: { ...WHAT, subject: "usr-2" } })],
    "another approval": ["step_up_nonce", two({}, "a_2")],
    "an ordinary step-up": ["step_up_nonce", two({ asked: { claims: { nonce: "n" } } })],
    "an approval in place of a request": [
      "step_up_nonce",
      { ...swapped, requested: swapped.approved! },
    ],
    "one person twice": ["approver_is_requester", two({ requester: OFFICER })],
    "one person by two pseudonyms": [
      "approver_is_requester",
      two({ agreed: { claims: { sub: "kc-usr-steward" } } }),
    ],
    "a role that may not ask": ["step_up_role", two({ requester: ADMIN })],
    "a role that may not agree": ["step_up_role", two({ approver: ADMIN })],
    "no role claim": ["step_up_signature", two({ asked: { claims: { roles: undefined } } })],
    "from the future": ["step_up_future", two(), NOW_S - 3_600],
    "approved more than a day ago": ["approval_over", two(), NOW_S + 86_401],
    "approved when the request was over": [
      "approval_over",
      two({ asked: { atS: NOW_S - 4 * 86_400 } }),
    ],
    "an approval before its request": ["step_up_order", two({ agreed: { atS: NOW_S - 3_600 } })],
    "no token": [
      "step_up_signature",
      { ...two(), requested: { ...two().requested, token: "a.b.c" } },
    ],
    "somebody else is there": ["approval_single", { ...two(), approved: null }],
  };
  for (const [name, [code, proof, nowS]] of Object.entries(refusals))
    t.match(await judge(proof, nowS), { code }, name);

  people.trusted.holders = { "security-officer": ["kc-usr-officer"], "data-steward": [] };
  const alone = { ...two({ requester: OFFICER }), approved: null };
  t.match(
    await judge(alone),
    {
      ...{ requester: OFFICER.by, approvers: [OFFICER.by], singlePerson: true },
      signatures: [/./],
    },
    "who is alone goes on alone, and it is marked",
  );
  t.match(await judge(alone, NOW_S + 86_401), { code: "approval_over" });

  people.trusted.keys = [pinnedKey(newRealmKey("k2")), pinnedKey(people.key, NOW_S + 1)];
  t.match(await judge(two()), { approval: ID }, "after a rotation older signatures are good");
  t.match(
    await judge(two({ agreed: { atS: NOW_S + 30 } })),
    { code: "step_up_key_over" },
    "nothing new is signed with the key that the realm gave up",
  );

  people.pin(file);
  chmodSync(file, 0o666);
  t.match(
    await evaluateApproval(file, two(), ACT, NOW_S * 1000),
    { code: "step_up_keys_missing" },
    "a file that others can write pins nothing",
  );
  t.match(await evaluateApproval(undefined, two(), ACT, NOW_S * 1000), {
    code: "step_up_keys_missing",
  });
});

t.test("a hold, its lift and a disclosure, by what the vault takes for each", async (t) => {
  const people = new StepUpPeople();
  const file = join(temporaryFolder(t), "keys.json");
  people.pin(file);
  const origin = "box.audit.acme/2027";
  const OTHER: Person = { by: "usr-other", roles: ["security-officer"] };
  const hold = { kind: "hold", subject: "usr-1", hold: "case-7" };
  const lift = { ...hold, kind: "lift" };
  const subjects = ["usr-1", "usr-2"];
  const disclosure = { kind: "disclosure", shard: "2027", subjects, receiver: "usr-auditor" };
  const asked = {
    hold: { verb: "hold", subject: "usr-1", hold: "case-7" },
    lift: { verb: "lift", subject: "usr-1", hold: "case-7" },
    disclosure: {
      verb: "disclose",
      ...{ origin, subjects: subjects.toReversed(), receiver: "usr-auditor" },
    },
  } as const;
  type Signers = [requester: Person, approver: Person | null];
  const judge = (
    request: (typeof asked)[keyof typeof asked],
    what: Record<string, unknown>,
    [requester, approver]: Signers,
    { atS = NOW_S, by = people }: { atS?: number; by?: StepUpPeople } = {},
  ) => {
    const approval = by.proof(what, { requester, approver, approval: ID, atS });
    return evaluateApproval(file, approval, signedAct({ ...request, approval }), NOW_S * 1_000);
  };

  t.match(await judge(asked.hold, hold, [OFFICER, null]), {
    ...{ approval: ID, requester: OFFICER.by, approvers: { length: 0 } },
    ...{ singlePerson: false, signatures: { length: 1 } },
  });
  for (const [request, what] of [
    [asked.lift, lift],
    [asked.disclosure, disclosure],
  ] as const)
    for (const signers of [
      [STEWARD, OFFICER],
      [OFFICER, STEWARD],
      [OFFICER, OTHER],
    ] satisfies Signers[])
      t.match(await judge(request, what, signers), {
        ...{ requester: signers[0].by, approvers: [signers[1].by] },
        ...{ singlePerson: false, signatures: { length: 2 } },
      });

  const day = 86_400;
  const forger = new StepUpPeople();
  const refusals: [string, string, ReturnType<typeof judge>][] = [
    ["a steward sets no hold", "step_up_role", judge(asked.hold, hold, [STEWARD, null])],
    ["nor does an administrator", "step_up_role", judge(asked.hold, hold, [ADMIN, null])],
    ["nobody agrees to a hold", "approval_invalid", judge(asked.hold, hold, [OFFICER, STEWARD])],
    [
      ...(["a forged hold", "step_up_signature"] as const),
      judge(asked.hold, hold, [OFFICER, null], { by: forger }),
    ],
    [
      ...(["a hold of the day before yesterday", "approval_over"] as const),
      judge(asked.hold, hold, [OFFICER, null], { atS: NOW_S - day - 1 }),
    ],
    [
      ...(["another name of the hold", "step_up_nonce"] as const),
      judge(asked.hold, { ...hold, hold: "case-8" }, [OFFICER, null]),
    ],
    ["a hold as a lift", "step_up_nonce", judge(asked.lift, hold, [STEWARD, OFFICER])],
    ["an erasure as a lift", "step_up_nonce", judge(asked.lift, WHAT, [STEWARD, OFFICER])],
    ["one for a lift", "approval_single", judge(asked.lift, lift, [OFFICER, null])],
    ["one twice", "approver_is_requester", judge(asked.lift, lift, [OFFICER, OFFICER])],
    [
      ...(["whom the hold is about", "approver_gains"] as const),
      judge(asked.lift, lift, [OFFICER, { ...STEWARD, by: "usr-1" }]),
    ],
    [
      ...(["a forged lift", "step_up_signature"] as const),
      judge(asked.lift, lift, [STEWARD, OFFICER], { by: forger }),
    ],
    [
      ...(["a disclosure of the day before yesterday", "approval_over"] as const),
      judge(asked.disclosure, disclosure, [STEWARD, OFFICER], { atS: NOW_S - day - 1 }),
    ],
    [
      "one for a disclosure",
      "approval_single",
      judge(asked.disclosure, disclosure, [OFFICER, null]),
    ],
    [
      ...(["who receives", "approver_gains"] as const),
      judge(asked.disclosure, disclosure, [OFFICER, { ...STEWARD, by: "usr-auditor" }]),
    ],
    ...Object.entries({ shard: "2026", subjects: ["usr-1"], receiver: "usr-x" }).map(
      ([name, value]): [string, string, ReturnType<typeof judge>] => [
        ...([`another ${name}`, "step_up_nonce"] as const),
        judge(asked.disclosure, { ...disclosure, [name]: value }, [STEWARD, OFFICER]),
      ],
    ),
  ];
  for (const [name, code, judged] of refusals) t.match(await judged, { code }, name);

  people.trusted.holders = { "security-officer": ["kc-usr-officer"], "data-steward": [] };
  people.pin(file);
  t.match(
    await judge(asked.lift, lift, [OFFICER, null]),
    { code: "approval_single" },
    "nor while nobody else could agree",
  );
});

t.test("each part of a statement is in its nonce", async (t) => {
  const statement = { approval: ID, answer: "request", by: "u", salt: "00", what: WHAT } as const;
  const nonces = [
    statement,
    { ...statement, approval: "a_2" },
    { ...statement, answer: "approve" } as const,
    { ...statement, by: "v" },
    { ...statement, salt: "01" },
    { ...statement, what: { ...WHAT, request: "req-2" } },
  ].map(stepUpNonce);
  t.equal(new Set(nonces).size, nonces.length);
  t.equal(nonces[0]!.length, 43);
  t.equal(
    stepUpNonce({ ...statement, what: Object.fromEntries(Object.entries(WHAT).reverse()) }),
    nonces[0],
    "the order of members is none of its meaning",
  );
});
