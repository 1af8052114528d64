// The StatefulSet of a NatsCluster as its function makes it, with something else in it where a test
// wants that.
import { clusterOf } from '../../../functions/nats-cluster/cluster.ts';
import { natsConfig } from '../../../functions/nats-cluster/render/config.ts';
import { statefulSetSpec } from '../../../functions/nats-cluster/render/stateful-set.ts';

interface Changes {
  /** Fields of the pod's spec, and of its one container. */
  readonly spec?: object;
  readonly container?: object;
}

const SPEC = {
  replicas: 3,
  image: 'nats:2.15.2',
  jetStream: { fileStorage: { size: '1Gi' } },
  lameDuck: { graceSeconds: 10, durationSeconds: 30 },
  resources: {},
  monitoringPort: 8222,
  spread: 'Preferred',
};

export function serversOf(name: string, { spec = {}, container = {} }: Changes = {}): object {
  const metadata = { name, namespace: 'shop', uid: '', resourceVersion: '' };
  const cluster = clusterOf({ apiVersion: '', kind: '', metadata, spec: SPEC });
  const credentials = {
    systemPassword: '',
    routePassword: '',
    passwords: new Map<string, string>(),
    certificates: {},
  };
  const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
  const made = statefulSetSpec(cluster, natsConfig(cluster, credentials), shape).spec;
  const whole = structuredClone(made) as unknown as {
    template: { spec: { containers: object[] } };
  };
  const [own = {}] = whole.template.spec.containers;
  Object.assign(own, container);
  Object.assign(whole.template.spec, spec);
  return whole;
}
