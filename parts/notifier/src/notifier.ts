/** Takes alerts from Prometheus to people, and mails of the coordinator to whom they are for. */
import type { FiringAlert } from "@resontech/contracts/appliance-facts";
import type { AlertTarget, SmtpTarget } from "./alert-targets.ts";
import type { NotifierConfig } from "./config.ts";
import type { PersonalMail, TargetState } from "./operations.ts";
import type { Logger } from "pino";
import { PROMETHEUS_UNREACHABLE } from "./prometheus-unreachable.ts";
import { type Alert, alertOf, firingAlert, type News } from "./decisions/alert.ts";
import { delivered, EMPTY_QUEUE, failed, isDue, withNews } from "./decisions/delivery-queue.ts";
import { followAlerts } from "./decisions/follow-alerts.ts";
import { idOf, mailOf, type Sender, syslogMessages, webhookBody } from "./decisions/messages.ts";
import { connectionError, DeliveryError } from "./delivery-error.ts";
import { type AlertsNow, readAlerts } from "./read-alerts.ts";
import { readAlertTargets } from "./alert-targets-file.ts";
import { type NotifierState, StateFile } from "./state-file.ts";
import { sendMail } from "./targets/send-mail.ts";
import { sendSyslog } from "./targets/send-syslog.ts";
import { sendWebhook } from "./targets/send-webhook.ts";

/** A Prometheus that starts may be silent for so long. */
const SILENT_MS = 2 * 60_000;

export type NotifierOptions = {
  config: NotifierConfig;
  /** Its own folder: what was told to whom. */
  dataDir: string;
  log: Logger;
  now?: () => number;
  /** How long Prometheus may be silent before people hear of it. @default 2 min */
  silentMs?: number;
};

export class Notifier {
  readonly #config: NotifierConfig;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #silentMs: number;
  readonly #file: StateFile;
  readonly #sender: Sender;
  #state: NotifierState;
  #lastAnswer: number;
  #targets: readonly AlertTarget[] = [];

  constructor({ config, dataDir, log, now = Date.now, silentMs = SILENT_MS }: NotifierOptions) {
    this.#config = config;
    this.#log = log;
    this.#now = now;
    this.#silentMs = silentMs;
    this.#sender = config;
    this.#file = new StateFile(dataDir);
    this.#state = this.#file.read();
    this.#lastAnswer = now();
  }

  /** One look: what is new is on the disk before anybody is told, and who was told afterwards. */
  async look(): Promise<void> {
    this.#readTargets();
    const now = this.#now();
    const { firing, active } = await this.#alerts(now);
    const { known, news } = followAlerts(this.#state.known, firing, active, now);
    const inForce = Object.values(known).map(
      ({ alert }): News => ({ status: "firing", alert, at: now }),
    );
    const queues = Object.fromEntries(
      this.#targets.map(({ name }) => {
        const before = this.#state.queues[name];
        // Who is new hears of all that is in force.
        return [
          name,
          before === undefined ? withNews(EMPTY_QUEUE, inForce) : withNews(before, news),
        ];
      }),
    );
    this.#keep({ known, queues });
    await Promise.all(this.#targets.map((target) => this.#deliver(target)));
  }

  status(): { targets: TargetState[]; firing: number; alerts: FiringAlert[] } {
    this.#readTargets();
    return {
      targets: this.#targets.map(({ name, kind }) => {
        const { pending, dropped, deliveredAt, failure } = this.#state.queues[name] ?? EMPTY_QUEUE;
        return { name, kind, waiting: pending.length, dropped, deliveredAt, failure };
      }),
      firing: Object.keys(this.#state.known).length,
      alerts: Object.values(this.#state.known).map(({ alert }) => firingAlert(alert)),
    };
  }

  /** A message that says that it is a try. @throws DeliveryError */
  async test(name: string): Promise<void> {
    this.#readTargets();
    const target = this.#targets.find((one) => one.name === name);
    if (target === undefined) throw new DeliveryError("no_target", `no target is named ${name}`);
    await this.#send(target, [testNews(this.#now())], 0);
  }

