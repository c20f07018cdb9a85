import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  Autocomplete,
  Dialog,
  Input,
  Label,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  TextField,
} from "react-aria-components";
import { useLocation } from "wouter";
import { ask } from "../api/ask.ts";
import { useMay, useSession } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { PAGES } from "./pages.ts";
import { GO, shortcutOf } from "./shortcut-of.ts";
import { areSingleKeysOn, setSingleKeys, useSingleKeys } from "./single-keys.ts";
import styles from "./palette.module.css";

const FIELDS = "input, select, textarea, [contenteditable]";
const SECOND_KEY_MS = 1_500;
const TYPED_MS = 200;

/** Everywhere by keyboard: Ctrl+K asks where to, single keys go there. */
export function Palette() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const [, go] = useLocation();
  useEffect(() => {
    let gAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      // Not the event's target: a list hands on to its chosen line what is typed in its field.
      const inField = document.activeElement?.matches(FIELDS) === true;
      const pressed = { key: event.key, withControl: event.ctrlKey || event.metaKey, inField };
      const isAfterG = event.timeStamp - gAt < SECOND_KEY_MS;
      const shortcut = shortcutOf(pressed, isAfterG, areSingleKeysOn());
      gAt = shortcut?.kind === "prefix" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (shortcut === null || shortcut.kind === "prefix") return;
      event.preventDefault();
      if (shortcut.kind === "go") go(shortcut.path);
      else if (shortcut.kind === "search")
        document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
      else setOpen(shortcut.kind);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [go]);
  const close = () => setOpen(null);
  return (
    <ModalOverlay
      className={styles["overlay"] ?? ""}
      isOpen={open !== null}
      isDismissable
      onOpenChange={(isOpen) => {
        if (!isOpen) close();
      }}
    >
      <Modal className={styles["modal"] ?? ""}>
        {open === "help" ? <Help onClose={close} /> : <Where onGone={close} />}
      </Modal>
    </ModalOverlay>
  );
}

type Place = { id: string; title: string; kind: string };

function Where({ onGone }: { onGone: () => void }) {
  const { may } = useSession();
  const mayList = useMay("job.list");
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const jobs = useQuery({
    queryKey: ["palette", asked],
    queryFn: ({ signal }) => ask("GET", "/api/jobs", { query: { limit: 8, text: asked }, signal }),
    enabled: mayList,
    // A list that empties at each key would take the choice away from under the fingers.
    placeholderData: keepPreviousData,
  });
  const deployments = useQuery({
    queryKey: ["palette", "deployments", asked],
    queryFn: ({ signal }) =>
      ask("GET", "/api/inference/jobs", { query: { limit: 4, text: asked }, signal }),
    enabled: mayList,
    // A list that empties at each key would take the choice away from under the fingers.
    placeholderData: keepPreviousData,
  });
  const wanted = text.toLowerCase();
  const places: Place[] = [
    { id: "/", title: "Overview", kind: "page" },
    ...PAGES.filter(({ actions }) => actions.some((action) => may.includes(action))).map(
      ({ path, title }) => ({ id: path, title, kind: "page" }),
    ),
  ].filter(({ title }) => title.toLowerCase().includes(wanted));
  const found: Place[] = [
    ...(jobs.data?.jobs ?? []).map(({ id, name }) => ({
      ...{ id: `/jobs/${id}`, title: name, kind: "job" },
    })),
    ...(deployments.data?.deployments ?? []).map(({ id, name }) => ({
      ...{ id: `/inference/jobs/${id}`, title: name, kind: "deployment" },
    })),
  ].filter(({ id, title }) => `${title} ${id}`.toLowerCase().includes(wanted));
  return (
    <Dialog aria-label="Where to" className={styles["dialog"] ?? ""}>
      <Autocomplete inputValue={text} onInputChange={setText}>
        <TextField autoFocus className={styles["field"] ?? ""}>
          <Label className="unseen">Page or job</Label>
          <Input placeholder="Page or job" className={styles["input"] ?? ""} />
        </TextField>
        <Menu
          aria-label="Places"
          className={styles["menu"] ?? ""}
          items={[...places, ...found]}
          onAction={(key) => {
            onGone();
            go(String(key));
          }}
        >
          {({ id, title, kind }) => (
            <MenuItem id={id} textValue={title} className={styles["item"] ?? ""}>
              {title} <span className={styles["kind"]}>{kind}</span>
            </MenuItem>
          )}
        </Menu>
      </Autocomplete>
    </Dialog>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const isOn = useSingleKeys();
  return (
    <Dialog aria-label="Keys" className={styles["dialog"] ?? ""}>
      <h2>Keys</h2>
      <dl className={styles["keys"]}>
        <dt>Ctrl+K</dt>
        <dd>where to</dd>
        <dt>/</dt>
        <dd>the search of the page</dd>
        <dt>?</dt>
        <dd>these keys</dd>
        {Object.entries(GO).map(([key, [, title]]) => (
          <div key={key} className={styles["pair"]}>
            <dt>g {key}</dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label>
          <input
            type="checkbox"
            checked={isOn}
            onChange={({ target }) => setSingleKeys(target.checked)}
          />{" "}
          Single keys lead somewhere
        </label>
      </p>
      <Button onPress={onClose}>Close</Button>
    </Dialog>
  );
}
