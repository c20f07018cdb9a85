import fc from "fast-check";
import t from "tap";
import { Redactor } from "../../src/support/redactor.ts";

const of = (known: Partial<ConstructorParameters<typeof Redactor>[0]> = {}): Redactor =>
  new Redactor({ secrets: [], people: [], ownAddresses: ["127.0.0.1", "10.1.2.3"], ...known });

const HARD = Array.from("aZ0$^.*+?()[]{}|\\/\"' -\n");
/** Whatever a customer may choose or a generator make: also quotes, backslashes, lines, signs of regular expressions. */
const secret = fc
  .oneof(
    fc.string({ minLength: 12, maxLength: 60, unit: "grapheme" }),
    fc.string({
      minLength: 12,
      maxLength: 60,
      unit: fc.constantFrom(...HARD),
    }),
    fc.base64String({ minLength: 16, maxLength: 64 }),
  )
  .map((text) => text.trim())
  .filter(
    (text) => text.length >= 12 && !/[\p{Cc}\p{Bidi_Control}]/u.test(text.replaceAll("\n", "")),
  )
  .filter((text) => !"⟨secret⟩⟨query⟩".includes(text));
const around = fc.string({ maxLength: 40, unit: "grapheme" });
const forms: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  encodeURIComponent,
  (text) => Buffer.from(text).toString("base64").replace(/=+$/, ""),
  (text) => Buffer.from(text).toString("base64url"),
  (text) => Buffer.from(text).toString("hex"),
];

t.test(
  "no secret that the appliance holds is left, in whatever form and wherever it stands",
  async (t) => {
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(around, fc.nat(3), fc.constantFrom(...forms)), {
          minLength: 1,
          maxLength: 6,
        }),
        (secrets, places) => {
          const text = places
            .map(([before, which, form]) => `${before}${form(secrets[which % secrets.length]!)}`)
            .join("");
          const redactor = of({ secrets });
          for (const told of [
            redactor.text(text),
            redactor.log(text),
            redactor.log(JSON.stringify({ level: 30, msg: text, err: { message: text } })),
            redactor.log(JSON.stringify({ [text]: 1 })),
          ])
            for (const held of secrets)
              for (const form of forms)
                if (told.includes(form(held))) throw new Error(`${form(held)} is left in ${told}`);
        },
      ),
      { numRuns: 400 },
    );
    t.pass();
  },
);

t.test("no name of a person is left as a word, and one person has one number", async (t) => {
  const name = fc
    .stringMatching(/^[a-z][a-z0-9._-]{1,20}[a-z0-9]$/)
    .filter((one) => !/^(?:person|secret|address|mail|path|query)$/.test(one));
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
      fc.nat(3),
      (people, which) => {
        const one = people[which % people.length]!;
        const told = of({ people }).text(
          `is ${one}, "${one.toUpperCase()}" or /${one}/ of ${one}.`,
        );
        const word = new RegExp(
          String.raw`(?<![\p{L}\p{N}_])${one.replaceAll(".", String.raw`\.`)}(?![\p{L}\p{N}_])`,
          "iu",
        );
        if (word.test(told)) throw new Error(`${one} is left in ${told}`);
      },
    ),
  );
  const redactor = of({ people: ["anna", "anna-4f2a1b3c"] });
  t.equal(
    redactor.text("anna and Anna, not hannah; anna-4f2a1b3c"),
    "⟨person 1⟩ and ⟨person 1⟩, not hannah; ⟨person 2⟩",
  );
  t.equal(redactor.counts.person, 3);
});

