import { PARTS } from "@resontech/parts";
import t from "tap";
import {
  configOnHost,
  hasSameLogKey,
  putBackPlan,
} from "../../src/backup/decisions/put-back-plan.ts";

const HERE = [
  ...["agent", "audit", "audit-out", "backup", "coordinator", "keycloak", "podman", "prometheus"],
  ...["registry", "supervisor", "vault"],
];
const STAGED = ["audit", "coordinator", "s3", "vault", "vault-key-copies"];

t.test("on another host all is replaced but images, and the vault begins anew", async (t) => {
  t.same(putBackPlan(HERE, STAGED, { isHome: false, declared: PARTS }), {
    isHome: false,
    aside: [
      ...["agent", "audit", "audit-out", "coordinator", "keycloak", "prometheus", "supervisor"],
      "vault",
    ],
    in: ["audit", "coordinator", "s3"],
    carried: [],
  });
});

t.test("at home the vault, the node and what others have seen of the log stay", async (t) => {
  t.same(putBackPlan(HERE, STAGED, { isHome: true, declared: PARTS }), {
    isHome: true,
    aside: ["audit", "coordinator"],
    in: ["audit", "coordinator", "s3", "vault-key-copies"],
    carried: ["secrets/auditd", "secrets/vault"],
  });
  const lost = HERE.filter((name) => name !== "vault");
  t.ok(
    putBackPlan(lost, STAGED, { isHome: true, declared: PARTS }).in.includes("vault"),
    "a vault that is lost is put back",
  );
});

t.test("a host is home where its log is signed by a key of the backup's", async (t) => {
  const policy = (key: string): string => `log box.audit.acme/2026+${key}\nquorum none\n`;
  t.ok(hasSameLogKey(policy("a"), `log x+b\n${policy("a")}`));
  t.notOk(hasSameLogKey(policy("a"), policy("b")));
  t.notOk(hasSameLogKey("", ""));
});

t.test("address, ports and engine are the host's, all else the backup's", async (t) => {
  const staged = { name: "gpu.example", hostTools: "bundle" };
  const ofHost = { instance: "b", address: "10.0.0.2", ports: { api: 1 }, containerEngine: "x" };
  const old = { instance: "a", address: "10.0.0.1", ports: { api: 2 }, containerEngine: "y" };
  t.same(configOnHost({ ...staged, ...old }, { name: "localhost", ...ofHost }), {
    ...{ name: "gpu.example", ...ofHost },
  });
});
