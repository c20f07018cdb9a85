import t from "tap";
import { csvRows, imageType, previewKind } from "../../src/ui/preview/preview-kind.ts";

t.test("what a browser can show is known by its name", async (t) => {
  t.equal(previewKind("jobs/a/metrics.CSV"), "csv");
  t.equal(previewKind("report.json"), "json");
  t.equal(previewKind("curve.jpeg"), "image");
  t.equal(imageType("curve.jpg"), "image/jpeg");
  t.equal(imageType("curve.png"), "image/png");
  t.equal(previewKind("model.pt"), null);
  t.equal(previewKind("drawing.svg"), null, "a drawing may hold a script");
});

t.test("cells keep their commas, quotes and lines", async (t) => {
  t.same(csvRows('a,b\r\n"1,5","say ""x"""\r\n"two\nlines",', 10), [
    ["a", "b"],
    ["1,5", 'say "x"'],
    ["two\nlines", ""],
  ]);
  t.same(csvRows("a\tb\n1\t2\n", 10), [
    ["a", "b"],
    ["1", "2"],
  ]);
  t.equal(csvRows("a\n".repeat(500), 100).length, 100);
  t.same(csvRows("", 10), []);
});
