import {
  trainingWords,
  fixedWords,
  SHARDING_WORDS,
  shapeWords,
  verdictWords,
} from "@resontech/contracts/advice-words";
import {
  type AdviceReply,
  type DeviceAdvice,
  KEPT_ACTIVATIONS,
  type ShardingEstimate,
} from "@resontech/contracts/http-advice";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Facts, Row } from "../../ui/panel.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import styles from "./submit.module.css";

/** @property model that they are to have */
export type AdvisedRanks = NonNullable<DeviceAdvice["advised"]> & { model: string };

const MIB = 1024 ** 2;

type TableRow = AdviceReply["table"][number];
const TABLE: Column<TableRow>[] = [
  { title: "Model", narrow: "main", of: ({ model }) => model },
  { title: "GPUs", narrow: "below", of: ({ from, to }) => `${from} to ${to}` },
  { title: "Strategy", narrow: "below", of: ({ strategy }) => strategy },
];

const ESTIMATES: Column<ShardingEstimate>[] = [
  { title: "Strategy", narrow: "main", of: ({ sharding }) => SHARDING_WORDS[sharding] },
  { title: "Fits", narrow: "below", of: (one) => verdictWords(one, bytes) },
  { title: "Fixed", of: (one) => fixedWords(one, bytes), isNumber: true },
  { title: "Micro-batch", of: batchWords, isNumber: true },
  {
    title: "Fewest",
    narrow: "below",
    of: ({ leastDevices: few }) => few ?? "none",
    isNumber: true,
  },
];

function batchWords({ microBatch }: ShardingEstimate): string {
  return microBatch === null
    ? "unknown"
    : KEPT_ACTIVATIONS.map((kept) => microBatch[kept]).join(" · ");
}

/** The table that is published, then what each kind of device here makes of it, marked as an estimate. */
export function AdviceAnswer({
  advice,
  taken,
  onTake,
}: {
  advice: AdviceReply;
  taken: AdvisedRanks | null;
  onTake: (advised: AdvisedRanks) => void;
}) {
  return (
    <div className={styles["stack"]}>
      <p>
        {trainingWords(advice)}. Shape: {shapeWords(advice)}.
      </p>
      <Table
        caption="Strategies by size, as ResonTech publishes them"
        columns={TABLE}
        rows={advice.table}
        keyOf={({ row }) => row}
      />
      {advice.devices.length === 0 ? <p>No worker is online here to estimate for.</p> : null}
      {advice.devices.map((device) => (
        <DeviceAnswer key={device.model} {...{ advice, device, taken, onTake }} />
      ))}
      <ul className={styles["small"]}>
        {advice.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

function DeviceAnswer({
  advice,
  device,
  taken,
  onTake,
}: {
  advice: AdviceReply;
  device: DeviceAdvice;
  /** What stands in the form by a press of the button. */
  taken: AdvisedRanks | null;
  onTake: (advised: AdvisedRanks) => void;
}) {
  const { model, name, kind, memoryMb, online, row, why, advised, advisedWhy, estimates } = device;
  const found = advice.table.find((one) => one.row === row);
  const [estimate] = estimates;
  return (
    <section className={styles["stack"]} aria-label={`Advice for ${name}`}>
      <h3>
        {name}
        {memoryMb === 0 ? null : `, ${bytes(memoryMb * MIB)}`}: {online} online
      </h3>
      <Facts
        facts={[
          [
            "Table",
            found === undefined
              ? `No row. ${why}`
              : `${found.model}: ${found.from} to ${found.to} GPUs, ${found.strategy}. ${why}`,
          ],
          [
            "Here",
            advised === null
              ? `Nothing that fits. ${advisedWhy}`
              : `${advised.workers} ranks, ${advised.strategy}. ${advisedWhy}`,
          ],
          ...(estimate === undefined
            ? []
            : [
                [
                  "Estimate of ours",
                  `For ${estimate.devices} ${kind === "gpu" ? "GPUs" : "slots"}, ${bytes(estimate.roomBytes)} of each for the training.`,
                ] as const,
              ]),
        ]}
      />
      {advised === null ? null : (
        <Row>
          <Button onPress={() => onTake({ ...advised, model })}>
            Take {advised.workers} ranks and {advised.strategy} into the form
          </Button>
          <span role="status" className={styles["small"]}>
            {taken?.model === model
              ? `Taken into the form: ${taken.workers} ranks on ${model}, ${taken.strategy}.`
              : null}
          </span>
        </Row>
      )}
      {estimates.length === 0 ? null : (
        <>
          <p className={styles["small"]}>
            Fixed is what one device needs whatever the batch. The largest micro-batch is told three
            times: with plain attention, with a fused one, and with checkpointing of activations.
            Fewest are the devices that would do.
          </p>
          <Table
            caption={`Estimate for ${name}`}
            columns={ESTIMATES}
            rows={estimates}
            keyOf={({ sharding }) => sharding}
          />
        </>
      )}
    </section>
  );
}
