import t from "tap";
import { takenIds } from "../src/preflight/taken-ids.ts";

const range = { from: 5_000, to: 5_999 };
const files = {
  passwd:
    "root:x:0:0::/root:/bin/sh\ncarol:x:5000:100::/home/carol:/bin/sh\ndave:x:6000:100::/:/bin/sh\nbroken\n",
  group: "users:x:100:\nlab:x:5999:carol\n",
  subuid: "erin:1000:4000\nfrank:1000:4001\ngina:5999:1\nhal:6000:65536\n",
  subgid: "frank:1000:4001\n",
};

t.test(
  "users, groups and sub-ids that have a number of the range are named once, and no others",
  async (t) => {
    t.same(takenIds(files, range), [
      "user carol",
      "group lab",
      "sub-ids of frank",
      "sub-ids of gina",
    ]);
  },
);

t.test("a host without such files has nobody in it", async (t) => {
  t.same(takenIds({ passwd: "", group: "", subuid: "", subgid: "" }, range), []);
});
