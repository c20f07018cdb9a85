import t from "tap";
import { loginOf } from "../../../src/audit/decisions/login-of.ts";

const PASSWD = "root:x:0:0:root:/root:/bin/bash\nanna:x:1000:1000::/home/anna:/bin/sh\n";

t.test(
  "the kernel's login is who it was, whatever sudo says; both where they differ",
  async (t) => {
    t.equal(loginOf("1000", "anna", PASSWD), "anna");
    t.equal(loginOf("1000", null, PASSWD), "anna");
    t.equal(loginOf("1000\n", "bob", PASSWD), "anna (sudo: bob)");
    t.equal(
      loginOf("4294967295", "bob", PASSWD),
      "bob",
      "no login: what sudo says is all there is",
    );
    t.equal(loginOf("5001", null, PASSWD), "uid 5001", "a user of a directory");
    t.equal(loginOf("4294967295", null, PASSWD), null);
    t.equal(loginOf("", "", PASSWD), null);
    t.equal(loginOf("4294967295", "a\u001bb", ""), "a?b");
  },
);
