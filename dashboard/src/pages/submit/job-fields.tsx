/** Fields that several forms have. */
import { STRATEGIES } from "@resontech/contracts/distributed-spec";
import { ASKED_CLASSES } from "@resontech/contracts/http-tasks";
import { MAX_WORKERS_EACH } from "@resontech/contracts/most-workers";
import { Field } from "../../ui/field.tsx";
import type { ClassWish, StrategyWish, WayWish } from "./class-wishes.ts";
import { mostMemory } from "./most-memory.ts";
import { useCatalogue } from "./use-catalogue.ts";

type Of = { value: string; onChange: (value: string) => void };

export function NameField({ value, onChange, hint }: Of & { hint?: string }) {
  return (
    <Field label="Name" {...(hint === undefined ? {} : { hint })}>
      <input
        required
        maxLength={200}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

export function PriceField(of: Of) {
  return (
    <NumberField
      {...of}
      label="Highest price (cents per device and hour)"
      hint="Empty: any price."
      min={0}
    />
  );
}

export function MinutesField(of: Of) {
  return (
    <NumberField {...of} label="Time limit (minutes)" hint="Empty: no limit of its own." min={1} />
  );
}

export function WorkersField(of: Of) {
  return (
    <NumberField
      {...of}
      label="Devices for each member"
      hint="Empty: one. Several are of one model on one node, and one container gets them all."
      min={1}
      max={MAX_WORKERS_EACH}
    />
  );
}

export function RanksField(of: Of) {
  return (
    <NumberField
      {...of}
      label="Ranks"
      hint="Empty: the script runs once. Several are started by torchrun, each on a device of its own."
      min={1}
      max={MAX_WORKERS_EACH}
    />
  );
}

/** Of a script with several ranks. */
export function StrategyField({
  value,
  onChange,
}: {
  value: StrategyWish;
  onChange: (value: StrategyWish) => void;
}) {
  return (
    <Field label="Strategy" hint="How the script shares the work: the script itself has to do it.">
      <select
        value={value}
        onChange={({ target }) => onChange(STRATEGIES.find((one) => one === target.value) ?? "")}
      >
        <option value="">not said: ddp</option>
        {STRATEGIES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </Field>
  );
}

export function CpusField(of: Of) {
  return (
    <NumberField
      {...of}
      label="Processors for each member"
      hint="Empty: its devices' part of the node, which is also the most."
      min={1}
      max={4_096}
    />
  );
}

export function HostMemoryField(of: Of) {
  return (
    <NumberField
      {...of}
      label="Memory of the node for each member (MiB)"
      hint="Empty: its devices' part of the node, which is also the most."
      min={256}
      max={16_777_216}
    />
  );
}

/** @property models catalogue ids with commas; empty: any */
export function MemoryField({ models, ...of }: Of & { models: string }) {
  const most = mostMemory(useCatalogue(), models);
  return (
    <NumberField
      {...of}
      label="Memory asked for (MiB)"
      hint={
        most === null
          ? "Empty: nothing is asked for."
          : `Empty: nothing is asked for. At most ${most.memoryMb}, as much as the largest worker has (${most.name}).`
      }
      min={1}
      {...(most === null ? {} : { max: most.memoryMb })}
    />
  );
}

export function ClassField({
  value,
  onChange,
}: {
  value: ClassWish;
  onChange: (value: ClassWish) => void;
}) {
  return (
    <Field
      label="Class"
      hint="Of one project the interactive jobs start first, and scavengers last. Who is started last makes way first."
    >
      <select
        value={value}
        onChange={({ target }) => onChange(ASKED_CLASSES.find((one) => one === target.value) ?? "")}
      >
        <option value="">as its kind: train</option>
        {/* Who submits here is no administrator, and alone those ask for it. */}
        {ASKED_CLASSES.filter((one) => one !== "system").map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function MakesWayField({
  value,
  onChange,
}: {
  value: WayWish;
  onChange: (value: WayWish) => void;
}) {
  return (
    <Field
      label="Makes way for others"
      hint="No: it starts only within what its project is guaranteed, and stays there."
    >
      <select
        value={value}
        onChange={({ target }) =>
          onChange(target.value === "no" ? "no" : target.value === "yes" ? "yes" : "")
        }
      >
        <option value="">as others do</option>
        <option value="yes">yes</option>
        <option value="no">no</option>
      </select>
    </Field>
  );
}

export function ArgumentsField(of: Of) {
  return <LinesField {...of} label="Arguments" hint="One a line." />;
}

export function EnvironmentField(of: Of) {
  return <LinesField {...of} label="Environment" hint="NAME=value, one a line." />;
}

function NumberField({
  value,
  onChange,
  label,
  hint,
  min,
  max,
}: Of & { label: string; hint: string; min: number; max?: number }) {
  return (
    <Field label={label} hint={hint}>
      <input
        type="number"
        min={min}
        max={max}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

function LinesField({ value, onChange, label, hint }: Of & { label: string; hint: string }) {
  return (
    <Field label={label} hint={hint}>
      <textarea rows={3} value={value} onChange={({ target }) => onChange(target.value)} />
    </Field>
  );
}