  /** One mail to one person, by the first target that sends mail. @throws DeliveryError */
  async mail({ to, subject, text }: PersonalMail): Promise<void> {
    this.#readTargets();
    const target = this.#targets.find((one): one is SmtpTarget => one.kind === "smtp");
    if (target === undefined) throw new DeliveryError("no_target", "no target sends mail");
    const mail = { to: [to], subject: `[${this.#config.appliance}] ${subject}`, text };
    await sendMail(target, this.#config, mail);
  }

  /** A file that is wrong changes nothing. */
  #readTargets(): void {
    try {
      this.#targets = readAlertTargets(this.#config.targetsFile);
    } catch (err) {
      this.#log.error({ err }, "the targets of alerts can't be read; those of before go on");
    }
  }

  async #alerts(now: number): Promise<{ firing: Alert[]; active: AlertsNow["active"] | null }> {
    try {
      const alerts = await readAlerts(this.#config.prometheus);
      this.#lastAnswer = now;
      return alerts;
    } catch (err) {
      const silentMs = now - this.#lastAnswer;
      this.#log.warn({ err, silentMs }, "Prometheus does not say what is in force");
      return {
        firing: silentMs >= this.#silentMs ? [unreachable(this.#lastAnswer)] : [],
        active: null,
      };
    }
  }

  async #deliver(target: AlertTarget): Promise<void> {
    const { name } = target;
    const queue = this.#state.queues[name] ?? EMPTY_QUEUE;
    if (!isDue(queue, this.#now())) return;
    const { pending, dropped } = queue;
    try {
      await this.#send(target, pending, dropped);
      this.#keepQueue(name, (current) => delivered(current, pending, this.#now()));
      this.#log.info({ target: name, news: pending.length }, "told");
    } catch (error) {
      const failure = connectionError(error);
      this.#keepQueue(name, (current) => failed(current, failure, this.#now()));
      this.#log.warn(
        { target: name, code: failure.code, err: failure },
        "not told; tried again later",
      );
    }
  }

  async #send(target: AlertTarget, news: readonly News[], dropped: number): Promise<void> {
    const sender = this.#sender;
    if (target.kind === "smtp")
      await sendMail(target, this.#config, { ...mailOf(news, dropped, sender), to: target.to });
    else if (target.kind === "syslog")
      await sendSyslog(target, this.#config, syslogMessages(news, sender));
    else {
      const at = this.#now();
      const body = webhookBody(news, dropped, sender, at);
      await sendWebhook(target, this.#config, { id: idOf(news), body, at });
    }
  }

  #keepQueue(name: string, change: (queue: typeof EMPTY_QUEUE) => typeof EMPTY_QUEUE): void {
    const { known, queues } = this.#state;
    this.#keep({ known, queues: { ...queues, [name]: change(queues[name] ?? EMPTY_QUEUE) } });
  }

  /** What can't be written is still told: a full disk is what people must hear of. */
  #keep(state: NotifierState): void {
    this.#state = state;
    try {
      this.#file.write(state);
    } catch (err) {
      this.#log.error({ err }, "what was told can't be kept; a restart may tell it twice");
    }
  }
}

function unreachable(since: number): Alert {
  const { alert: alertname, severity, ...annotations } = PROMETHEUS_UNREACHABLE;
  const activeAt = new Date(since).toISOString();
  return alertOf({ labels: { alertname, severity }, annotations, activeAt })!;
}

function testNews(now: number): News {
  const alert = alertOf({
    labels: { alertname: "Test", severity: "test" },
    annotations: {
      summary: "This is a try of this target; nothing is wrong.",
      ...{ todo: "Nothing.", runbook: "docs/operator/runbooks/README.md" },
    },
    activeAt: new Date(now).toISOString(),
  })!;
  return { status: "firing", alert, at: now };
}
