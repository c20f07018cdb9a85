import { PARTS } from "@resontech/parts";
import t from "tap";
import { settingChanges } from "../../src/settings/decisions/setting-changes.ts";
import {
  checkSettings,
  type SettingsDocument,
} from "../../src/settings/decisions/settings-document.ts";

const syslog = { kind: "syslog", name: "siem", host: "siem.example", port: 6514, transport: "tls" };
const now: SettingsDocument = {
  formatVersion: 1,
  appliance: { bucketQuotaBytes: 1_000, outputExport: null, retention: null },
  parts: {
    notifier: { "alerts.json": { formatVersion: 1, targets: [syslog] } },
    serving: { "outbound.json": null },
    "audit-out": { "audit-sinks.json": null },
  },
};
const changesTo = (file: Omit<SettingsDocument, "formatVersion">) =>
  settingChanges(PARTS, now, { formatVersion: 1, ...file });

t.test("what a file does not name stays, and what is equal is no change", async (t) => {
  t.same(changesTo({}), []);
  t.same(settingChanges(PARTS, now, now), []);
});

t.test("a choice restarts whoever's configuration is derived from it", async (t) => {
  t.same(changesTo({ appliance: { outputExport: "controlled" } }), [
    {
      name: "appliance.outputExport",
      members: [{ path: "", now: null, file: "controlled" }],
      restarts: ["coordinator", "s3-front"],
    },
  ]);
});

t.test("a file that its part follows restarts nobody, and its members are told", async (t) => {
  const targets = [{ ...syslog, port: 6515, transport: "tcp" }];
  t.same(changesTo({ parts: { notifier: { "alerts.json": { formatVersion: 1, targets } } } }), [
    {
      name: "notifier/alerts.json",
      members: [
        { path: "/targets/0/port", now: 6514, file: 6515 },
        { path: "/targets/0/transport", now: "tls", file: "tcp" },
      ],
      restarts: [],
    },
  ]);
  t.match(
    changesTo({ parts: { notifier: { "alerts.json": { formatVersion: 1, targets: [] } } } }),
    [{ members: [{ path: "/targets", now: [syslog], file: [] }] }],
  );
});

t.test("a file that a part reads at its start restarts that part", async (t) => {
  const sinks = { "audit-sinks.json": { sinks: [] } };
  t.match(changesTo({ parts: { "audit-out": sinks } }), [{ restarts: ["audit-out"] }]);
});

t.test(
  "a file that sets what there is not, or to what it can't be, is refused by name",
  async (t) => {
    for (const [value, said] of [
      [[], /the file must be object/],
      [{}, /formatVersion/],
      [{ formatVersion: 2 }, /formatVersion/],
      [
        { formatVersion: 1, appliance: { uidBase: 1 } },
        /appliance\.uidBase is not set by this command; /,
      ],
      [{ formatVersion: 1, appliance: { bucketQuotaBytes: -1 } }, /\/appliance\/bucketQuotaBytes /],
      [{ formatVersion: 1, appliance: { bucketQuotaBytes: null } }, /has no default/],
      [
        { formatVersion: 1, parts: { nats: { "nats.conf": {} } } },
        /no setting nats\/nats\.conf; there are/,
      ],
      [
        { formatVersion: 1, parts: { notifier: { "alerts.json": {} } } },
        /\/parts\/notifier\/alerts\.json/,
      ],
      [
        {
          formatVersion: 1,
          parts: {
            notifier: { "alerts.json": { formatVersion: 1, targets: [{ ...syslog, port: 0 }] } },
          },
        },
        /\/parts\/notifier\/alerts\.json\/targets\/0/,
      ],
    ] as const)
      t.throws(() => checkSettings(PARTS, value), { code: "settings_invalid", message: said });
    t.same(checkSettings(PARTS, { formatVersion: 1, appliance: { retention: null } }).appliance, {
      retention: null,
    });
  },
);
