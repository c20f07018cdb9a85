import { readFileSync } from "node:fs";
import t from "tap";
import { textsOf } from "../build/texts-of.ts";
import { allTexts, TEXTS_FILE } from "../build/write-texts.ts";

t.test("texts are what people read, not what programs do", async (t) => {
  const source = `import { a } from "a file of words here";
    const kind = "state";
    export const Page = () => <Panel title="Disks" className="wide panel" kind={kind}>
      Nothing is <b>full</b>. <Field label={isOn ? "On now" : \`Off for \${n} s\`} /> {say("a sentence of words")}
    </Panel>;`;
  t.same(textsOf("page.tsx", source), [
    ...["Disks", "wide panel", "Nothing is", "On now", "Off for … s", "a sentence of words"],
  ]);
});

t.test("the list of all texts is of these pages", async (t) => {
  t.equal(
    readFileSync(TEXTS_FILE, "utf8") === allTexts(),
    true,
    "run: node dashboard/build/write-texts.ts, and read what is new in dashboard/texts.txt",
  );
});
