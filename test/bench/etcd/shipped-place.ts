// EtcdClusters on real etcds as processes, where time may be measured: both functions by the clock
// as it is, woken by what ships (Knative's adapters, a broker, a tick each minute), and a kubelet
// that probes as often as pods say.
import { resolve } from 'node:path';
import { brokerPart } from '../../../knative/try/local/delivery/part.ts';
import { leaveOut } from '../../../knative/try/local/manifests/leave-out.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import {
  type ApiServerSourceWiring,
  type DeliverySpec,
  keyOf,
  type Wiring,
} from '../../../knative/try/local/manifests/wiring.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { adapterPart } from '../../../knative/try/local/plane/adapter.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { systemClock } from '../../../shared/clock.ts';
import { EtcdPlace } from '../../integration/etcd-cluster/etcd-place.ts';

const MANIFESTS = resolve(import.meta.dirname, '../../../knative');
const FUNCTIONS: readonly string[] = ['etcd-cluster', 'etcd-peer'];
/** As their manifests say. */
const WORK_SECONDS = 20;

export async function startShippedPlace(): Promise<EtcdPlace> {
  const place = await EtcdPlace.start({
    clock: systemClock,
    workSeconds: WORK_SECONDS,
    isPunctual: true,
    isWokenByEvents: true,
  });
  try {
    await startDelivery(place, await wiringOfEtcd());
    return place;
  } catch (error) {
    await place.stop();
    throw error;
  }
}

async function wiringOfEtcd(): Promise<Wiring> {
  const wiring = await loadWiring(MANIFESTS);
  const others = wiring.functions.map(({ name }) => name).filter((one) => !FUNCTIONS.includes(one));
  return others.reduce(leaveOut, wiring);
}

/** Nobody takes events that were given up. */
const withoutDeadLetters = <Of extends { readonly delivery: DeliverySpec }>(of: Of): Of => {
  const { deadLetterSink: _, ...delivery } = of.delivery;
  return { ...of, delivery };
};

async function startDelivery(place: EtcdPlace, wiring: Wiring): Promise<void> {
  const services = wiring.functions.map((one) => {
    const { name, containerConcurrency, timeoutSeconds } = one;
    const url = `http://127.0.0.1:${place.portOf(name)}`;
    return [keyOf(one), { url, containerConcurrency, timeoutSeconds }] as const;
  });
  const spec = await brokerPart(place.plane.dir, {
    port: await freePort(),
    brokers: wiring.brokers.map(withoutDeadLetters),
    triggers: wiring.triggers.map(withoutDeadLetters),
    pings: wiring.pings,
    services: Object.fromEntries(services),
  });
  const { url } = await place.plane.add(spec);
  for (const source of wiring.sources) await startAdapter(place, source, url);
}

async function startAdapter(
  place: EtcdPlace,
  source: ApiServerSourceWiring,
  brokerUrl: string,
): Promise<void> {
  const { namespace, serviceAccountName: name, sink } = source;
  if (sink.kind === 'uri') throw new Error(`${source.file} names an address of its own`);
  const spec = adapterPart(source, {
    binary: await resolvePart('apiserver_receive_adapter'),
    kubeconfigPath: await place.kubeconfigOf({ namespace, name }),
    sinkUrl: `${brokerUrl}/${keyOf(sink)}`,
    profilingPort: await freePort(),
  });
  await place.plane.add(spec);
}
