// Puts broker, dispatcher, ping sources and ingress together.
import { once } from 'node:events';
import { type Clock, systemClock } from '../../../../shared/clock.ts';
import { keyOf } from '../manifests/wiring.ts';
import { Broker } from './broker.ts';
import type { DeliveryConfig } from './config.ts';
import { Dispatcher } from './dispatch.ts';
import { startPing } from './ping.ts';
import { Poster } from './post.ts';
import { createIngress } from './server.ts';
import { StatsBook } from './stats.ts';

export interface RunningDelivery {
  readonly url: string;
  /** Pending events are lost, as with an in-memory channel. */
  stop(): Promise<void>;
}

export async function startDelivery(
  config: DeliveryConfig,
  clock: Clock = systemClock,
): Promise<RunningDelivery> {
  const { brokers, triggers, pings, services } = config;
  const end = new AbortController();
  const { signal } = end;
  const poster = new Poster();
  const stats = new StatsBook(clock, triggers.map(keyOf), pings.map(keyOf));
  const brokerUrl = `http://127.0.0.1:${config.port}`;
  const shared = { poster, clock, stats, signal };
  const dispatcher = new Dispatcher({
    ...shared,
    config,
    brokerUrl,
    accept: (key, letter) => broker.accept(key, letter),
  });
  const { deliver } = dispatcher;
  const broker = new Broker({ brokers: brokers.map(keyOf), triggers, stats, clock, deliver });
  const server = createIngress(broker, stats).listen(config.port, '127.0.0.1');
  await once(server, 'listening');
  for (const ping of pings) startPing(ping, { ...shared, addresses: { brokerUrl, services } });
  return {
    url: brokerUrl,
    stop: async () => {
      end.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      poster.close();
      await closed;
    },
  };
}
