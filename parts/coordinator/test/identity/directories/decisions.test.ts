import t from "tap";
import { standingOf } from "../../../src/identity/accounts/decisions/account-standing.ts";
import { groupNames, strongest } from "../../../src/identity/decisions/group-names.ts";
import {
  adminMeaning,
  signInMeaning,
} from "../../../src/identity/keycloak-events/decisions/event-meaning.ts";

t.test("a connection speaks of its own groups alone", async (t) => {
  const claims = { paths: ["/corp/doctors", "/lab/staff", "/corp", "/corp/", 7], named: ["staff"] };
  t.same(groupNames({ name: "corp", kind: "storage" }, claims), ["corp/doctors"]);
  t.same(groupNames({ name: "uni", kind: "broker" }, claims), ["uni/staff"]);
  t.same(groupNames(null, claims), [], "a local user is in no group, whatever the token says");
  t.same(groupNames({ name: "uni", kind: "broker" }, { paths: [], named: "staff" }), ["uni/staff"]);
  for (const named of [undefined, null, {}, [[]], [""], ["x".repeat(300)]])
    t.same(groupNames({ name: "uni", kind: "broker" }, { paths: null, named }), []);
});

t.test("of several roles in a project the one that may most stands, in its place", async (t) => {
  const of = (projectId: string, role: "project-lead" | "researcher" | "viewer") => ({
    ...{ projectId, role },
  });
  t.same(strongest([of("a", "viewer"), of("b", "researcher"), of("a", "project-lead")]), [
    of("a", "project-lead"),
    of("b", "researcher"),
  ]);
});

t.test("nobody is out because a directory does not answer", async (t) => {
  const corp = { name: "corp", kind: "storage" } as const;
  const off = { enabled: false };
  t.equal(standingOf(null, corp, []), "gone");
  t.equal(standingOf({ enabled: true }, corp, []), "there");
  t.equal(standingOf(off, corp, []), "unknown");
  t.equal(standingOf(off, corp, ["/corp/doctors", "/corpus"]), "unknown");
  t.equal(standingOf(off, corp, ["/corp"]), "disabled");
  t.equal(standingOf(off, { name: "uni", kind: "broker" }, []), "disabled");
  t.equal(standingOf(off, null, []), "disabled");
});

t.test("Keycloak's events become types of the log; what says nothing is not told", async (t) => {
  const event = { id: "1", time: 1, type: "LOGIN", userId: "u", ipAddress: "10.0.0.1" };
  t.match(signInMeaning({ ...event, details: { username: "anna", identity_provider: "uni" } }), {
    ...{ type: "auth.idp.sign-in", subject: "u", username: "anna", address: "10.0.0.1" },
    detail: { what: "login", provider: "uni" },
  });
  t.match(signInMeaning({ ...event, type: "LOGIN_ERROR", error: "user_not_found" }), {
    ...{ type: "auth.idp.failure", detail: { what: "login_error", reason: "user_not_found" } },
  });
  t.match(signInMeaning({ ...event, type: "UPDATE_PASSWORD" }), { type: "auth.idp.account" });
  t.equal(signInMeaning({ ...event, type: "REFRESH_TOKEN" }), null);
  t.match(signInMeaning({ ...event, type: "LOGIN_ERROR", error: "<script> ü", clientId: "?" }), {
    detail: { reason: "x_script_", client: "x_" },
  });
  t.match(adminMeaning({ id: "2", time: 1, operationType: "UPDATE", resourceType: "CLIENT" }), {
    detail: { what: "update", resource: "client" },
  });
});
