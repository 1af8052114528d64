// StatefulSet shop/old as Helm made it of the chart `nats`, with three servers, in the world of
// takeovers, and Takeover shop/over of it. A test says what differs.
import { PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import {
  chartConfig,
  chartConfigMap,
  chartPod,
  chartServices,
  chartStatefulSet,
} from '../../builders/legacy-chart.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { namespace, putTakeover, world } from './world.ts';

export const place = { namespace, name: 'old' };
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
export const LOGIN = { user: 'web', password: 'known to nobody else' };
const VERSION = '2.14.9';

const oldIpOf = (pod: string): string => `10.0.1.${pod.at(-1)}`;

interface Differs {
  readonly config?: object;
  readonly set?: Parameters<typeof chartStatefulSet>[1];
  readonly into?: object;
}

export function beginChart({ config = {}, set = {}, into = {} }: Differs = {}): void {
  world.kube = new KubeModel();
  world.servers = new Map();
  world.kube.put(STATEFUL_SETS, chartStatefulSet(place, set));
  for (const service of chartServices(place)) world.kube.put(SERVICES, service);
  putChartConfig({ authorization: { users: [LOGIN] }, ...config });
  for (const ordinal of [0, 1, 2]) putChartPod(ordinal);
  const legacy = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'old' };
  putTakeover({ legacy, mode: 'Route', into: { name: 'new', spec: into } });
}

export function putChartConfig(config: object): void {
  world.kube.put(CONFIG_MAPS, chartConfigMap(place, chartConfig('old', config)));
}

export function putChartPod(ordinal: number, kube: KubeModel = world.kube): void {
  const set = kube.objects.get(`statefulsets/${namespace}/old`);
  if (set === undefined) throw new Error('there is no StatefulSet');
  const pod = chartPod(set, ordinal);
  const podIP = oldIpOf(`old-${ordinal}`);
  kube.put(PODS, { ...pod, status: { phase: 'Running', podIP } });
  const asks = { asksLogin: true, asksTls: false, hasStreams: false, clients: 0 };
  world.servers.set(podIP, { id: `Nold-${ordinal}`, version: VERSION, ...asks });
}
