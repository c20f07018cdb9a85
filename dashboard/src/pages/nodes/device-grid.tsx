import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { WordChoice } from "../../ui/word-choice.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import {
  type FleetDevice,
  deviceLine,
  devicesIn,
  GRID_MEASURES,
  type GridMeasure,
  legendOf,
  nodeLine,
  type Shade,
  shadeOf,
} from "./device-shade.ts";
import styles from "./device-grid.module.css";

/** Tools of devices are asked once a minute. */
const ASKED_EVERY_MS = 60_000;
const [CELL, GAP, PER_ROW] = [14, 3, 8];

/** Every device of the fleet as one picture: what is idle, full, hot or out? */
export function DeviceGrid() {
  const [search, setSearch] = useSearchParams();
  const devices = useQuery({
    queryKey: ["devices"],
    queryFn: ({ signal }) => ask("GET", "/api/devices", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (devices.isPending) return <Skeleton rows={3} />;
  if (devices.isError)
    return <Failure error={devices.error} retry={() => void devices.refetch()} />;
  const nodes = devices.data.nodes
    .map((node) => ({ name: node.node, devices: devicesIn(node, devices.data.models) }))
    .filter((node) => node.devices.length > 0);
  if (nodes.length === 0) return null;
  const measure = measureIn(
    search.get("devices"),
    nodes.flatMap((node) => node.devices),
  );
  const choose = (next: GridMeasure) =>
    setSearch(
      (now) => {
        now.set("devices", next);
        return now;
      },
      { replace: true },
    );
  return (
    <Panel
      title="Devices"
      aside={
        <WordChoice label="Colour by" options={GRID_MEASURES} chosen={measure} onChoose={choose} />
      }
    >
      <Legend measure={measure} devices={nodes.flatMap((node) => node.devices)} />
      <ul className={styles["nodes"]}>
        {nodes.map(({ name, devices: own }) => (
          <li key={name} className={styles["node"]}>
            <Link
              href={`/nodes/${name}`}
              className={styles["link"]}
              aria-label={nodeLine(name, own)}
            >
              <span className={styles["name"]}>{name}</span>
              <Cells devices={own} measure={measure} />
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What devices do says most; where no tool tells it, who is free. */
function measureIn(asked: string | null, devices: readonly FleetDevice[]): GridMeasure {
  const known = GRID_MEASURES.find((measure) => measure === asked);
  if (known !== undefined) return known;
  return devices.some(({ usePercent }) => usePercent !== null) ? "use" : "state";
}

function Legend({ measure, devices }: { measure: GridMeasure; devices: readonly FleetDevice[] }) {
  const counts = Map.groupBy(devices, (device) => shadeOf(device, measure));
  return (
    <ul className={styles["legend"]} aria-label="What the shades mean">
      {legendOf(measure).map(({ shade, text }) => (
        <li key={shade}>
          <svg width={CELL} height={CELL} aria-hidden="true">
            <Cell x={0} y={0} shade={shade} />
          </svg>
          {text} <strong>{counts.get(shade)?.length ?? 0}</strong>
        </li>
      ))}
    </ul>
  );
}

function Cells({ devices, measure }: { devices: readonly FleetDevice[]; measure: GridMeasure }) {
  const across = Math.min(PER_ROW, devices.length);
  const down = Math.ceil(devices.length / PER_ROW);
  return (
    <svg width={across * (CELL + GAP) - GAP} height={down * (CELL + GAP) - GAP} aria-hidden="true">
      {devices.map((device, i) => (
        <g key={device.worker}>
          <title>{deviceLine(device)}</title>
          <Cell
            x={(i % PER_ROW) * (CELL + GAP)}
            y={Math.floor(i / PER_ROW) * (CELL + GAP)}
            shade={shadeOf(device, measure)}
            isOut={device.unfit !== null}
          />
        </g>
      ))}
    </svg>
  );
}

/** Who takes no work is crossed out, whatever the shade. */
function Cell({
  x,
  y,
  shade,
  isOut = shade === "out",
}: {
  x: number;
  y: number;
  shade: Shade;
  isOut?: boolean;
}) {
  const [left, right, top, bottom] = [x + 3, x + CELL - 3, y + 3, y + CELL - 3];
  return (
    <>
      <rect
        x={x + 0.5}
        y={y + 0.5}
        width={CELL - 1}
        height={CELL - 1}
        rx={2}
        data-shade={shade}
        className={styles["cell"]}
      />
      {isOut ? (
        <path
          d={`M${left} ${top}L${right} ${bottom}M${right} ${top}L${left} ${bottom}`}
          className={styles["cross"]}
        />
      ) : null}
    </>
  );
}
