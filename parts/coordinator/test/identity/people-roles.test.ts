import t from "tap";
import { APPLIANCE_ROLES } from "../../src/authorization/roles.ts";
import { applianceRoles, rolesShown } from "../../src/identity/decisions/people-roles.ts";

t.test("by password alone a token has no role of the whole appliance", async (t) => {
  for (const role of APPLIANCE_ROLES) {
    for (const acr of ["0", "1", "", "22"])
      t.same(rolesShown([role], acr), [], `${role} at ${acr}`);
    t.same(rolesShown([role], "2"), [role]);
  }
});

t.test("a claim that is no list of roles means none", async (t) => {
  for (const claim of [undefined, "platform-admin", {}, [["platform-admin"]], ["root"]])
    t.same(applianceRoles(claim), []);
});
