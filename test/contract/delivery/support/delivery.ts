// Our broker with a wiring that a test makes up, and the requests of a sender.
import { request } from 'undici';
import type { DeliveryConfig } from '../../../../knative/try/local/delivery/config.ts';
import {
  type RunningDelivery,
  startDelivery,
} from '../../../../knative/try/local/delivery/start.ts';
import type { DeliveryStats } from '../../../../knative/try/local/delivery/stats.ts';
import type {
  DeliverySpec,
  TriggerWiring,
} from '../../../../knative/try/local/manifests/wiring.ts';
import { freePort } from '../../../../knative/try/local/process/ports.ts';

export const EVENT: Readonly<Record<string, string>> = {
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/test',
  'ce-type': 'test.asked',
  'ce-subject': 'one',
  'content-type': 'application/json',
};

/** Retries at once, so that a test waits for nothing. */
export const AT_ONCE: DeliverySpec = { retries: 2 };

export function triggerOf(
  name: string,
  url: string,
  changes: Partial<TriggerWiring> = {},
): TriggerWiring {
  return {
    file: 'test',
    name,
    namespace: 'test',
    broker: 'default',
    filter: { dialect: 'attributes', values: {} },
    subscriber: { kind: 'uri', uri: url },
    delivery: AT_ONCE,
    ...changes,
  };
}

export class Delivery implements AsyncDisposable {
  readonly #running: RunningDelivery;

  private constructor(running: RunningDelivery) {
    this.#running = running;
  }

  static async start(
    triggers: readonly TriggerWiring[],
    changes: Partial<DeliveryConfig> = {},
  ): Promise<Delivery> {
    const broker = { file: 'test', namespace: 'test', name: 'default', delivery: AT_ONCE };
    const config = { brokers: [broker], triggers, pings: [], services: {}, ...changes };
    return new Delivery(await startDelivery({ port: await freePort(), ...config }));
  }

  get brokerUrl(): string {
    return `${this.#running.url}/test/default`;
  }

  get url(): string {
    return this.#running.url;
  }

  /** Returns the status. */
  async send(
    headers: Readonly<Record<string, string>> = EVENT,
    body: string | Buffer = '{"asked":true}',
    url: string = this.brokerUrl,
  ): Promise<number> {
    const { statusCode, body: answer } = await request(url, { method: 'POST', headers, body });
    await answer.dump();
    return statusCode;
  }

  async stats(): Promise<DeliveryStats> {
    const { body } = await request(`${this.#running.url}/stats`);
    return (await body.json()) as DeliveryStats;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.stop();
  }
}