t.test("what looks like a secret goes, although nobody holds it", async (t) => {
  const hidden = [
    [
      "a key -----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\nAgEGCCqGSM49\n-----END PRIVATE KEY-----.",
      /MIGH|AgEG/,
    ],
    ["cut off\nMIGHAgEAMBMGByqGSM49AwEHBG0wawIBAQQgAbCdEfGhIjKlMnOpQrStUvWxYz01\nend", /MIGH/],
    [`rsk_live_${"aB3".repeat(16)}x`, /aB3/],
    ["Authorization: Bearer abcdefgh12345", /abcdefgh/],
    [
      "authorization: AWS4-HMAC-SHA256 Credential=RTX/20261127/garage/s3/aws4_request, Signature=0af3",
      /0af3|RTX/,
    ],
    ["set-cookie: sid=qwerty; Path=/", /qwerty/],
    ["jwt eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", /eyJ/],
    ["postgres://keycloak:hunter22@127.0.0.1/db", /hunter22/],
    ["password=hunter22, next", /hunter22/],
    ['{"adminPassword": "hun\\"ter22"}', /ter22/],
    ["SecretAccessKey='hunter22'", /hunter22/],
    ["GET https://h:3900/b/k?X-Amz-Signature=0af3&X-Amz-Credential=RTX done", /0af3|RTX/],
    ["SUAM4YV2MZ5B6VBE3XVZWMBGVKCKWBPNGQDY4PWTFWWQZ3DWJYHU5YD3NQ", /SUAM/],
    ["opaque q8vXk2Lr9TzWb4Nc7Yd1Fg6Hj3Ks5Mp0Q_-w end", /q8vX/],
  ] as const;
  for (const [text, left] of hidden) {
    t.notMatch(of().log(text), left, text);
    t.match(of().log(text), /⟨(?:secret|query)⟩/, text);
  }
});

t.test("a person's field, mailbox, address, home and object go by their form", async (t) => {
  const hidden = [
    ['type="LOGIN_ERROR", username="berta", ipAddress="192.168.7.7"', /berta|192\.168/],
    ["mail to Berta.Weiß@klinik.example bounced", /Berta|klinik/],
    ["10.9.8.7:51234 - tcp", /10\.9\.8\.7/],
    ["peer 2001:db8::beef and ::ffff:10.9.8.7 left", /beef|10\.9/],
    ["PUT /patients-1a2b3c4d/scans/meier.zip HTTP/1.1 200", /patients|meier/],
    ["GET /api/models/lab/net/resolve/main/meier.bin 404", /meier/],
    ["s3://patients/scans/meier.zip", /patients|meier/],
    ["/home/berta/.bashrc", /berta/],
    [
      '{"level":50,"bucket":"patients","object":"scans/meier.zip","user":"berta"}',
      /patients|meier|berta/,
    ],
  ] as const;
  for (const [text, left] of hidden) t.notMatch(of().log(text), left, text);
});

t.test("what support needs stays", async (t) => {
  const kept = [
    '{"level":50,"time":1795700000000,"part":"coordinator","msg":"background work failed","err":{"type":"Error","code":"ECONNREFUSED","stack":"Error\\n    at open (file:///opt/resontech/current/app/coordinator.mjs:10:7)"}}',
    "10.1.2.3:8000 127.0.0.1:9090 listening",
    "gpu.hospital.example:5000/resontech/keycloak@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "GET /api/jobs/job-4f21a9c0/logs 200",
    "2026-11-27 10:02:03.123 UTC [42] LOG:  database system is ready",
    '{"caFile":"/opt/resontech/etc/ca/root.crt","sessionKeyFile":"/opt/resontech/etc/secrets/coordinator/session.key"}',
    '{"kind":"step","step":"parts","state":"done","at":"2026-11-27T10:00:00.000Z"}',
    "runc 1.1.12, podman 4.3.1, kernel 6.1.0-28-amd64",
  ];
  for (const text of kept) t.equal(of().log(text), text);
});

t.test(
  "a line that was made to trouble the reader is read in time, and moves no cursor",
  async (t) => {
    const before = process.cpuUsage();
    for (const piece of [
      "a",
      "a.",
      "a:",
      "1.",
      '"',
      "\\",
      "=",
      "a=",
      "aA1",
      "?a=",
      "@",
      "-----BEGIN PRIVATE KEY-----",
      "{",
    ])
      of({ secrets: ["aaaaaaaaaaab"], people: ["aa"] }).log(piece.repeat(100_000));
    t.ok(process.cpuUsage(before).user < 20_000_000);
    t.equal(of().text("\u001b[2Jaway \u202eback"), "\u{FFFD}[2Jaway \u{FFFD}back");
  },
);
