import t from "tap";
import { NoRoomToScrub, reasonOf, roomToScrub } from "../../src/scrub/scrub-room.ts";

const MIB = 1_048_576;
const PAGE = { pageBytes: 4_096 };
const SPARE = roomToScrub({ ...PAGE, pages: 0, freePages: 0, fileBytes: 0, logBytes: 0 });

t.test("what lives must fit twice more, what was deleted need not", async (t) => {
  const full = roomToScrub({
    ...PAGE,
    pages: 10_000,
    freePages: 0,
    fileBytes: 40_960_000,
    logBytes: 0,
  });
  t.ok(full >= 2 * 40_960_000 + SPARE && full < 2.02 * 40_960_000 + SPARE, `${full}`);
  const empty = roomToScrub({
    ...PAGE,
    pages: 10_000,
    freePages: 9_990,
    fileBytes: 40_960_000,
    logBytes: 0,
  });
  t.ok(empty < MIB / 8 + SPARE, `${empty}`);
});

t.test(
  "what the log of changes adds to the file needs room, and its own bytes are given back first",
  async (t) => {
    const written = roomToScrub({
      ...PAGE,
      pages: 10_000,
      freePages: 0,
      fileBytes: 40_960_000,
      logBytes: 0,
    });
    const size = { ...PAGE, pages: 10_000, freePages: 0 };
    t.equal(roomToScrub({ ...size, fileBytes: 40_000_000, logBytes: 0 }), written + 960_000);
    t.equal(
      roomToScrub({ ...size, fileBytes: 40_960_000, logBytes: 5_000_000 }),
      written - 5_000_000,
    );
    t.equal(
      roomToScrub({ ...size, fileBytes: 40_000_000, logBytes: 500_000_000 }),
      960_000 + SPARE,
      "it can't be lent before",
    );
  },
);

t.test("the same lack of room is one reason, however much is left", async (t) => {
  t.equal(reasonOf(new NoRoomToScrub(10, 1)), reasonOf(new NoRoomToScrub(10, 2)));
  t.equal(new NoRoomToScrub(10, 2).message, "no room: needs 10 bytes, 2 are free");
  t.equal(reasonOf(new Error("other")), "other");
});
