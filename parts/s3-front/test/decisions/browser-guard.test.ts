import t from "tap";
import { guarded, withoutCookies } from "../../src/decisions/browser-guard.ts";

const GUARD = [
  ...["Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'"],
  ...["X-Content-Type-Options", "nosniff"],
];

t.test("cookies of any spelling are left out, and nothing else", async (t) => {
  t.same(withoutCookies(["Host", "a", "COOKIE", "__Host-rt=1", "cookie", "b=2", "X-Cookie", "c"]), [
    ...["Host", "a", "X-Cookie", "c"],
  ]);
});

t.test("what is read is an attachment in a sandbox", async (t) => {
  t.same(guarded(["Content-Type", "text/html"], "GET"), [
    ...["Content-Type", "text/html", ...GUARD, "Content-Disposition", "attachment"],
  ]);
  const disposition = (...said: string[]) =>
    guarded(
      said.flatMap((value) => ["content-disposition", value]),
      "GET",
    ).at(-1);
  t.equal(disposition('attachment; filename="a.pdf"'), 'attachment; filename="a.pdf"');
  t.equal(disposition("Attachment"), "Attachment");
  for (const other of ["inline", "inline; filename=a", "attachments", "", "x; attachment"])
    t.equal(disposition(other), "attachment", other);
  t.equal(disposition("attachment; filename=a", "inline"), "attachment", "two of them");
});

t.test("what a user stored as a header of the guard takes no place of it", async (t) => {
  const stored = [
    ...["content-security-policy", "default-src *", "x-content-type-options", "sniff"],
    ...["Set-Cookie", "__Host-rt=stolen"],
  ];
  t.same(guarded(stored, "PUT"), GUARD);
  t.same(guarded(["Content-Disposition", "inline"], "HEAD"), [
    ...["Content-Disposition", "inline", ...GUARD],
  ]);
});
