import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { Connection } from "@resontech/contracts/identity-connections";
import t from "tap";
import {
  directoryCa,
  directoryCas,
  forgetConnection,
  readConnections,
  writeConnection,
  writeDirectoryCa,
} from "../../src/config/connections.ts";
import { Layout } from "@resontech/frame/layout";
import { requireName } from "../../src/keycloak/connect-directory.ts";

const uni: Connection = {
  ...{ kind: "oidc", name: "uni", label: "University", clientId: "resontech" },
  ...{ provider: { issuer: "https://a.test" }, usernameFrom: "sub", groupsFrom: null },
};

function freshLayout(root: string): Layout {
  const layout = new Layout(root, "test");
  mkdirSync(layout.directoryCa(), { recursive: true });
  return layout;
}

t.test("connections are kept, replaced by name and forgotten, but for their names", async (t) => {
  const layout = freshLayout(t.testdir());
  t.same(readConnections(layout), { connections: [], known: {} });
  writeConnection(layout, uni);
  writeConnection(layout, { ...uni, label: "Uni" });
  t.match(readConnections(layout).connections, [{ label: "Uni" }]);
  t.equal(statSync(layout.identityFile).mode & 0o777, 0o600);
  t.ok(writeDirectoryCa(layout, "uni", "PEM"));
  t.notOk(writeDirectoryCa(layout, "uni", "PEM"), "it is there already");
  writeFileSync(layout.directoryCa("not one.txt"), "");
  t.same(directoryCas(layout), ["uni.crt"]);
  t.equal(directoryCa(layout, "uni"), "PEM");
  forgetConnection(layout, "uni");
  t.same(readConnections(layout), { connections: [], known: { uni: "oidc https://a.test" } });
  t.same(directoryCas(layout), []);
});

t.test("a name that people are known by is given to no other directory", async (t) => {
  const layout = freshLayout(t.testdir());
  writeConnection(layout, uni);
  forgetConnection(layout, "uni");
  requireName(layout, uni);
  t.throws(() => requireName(layout, { ...uni, provider: { issuer: "https://b.test" } }), {
    code: "connection_name_taken",
  });
});

t.test("a file that is damaged or holds what is unknown is refused", async (t) => {
  const layout = freshLayout(t.testdir());
  writeConnection(layout, uni);
  const text = readFileSync(layout.identityFile, "utf8");
  for (const bad of ["", "{}", text.replace("oidc", "magic"), text.replace('"uni"', '"../x"')]) {
    writeFileSync(layout.identityFile, bad);
    t.throws(() => readConnections(layout), { code: "config_invalid" });
  }
});
