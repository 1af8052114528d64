// Configuration of the broker process: the wiring of the manifests, and the addresses of functions.
import type { BrokerWiring, Destination, PingWiring, TriggerWiring } from '../manifests/wiring.ts';
import { keyOf } from '../manifests/wiring.ts';

export interface DeliveryConfig {
  readonly port: number;
  readonly brokers: readonly BrokerWiring[];
  readonly triggers: readonly TriggerWiring[];
  readonly pings: readonly PingWiring[];
  /** By `namespace/name`. */
  readonly services: Readonly<Record<string, ServiceAddress>>;
}

export interface ServiceAddress {
  readonly url: string;
  /** 0 is no limit. */
  readonly containerConcurrency: number;
  readonly timeoutSeconds: number;
}

export interface Addresses {
  readonly brokerUrl: string;
  readonly services: Readonly<Record<string, Pick<ServiceAddress, 'url'>>>;
}

/** Where a destination of the manifests is on this machine. */
export function urlOf(destination: Destination, { brokerUrl, services }: Addresses): string {
  if (destination.kind === 'uri') return destination.uri;
  const key = keyOf(destination);
  const isBroker = destination.kind === 'Broker';
  const base = isBroker ? `${brokerUrl}/${key}` : services[key]?.url;
  if (base === undefined) throw new Error(`no address is known for the Service ${key}`);
  return `${base.replace(/\/$/, '')}${destination.path ?? (isBroker ? '' : '/')}`;
}
