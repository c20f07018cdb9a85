/** A scripted coordinator: speaks agent-protocol.ts over the real bus, holds one node's desired set, keeps what it is told. */
import { createServer, type Server } from "node:https";
import { hash, verify, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import {
  AGENT_PROTOCOL,
  AGENT_VERBS,
  type AgentVerb,
  agentSubject,
  BeatRequest,
  type DesiredMember,
  DesiredRequest,
  type InputCacheRule,
  type JoinReply,
  JoinRequest,
  type MemberReport,
  OutputCompleteRequest,
  OutputOpenRequest,
  OutputPartsRequest,
  PullTokenRequest,
  RegisterRequest,
  RenewRequest,
  ReportRequest,
  SignRequest,
  StageRequest,
  TailMessage,
  type TrialReply,
  TrialRequest,
} from "@resontech/contracts/agent-protocol";
import { parseRenewalToken, renewalBytes } from "@resontech/contracts/renewal-token";
import { compareFences, type Fence } from "@resontech/contracts/fence";
import { NodeEvents, type SignedNodeEvent } from "@resontech/contracts/node-audit";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { untilFound } from "@resontech/house/until-found";
import type { TestObjectStore } from "./object-store.ts";
import type { ValiditySpan, TestPki } from "@resontech/house/test-pki";

const SCHEMAS: Record<AgentVerb, TSchema> = {
  register: RegisterRequest,
  beat: BeatRequest,
  desired: DesiredRequest,
  report: ReportRequest,
  stage: StageRequest,
  sign: SignRequest,
  renew: RenewRequest,
  "pull-token": PullTokenRequest,
  trial: TrialRequest,
  "output-open": OutputOpenRequest,
  "output-parts": OutputPartsRequest,
  "output-complete": OutputCompleteRequest,
  audit: NodeEvents,
  tail: TailMessage,
};

class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

type Upload = { id: string; key: string; s3: string; parts: number };

export class CoordinatorPeer {
  readonly node: string;
  readonly registrations: RegisterRequest[] = [];
  readonly beats: BeatRequest[] = [];
  /** How often an operator has said that the node is well; null says nothing, as an older coordinator. */
  undrains: number | null = null;
  /** What the node may keep of inputs. */
  cache: InputCacheRule | null = null;
  /** Who vouches for the doors beside the root: told to an agent that says something else. */
  doorAuthorities = "";
  /** What the agent said for the audit log. */
  readonly signed: SignedNodeEvent[] = [];
  readonly reports: MemberReport[] = [];
  readonly tails: TailMessage[] = [];
  /** Requests that broke the contract; every test expects none. */
  readonly violations: string[] = [];
  readonly completed: string[] = [];
  /** With which image a worker is tried; null speaks an older version, which knows no trials. */
  trial: ((worker: string) => TrialReply) | null = null;
  /** Of the certificate that the join gives. */
  firstLife: ValiditySpan | undefined;
  /** How often the node renewed its certificate: over the bus, and late at the door. */
  readonly renewals = { bus: 0, door: 0 };
  leaseMs = 30_000;
  beatIntervalMs = 5_000;
  /** Answers no beat while set: a network that lost one direction. */
  isDeaf = false;
  /** The next answers to these verbs are this refusal, once each. */
  readonly refuseOnce = new Map<AgentVerb, string>();
  /** The next requests of these verbs are taken and never answered, once each: the coordinator was killed over them. */
  readonly silentOnce = new Set<AgentVerb>();
  /** These verbs are refused for a while, as by a store that is away. */
  readonly refuseAlways = new Set<AgentVerb>();
  readonly #pki: TestPki;
  readonly #store: TestObjectStore;
  readonly #token: string;
  readonly #natsUrl: string;
  readonly #host: string;
  #connection: NatsConnection | null = null;
  #api: Server | null = null;
  #isTokenUsed = false;
  #epoch: Fence = { generation: 1, counter: 0 };
  #desired: DesiredMember[] = [];
  #version = 1;
  #sequence = new Map<string, number>();
  #opened = 0;
  readonly #uploads = new Map<string, Upload>();

  constructor(options: {
    node: string;
    pki: TestPki;
    store: TestObjectStore;
    token: string;
    natsUrl: string;
    host: string;
  }) {
    this.node = options.node;
    this.#pki = options.pki;
    this.#store = options.store;
    this.#token = options.token;
    this.#natsUrl = options.natsUrl;
    this.#host = options.host;
  }

  /** Answers the URL of the API. */
  async start(): Promise<string> {
    this.#api = createServer(
      { cert: readFileSync(this.#pki.serverCertFile), key: readFileSync(this.#pki.serverKeyFile) },
      (request, response) => {
        let body = "";
        request.setEncoding("utf8").on("data", (chunk: string) => {
          body += chunk;
        });
        request.once("end", () => {
          void this.#join(JSON.parse(body)).then(([status, reply]) => {
            response
              .writeHead(status, { "content-type": "application/json" })
              .end(JSON.stringify(reply));
          });
        });
      },
    ).listen(0, this.#host);
    await once(this.#api, "listening");
    const address = this.#api.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    await this.connect();
    return `https://${this.#host}:${address.port}`;
  }

  async connect(): Promise<void> {
    const own = await this.#pki.identity("coordinator");
    const connection = await connect({
      servers: this.#natsUrl,
      tls: { ca: this.#pki.rootPem, cert: own.certPem, key: own.keyPem },
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
    });
    this.#connection = connection;
    for (const verb of AGENT_VERBS) {
      connection.subscribe(agentSubject(this.node, verb), {
        callback: (_error, message) => {
          void this.#answer(verb, message.json()).then((reply) => {
            if (reply !== null && message.reply !== undefined && message.reply !== "")
              message.respond(JSON.stringify(ofANewerRelease(reply)));
          });
        },
      });
    }
  }

  /** It is away: nobody answers. */
  async disconnect(): Promise<void> {
    await this.#connection?.close();
  }

  async stop(): Promise<void> {
    await this.#connection?.close();
    this.#api?.closeAllConnections();
    this.#api?.close();
  }

  /** Replaces the desired set and tells the node. */
  want(...members: DesiredMember[]): void {
    this.#desired = members;
    this.#version += 1;
    this.#connection?.publish(
      agentSubject(this.node, "hint"),
      JSON.stringify({ about: "desired" }),
    );
  }

  /** Voids the node's epoch, as another registration under its name would. */
  bumpEpoch(): void {
    this.#epoch = { ...this.#epoch, counter: this.#epoch.counter + 1 };
  }

  of(member: string): MemberReport["event"][] {
    return this.reports.filter((report) => report.member === member).map(({ event }) => event);
  }

  async event<K extends MemberReport["event"]["kind"]>(
    member: string,
    kind: K,
    timeoutMs = 90_000,
  ): Promise<Extract<MemberReport["event"], { kind: K }>> {
    try {
      return await untilFound(
        `${kind} of ${member}`,
        () =>
          this.of(member).find(
            (event): event is Extract<MemberReport["event"], { kind: K }> => event.kind === kind,
          ),
        timeoutMs,
      );
    } catch (error) {
      throw new Error(`${String(error)}; it told ${JSON.stringify(this.of(member))}`, {
        cause: error,
      });
    }
  }

  async #join(body: unknown): Promise<[number, unknown]> {
    if (!Value.Check(JoinRequest, body))
      return [400, { code: "validation_failed", message: "no join request", hint: "" }];
    const shown = parseRenewalToken(body.token);
    if (shown !== null) {
      const { publicKey } = new X509Certificate(shown.certificate);
      const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
      if (!verify("sha256", renewalBytes(hash("sha256", body.csr)), key, shown.signature))
        return [401, { code: "join_token_invalid", message: "not signed by its key", hint: "" }];
      this.renewals.door += 1;
      return [200, await this.#reply(body.csr)];
    }
    if (body.token !== this.#token || this.#isTokenUsed)
      return [
        401,
        {
          code: "join_token_invalid",
          message: "the join token is unknown, used or expired",
          hint: "",
        },
      ];
    this.#isTokenUsed = true;
    return [201, await this.#reply(body.csr, this.firstLife)];
  }

  async #reply(csr: string, life?: ValiditySpan): Promise<JoinReply> {
    return {
      node: this.node,
      certChain: await this.#pki.sign(csr, this.node, life),
      rootCert: this.#pki.rootPem,
      natsUrl: this.#natsUrl,
      registry: "unused",
    };
  }

  async #answer(verb: AgentVerb, request: unknown): Promise<unknown> {
    if (!Value.Check(SCHEMAS[verb], request)) {
      this.violations.push(
        `${verb}: ${JSON.stringify(Value.Errors(SCHEMAS[verb], request)[0])} in ${JSON.stringify(request).slice(0, 500)}`,
      );
      return { ok: false, error: { code: "invalid_request", message: "not of the agreed shape" } };
    }
    if (this.isDeaf || this.silentOnce.delete(verb)) return null;
    const refusal = this.refuseAlways.has(verb) ? "storage_unavailable" : this.refuseOnce.get(verb);
    this.refuseOnce.delete(verb);
    try {
      if (refusal !== undefined) throw new Refused(refusal);
      return { ok: true, ...(await this.#handle(verb, request)) };
    } catch (error) {
      if (!(error instanceof Refused)) this.violations.push(`${verb}: ${String(error)}`);
      return {
        ok: false,
        error: {
          code: error instanceof Refused ? error.code : "internal_error",
          message: String(error),
        },
      };
    }
  }

  async #handle(verb: AgentVerb, request: unknown): Promise<object> {
    if (verb === "register") {
      this.registrations.push(request as RegisterRequest);
      this.bumpEpoch();
      const { leaseMs, beatIntervalMs } = this;
      const protocol = this.trial === null ? {} : { protocol: AGENT_PROTOCOL.max };
      return { nodeEpoch: this.#epoch, leaseMs, beatIntervalMs, ...protocol };
    }
    if (verb === "tail") {
      this.tails.push(request as TailMessage);
      return {};
    }
    if (verb === "audit") {
      const { events } = request as NodeEvents;
      this.signed.push(...events);
      return { settledPseq: Number(JSON.parse(events.at(-1)!.event).pseq), refused: null };
    }
    const { nodeEpoch, ...rest } = request as { nodeEpoch: Fence; member?: string; fence?: Fence };
    if (compareFences(nodeEpoch, this.#epoch) !== 0) throw new Refused("stale_epoch");
    if (verb === "beat") {
      const beat = request as BeatRequest;
      this.beats.push(beat);
      return {
        nonce: beat.nonce,
        leaseMs: this.leaseMs,
        desiredVersion: this.#version,
        reregister: false,
        ...(this.undrains === null ? {} : { undrains: this.undrains }),
        ...(beat.trusts === undefined || beat.trusts === hash("sha256", this.doorAuthorities)
          ? {}
          : { doorAuthorities: this.doorAuthorities }),
      };
    }
    if (verb === "renew") {
      this.renewals.bus += 1;
      return { certChain: await this.#pki.sign((request as RenewRequest).csr, this.node) };
    }
    if (verb === "desired")
      return {
        ...{ version: this.#version, members: this.#desired },
        ...(this.cache === null ? {} : { cache: this.cache }),
      };
    if (verb === "report")
      return { results: (request as ReportRequest).reports.map((report) => this.#take(report)) };
    if (verb === "trial") {
      if (this.trial === null) throw new Refused("invalid_request");
      return this.trial((request as TrialRequest).worker);
    }
    const member = this.#fenced(rest.member ?? "", rest.fence ?? { generation: 0, counter: 0 });
    switch (verb) {
      case "stage":
        return {
          urls: await Promise.all(
            member.inputs.map(async ({ id }) => ({
              id,
              url: await this.#store.presign("GET", inputKey(id)),
            })),
          ),
          expiresInS: 3600,
        };
      case "sign":
        return {
          cert: await this.#pki.sign((request as SignRequest).csr, "member"),
          rootCert: this.#pki.rootPem,
        };
      case "pull-token":
        return { username: "node", password: "one-use" };
      case "output-open":
        return await this.#open(request as OutputOpenRequest);
      case "output-parts": {
        const upload = this.#upload((request as OutputPartsRequest).upload);
        return {
          urls: await Promise.all(
            (request as OutputPartsRequest).parts.map((part) => this.#partUrl(upload, part)),
          ),
        };
      }
      case "output-complete": {
        const upload = this.#upload((request as OutputCompleteRequest).upload);
        await this.#store.completeUpload(
          upload.key,
          upload.s3,
          (request as OutputCompleteRequest).etags,
        );
        this.completed.push(upload.key);
        return { versionId: null };
      }
    }
    throw new Refused("not_found");
  }

  async #open(request: OutputOpenRequest): Promise<object> {
    const key = `${{ output: "out", log: "logs", checkpoint: "ckpt" }[request.area ?? "output"]}/${request.key}`;
    this.#opened += 1;
    const upload = {
      id: `up-${this.#opened}`,
      key,
      s3: await this.#store.openUpload(key),
      parts: 1,
    };
    this.#uploads.set(upload.id, upload);
    return {
      upload: upload.id,
      partSizeBytes: 64 * 1024 * 1024,
      urls: [await this.#partUrl(upload, 1)],
    };
  }

  async #partUrl(upload: Upload, part: number): Promise<string> {
    return await this.#store.presign("PUT", upload.key, {
      partNumber: String(part),
      uploadId: upload.s3,
    });
  }

  #upload(id: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload === undefined) throw new Refused("not_found");
    return upload;
  }

  #fenced(member: string, fence: Fence): DesiredMember {
    const found = this.#desired.find((desired) => desired.member === member);
    if (found === undefined || compareFences(found.fence, fence) !== 0)
      throw new Refused("stale_fence");
    return found;
  }

  #take(report: MemberReport): "accepted" | "stale" {
    const desired = this.#desired.find(({ member }) => member === report.member);
    if (desired === undefined || compareFences(desired.fence, report.fence) !== 0) return "stale";
    const key = `${report.member} ${report.fence.generation}.${report.fence.counter}`;
    const last = this.#sequence.get(key) ?? 0;
    if (report.seq <= last) return "accepted";
    if (report.seq !== last + 1) {
      this.violations.push(`report ${report.seq} of ${report.member} follows ${last}`);
      throw new Refused("out_of_order");
    }
    this.#sequence.set(key, report.seq);
    this.reports.push(report);
    return "accepted";
  }
}

export function inputKey(id: string): string {
  return `in/${id}`;
}

/** The coordinator may be one release ahead: every object of an answer has a field more, which an agent passes over. */
function ofANewerRelease(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ofANewerRelease);
  if (typeof value !== "object" || value === null) return value;
  const known = Object.entries(value).map(
    ([name, one]) => [name, isMap(name) ? one : ofANewerRelease(one)] as const,
  );
  return { ...Object.fromEntries(known), ofANewerRelease: 1 };
}

/** Whose names are data. */
function isMap(name: string): boolean {
  return name === "environment";
}
