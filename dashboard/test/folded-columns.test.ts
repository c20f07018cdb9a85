import t from "tap";
import { foldColumns, type NarrowPlace } from "../src/ui/folded-columns.ts";

const column = (title: string, narrow?: NarrowPlace) => ({
  title,
  ...(narrow === undefined ? {} : { narrow }),
});
const titles = (columns: readonly { title: string }[]) => columns.map(({ title }) => title);

t.test("a narrow list has its name, what stands below it, and all else when opened", async (t) => {
  const columns = [
    ...[column("Tick", "own"), column("State", "below"), column("Name", "main")],
    ...[column("Why", "below"), column("Owner")],
  ];
  const folded = foldColumns(columns);
  t.equal(folded?.main.title, "Name");
  t.same(titles(folded?.own ?? []), ["Tick"]);
  t.same(titles(folded?.below ?? []), ["State", "Why"]);
  // What may be cut below the name is told whole.
  t.same(titles(folded?.more ?? []), ["State", "Why", "Owner"]);
});

t.test("a list whose rows have details of their own opens nothing else", async (t) => {
  const folded = foldColumns([
    column("Time", "main"),
    column("Who", "below"),
    column("Why", "details"),
  ]);
  t.same(folded?.more, []);
});

t.test("a list without a name stays as it is", async (t) => {
  t.equal(foldColumns([column("Round"), column("Took")]), null);
});
