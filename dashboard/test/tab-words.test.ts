import t from "tap";
import { faviconOf, tabTitle } from "../src/ui/tab-words.ts";

t.test("a tab says what it shows, and how that is", async (t) => {
  t.equal(tabTitle("digits", "running"), "● digits · running – ResonTech");
  t.equal(tabTitle("Nodes"), "Nodes – ResonTech");
});

t.test("its picture differs by tone, and is one that the page's policy lets in", async (t) => {
  const tones = [undefined, "good", "busy", "wait", "bad", "quiet"] as const;
  const pictures = tones.map((tone) => faviconOf(tone));
  t.equal(new Set(pictures).size, tones.length);
  for (const picture of pictures) t.match(picture, /^data:image\/svg\+xml,[^#<> "]+$/);
});
