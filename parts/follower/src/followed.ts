/** How far the follower is, as it notes it. Pure. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

const Instant = Type.Integer({ minimum: 0 });
const Followed = Type.Object({
  atMs: Instant,
  upToMs: Type.Union([Instant, Type.Null()]),
  failure: Type.Union([Type.String(), Type.Null()]),
});
export type Followed = Static<typeof Followed>;
const form = Compile(Followed);

/** Reads the follower's note; null for what is none. */
export function followedIn(text: string | null): Followed | null {
  try {
    const noted: unknown = JSON.parse(text ?? "null");
    return form.Check(noted) ? noted : null;
  } catch {
    return null;
  }
}
