import t from "tap";
import { refusalOfClone } from "../clone-path.mjs";

t.test("a newcomer's path works, with blanks and letters of any script", async (t) => {
  for (const path of [
    "/home/a/appliance",
    "/srv/Meine Projekte/Gerät 1 (neu)",
    `/x/${"y".repeat(150)}`,
  ])
    t.equal(refusalOfClone(path), null, path);
});

t.test("what can't work is refused by name", async (t) => {
  t.match(refusalOfClone("/srv/a,b"), /"," *: \/srv\/a,b/);
  for (const path of ["/srv/a:b", "/srv/a\\b", '/srv/a"b', "/srv/a'b", "/srv/$HOME", "/srv/a\nb"])
    t.type(refusalOfClone(path), "string", path);
  t.match(refusalOfClone(`/x/${"ü".repeat(80)}`), /longer than 160 bytes/);
});
