import t from "tap";
import { evaluateServerMemory } from "../../../src/workloads/federation/server-memory.ts";

const GIB = 1024 ** 3;

t.same(evaluateServerMemory(4 * GIB, true, 20 * GIB), { again: true, bytes: 8 * GIB });
t.same(evaluateServerMemory(4 * GIB, true, 8 * GIB), { again: true, bytes: 8 * GIB });
t.match(evaluateServerMemory(4 * GIB, true, 7 * GIB), {
  again: false,
  message: /used up its 4\.0 GiB.*estimatedMemoryMb: 8192.*at most 7\.0 GiB on the largest node/,
});
const spent = evaluateServerMemory(8 * GIB, false, 20 * GIB);
t.match(spent, { again: false, message: /used up its 8\.0 GiB.*estimatedMemoryMb: 16384/ });
t.notMatch(spent, { message: /largest node/ }, "there is one with as much");
