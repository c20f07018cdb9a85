import type { NatsConnection } from "@nats-io/transport-node";

/** Whether the bus can be spoken to now. The library reconnects by itself; its connection object says nothing of that. */
export class BusLink {
  isUp = true;

  constructor(connection: NatsConnection) {
    void this.#follow(connection);
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect" || type === "close" || type === "staleConnection")
        this.isUp = false;
      if (type === "reconnect") this.isUp = true;
    }
    this.isUp = false;
  }
}
