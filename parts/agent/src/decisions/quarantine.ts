/**
 * Which devices are kept from work until somebody or something has proven them well: a reset that the driver told of, a restart of the
 * machine, or an operator's word. What the vendor's tool says of a device comes on top. Pure.
 */
import { type Static, Type } from "typebox";
import { InventoryWorker } from "@resontech/contracts/agent-protocol";
import type { KernelEvent } from "./kernel-faults.ts";

const closed = { additionalProperties: false } as const;
const { model, memoryBytes } = InventoryWorker.properties;

/** What is known of a device when it can't be asked any more. */
const SeenDevice = Type.Object(
  {
    model,
    memoryBytes,
    device: Type.String({ maxLength: 256 }),
    vendor: Type.Union([Type.Literal("nvidia"), Type.Literal("amd"), Type.Literal("intel")]),
    bus: Type.Union([Type.String({ maxLength: 16 }), Type.Null()]),
  },
  closed,
);
export type SeenDevice = Static<typeof SeenDevice>;

/** `quarantine.json` in the agent's data folder. */
export const Quarantine = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** The start of the machine that all of this is of. */
    bootId: Type.String({ maxLength: 64 }),
    /** The last record of the kernel's log that counted; older ones do not count again. */
    sequence: Type.Integer({ minimum: -1 }),
    /** How often an operator had said that the node is well; null before that was heard of. */
    undrains: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    /** Devices that were there since the start. */
    seen: Type.Array(SeenDevice, { maxItems: 1024 }),
    entries: Type.Array(
      Type.Object(
        { device: Type.String({ maxLength: 256 }), reason: Type.String({ maxLength: 256 }) },
        closed,
      ),
      { maxItems: 1024 },
    ),
  },
  closed,
);
export type Quarantine = Static<typeof Quarantine>;

export const LOST =
  "it is lost: the machine has had it since its start, and its tool does not list it any more";

/** @param kept what a former process wrote; null when there is none. A restart of the machine is a proof: its entries go. */
export function quarantineAtStart(kept: Quarantine | null, bootId: string): Quarantine {
  if (kept?.bootId === bootId) return kept;
  const fresh = { formatVersion: 1, bootId, sequence: -1, seen: [], entries: [] } as const;
  return { ...fresh, seen: [], entries: [], undrains: kept?.undrains ?? null };
}

/** Takes a record of the kernel's log into account. The first reason of a device stays: what follows is its consequence. */
export function afterKernelEvent(state: Quarantine, event: KernelEvent): Quarantine {
  if (event.sequence <= state.sequence) return state;
  const hit = state.seen.filter(({ bus, vendor }) => bus === event.bus && vendor === event.vendor);
  const devices = new Set(hit.map(({ device }) => device));
  const others = state.entries.filter((entry) => !devices.has(entry.device));
  const own = state.entries.filter((entry) => devices.has(entry.device));
  const entries =
    event.kind === "reset"
      ? others
      : [
          ...others,
          ...[...devices].map(
            (device) =>
              own.find((entry) => entry.device === device) ?? { device, reason: event.reason },
          ),
        ];
  return { ...state, sequence: event.sequence, entries };
}

/**
 * After a look by the vendors' tools. A device that was there is lost when its tool, which answers, lists it no more. Parts of a device
 * are made and taken away by its operator: they are never lost.
 */
export function afterLook(
  state: Quarantine,
  found: readonly SeenDevice[],
  silentVendors: ReadonlySet<string>,
): Quarantine {
  const there = new Set(found.map(({ device }) => device));
  const missing = state.seen.filter(({ device }) => !there.has(device));
  const kept = missing.filter(({ device }) => !isPart(device));
  const lost = kept.filter(
    ({ device, vendor }) =>
      !silentVendors.has(vendor) && !state.entries.some((entry) => entry.device === device),
  );
  const seen = [...found, ...kept];
  const entries = [
    ...state.entries.filter(({ device }) => seen.some((one) => one.device === device)),
    ...lost.map(({ device }) => ({ device, reason: LOST })),
  ];
  return { ...state, seen, entries };
}

/** Takes an operator's word into account, which is that all devices are well; those that are gone are forgotten. */
export function afterUndrain(
  state: Quarantine,
  undrains: number,
  there: ReadonlySet<string>,
): Quarantine {
  if (state.undrains === undrains) return state;
  // The first number that is heard says nothing of now.
  if (state.undrains === null) return { ...state, undrains };
  return {
    ...state,
    undrains,
    entries: [],
    seen: state.seen.filter(({ device }) => there.has(device)),
  };
}

function isPart(device: string): boolean {
  return device.startsWith("MIG-");
}
