import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { KEY_TYPE, noteSigner, verifierKey } from "../../../src/format/note/note-key.ts";
import { parsePolicy } from "../../../src/format/note/policy.ts";

const ed25519 = (name: string, type: 1 | 4 = KEY_TYPE.ed25519) =>
  verifierKey(noteSigner(name, type, generateKeyPairSync("ed25519").privateKey));
const LOG = ed25519("box.audit.acme/2026");
const witness = (name: string) =>
  `witness ${name} ${ed25519(`example.com/${name}`, KEY_TYPE.ed25519Cosignature)} http://${name}:8080\n`;
const policy = (text: string) => parsePolicy(Buffer.from(text));

t.test("reads logs, witnesses and nested groups, and says who is a quorum", async (t) => {
  const names = ["a", "b", "c", "d"];
  const { logs, witnesses, needsWitness, isQuorum } = policy(
    `# site\n\n log\t${LOG} https://log.example \n${names.map(witness).join("")}group x 2 a b c\ngroup both all x d\nquorum both\n`,
  );
  t.match(
    [logs, witnesses.map(({ name, url }) => [name, url])],
    [[{ name: "box.audit.acme/2026", type: 1 }], names.map((n) => [n, `http://${n}:8080`])],
  );
  t.equal(needsWitness, true);
  const table: [string[], boolean][] = [
    [[], false],
    [["a", "b"], false],
    [["a", "d"], false],
    [["a", "c", "d"], true],
    [["a", "b", "c", "d"], true],
    [["x", "d"], false],
  ];
  for (const [cosigned, is] of table) t.equal(isQuorum(new Set(cosigned)), is, cosigned.join(" "));
  t.match(policy(`log ${LOG}\nquorum none\n`), { needsWitness: false, witnesses: [] });
  const ecdsa = `log box.audit.acme/2026+00000000+${Buffer.from([0x02, 1, 2, 3]).toString("base64")}\n`;
  t.equal(
    policy(`log ${LOG}\n${ecdsa}quorum none\n`).logs.length,
    1,
    "an ECDSA key beside is passed over",
  );
  t.equal(policy(`log ${LOG}\nquorum none\n`).isQuorum(new Set()), true);
});

t.test("refuses what tlog-policy does not allow, and names the line", async (t) => {
  const a = witness("a");
  for (const [what, text, message] of [
    ["no quorum", `log ${LOG}\n`, /no quorum line/],
    ["two quorums", `log ${LOG}\nquorum none\nquorum none\n`, /line 3/],
    ["unknown quorum", `log ${LOG}\nquorum w1\n`, /line 2: no w1/],
    ["unknown keyword", `logs ${LOG}\nquorum none\n`, /line 1/],
    ["key twice", `log ${LOG}\nlog ${LOG}\nquorum none\n`, /same key/],
    [
      "foreign key id",
      `log ${LOG.replace(/\+[0-9a-f]{8}\+/, "+00000000+")}\nquorum none\n`,
      /not its own/,
    ],
    ["no key", "log abc\nquorum none\n", /line 1/],
    ["name twice", `${a}${witness("a")}quorum a\n`, /line 2: a is defined/],
    ["witness named none", `${witness("none")}quorum none\n`, /none is defined/],
    ["group of none", `${a}group g all\nquorum g\n`, /line 2/],
    ["group of itself", `${a}group g any a g\nquorum g\n`, /no g is defined/],
    ["two of one", `${a}group g 2 a\nquorum g\n`, /can't be asked for/],
    ["none of one", `${a}group g 0 a\nquorum g\n`, /can't be asked for/],
    [
      "member of two groups",
      `${a}${witness("b")}group g any a\ngroup h any a b\nquorum g\n`,
      /in a group already/,
    ],
    ["control character", `log ${LOG}\u0007\nquorum none\n`, /control/],
    [
      "33 witnesses",
      `${Array.from({ length: 33 }, (_, at) => witness(`w${at}`)).join("")}quorum none\n`,
      /too many witness/,
    ],
  ] as const)
    t.throws(() => policy(text), { code: "policy_invalid", message }, what);
});
