import t from "tap";
import { memoryByPart } from "../../../src/facts/decisions/memory-by-part.ts";

const parts = [
  { name: "postgres", pid: 10 },
  { name: "keycloak", pid: 20 },
  { name: "vault", pid: null },
];

t.test("a part has the memory of its process and of all that it started", async (t) => {
  const sums = memoryByPart(parts, [
    { pid: 1, parent: 0, residentBytes: 1 },
    { pid: 10, parent: 1, residentBytes: 100 },
    { pid: 11, parent: 10, residentBytes: 30 },
    { pid: 12, parent: 11, residentBytes: 7 },
    { pid: 20, parent: 1, residentBytes: 500 },
    { pid: 30, parent: 1, residentBytes: 9 },
  ]);
  t.same(
    [...sums],
    [
      ["postgres", 137],
      ["keycloak", 500],
    ],
  );
});

t.test("processes that name one another as parents end the search", async (t) => {
  const ring = [
    { pid: 40, parent: 41, residentBytes: 1 },
    { pid: 41, parent: 40, residentBytes: 1 },
  ];
  t.equal(memoryByPart(parts, ring).size, 0);
});
