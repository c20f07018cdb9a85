/** What a node is and has, as its agent tells it. */
import { type Static, Type } from "typebox";
import { Bytes, Id } from "./agent-fields.ts";
import { closed } from "../closed.ts";

/** One schedulable slot. `id` is `<node>-<n>`; `model` is a catalogue id such as `rtx_4090` or `cpu`. */
export const InventoryWorker = Type.Object(
  {
    id: Id,
    kind: Type.Union([Type.Literal("gpu"), Type.Literal("cpu")]),
    model: Id,
    memoryBytes: Bytes,
    /** Device handle for the container engine (GPU UUID, /dev/dri path); absent for a CPU slot. */
    device: Type.Optional(Type.String({ maxLength: 256 })),
    vendor: Type.Optional(
      Type.Union([Type.Literal("nvidia"), Type.Literal("amd"), Type.Literal("intel")]),
    ),
    healthy: Type.Boolean(),
    /** What code the device runs, as its vendor counts: compute capability `8.6`, `gfx942`. Absent for a CPU slot, and where the tool does not say. */
    architecture: Type.Optional(Type.String({ pattern: "^[a-z0-9.-]{1,32}$" })),
    /** Version of the vendor's driver: `580.95.05`. */
    driver: Type.Optional(Type.String({ pattern: "^[0-9A-Za-z.+~-]{1,64}$" })),
    /** It is not healthy because its trial has not ended yet. */
    onTrial: Type.Optional(Type.Boolean()),
    /** Why it is not healthy, for people. */
    reason: Type.Optional(Type.String({ maxLength: 512 })),
    pciAddress: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$" }),
    ),
    /** Processors and memory that are near to it; absent on a machine of one NUMA node. */
    numaNode: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
    /** Which of the product's hardware requirements it meets with its host; below the least it is `unverified`. Absent for a CPU slot. */
    grade: Type.Optional(
      Type.Union([Type.Literal("recommended"), Type.Literal("least"), Type.Literal("unverified")]),
    ),
    /** What it lacks for the least, or else for what is recommended. For people. */
    shortOf: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16 })),
  },
  closed,
);
export type InventoryWorker = Static<typeof InventoryWorker>;

export const Inventory = Type.Object(
  {
    hostname: Type.String({ maxLength: 255 }),
    os: Type.String({ maxLength: 255 }),
    kernel: Type.String({ maxLength: 255 }),
    cpuModel: Type.String({ maxLength: 255 }),
    cpuCores: Type.Integer({ minimum: 1 }),
    memoryBytes: Bytes,
    diskFreeBytes: Bytes,
    containerEngine: Type.String({ maxLength: 255 }),
    workers: Type.Array(InventoryWorker, { maxItems: 1024 }),
    /** Network devices that are up and say their speed. */
    links: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Id,
            kind: Type.Union([Type.Literal("ethernet"), Type.Literal("infiniband")]),
            megabits: Type.Integer({ minimum: 1 }),
          },
          closed,
        ),
        { maxItems: 64 },
      ),
    ),
    /** How NVIDIA's devices reach each other, by their order on the bus: `NV18` is 18 NVLinks, `SYS` the way between NUMA nodes. */
    topology: Type.Optional(
      Type.Array(
        Type.Object(
          {
            from: Type.Integer({ minimum: 0, maximum: 1024 }),
            to: Type.Integer({ minimum: 0, maximum: 1024 }),
            link: Type.String({ pattern: "^[A-Z0-9]{1,8}$" }),
          },
          closed,
        ),
        { maxItems: 512 },
      ),
    ),
  },
  closed,
);
export type Inventory = Static<typeof Inventory>;
