import t from "tap";
import { refuseVariables } from "../../src/keycloak/realm-variables.ts";

t.test(
  "a realm file with a variable is refused, because Keycloak would keep its text as the secret",
  async (t) => {
    t.throws(() => refuseVariables("realm.json", '{"secret":"${CLIENT_SECRET}"}'), {
      code: "realm_variable",
    });
    t.throws(
      () => refuseVariables("realm.json", '{"secret":"${CLIENT_SECRET}"}'),
      /realm\.json holds \$\{CLIENT_SECRET\}/,
    );
    t.doesNotThrow(() => refuseVariables("realm.json", '{"secret":"$ {x}"}'));
  },
);
