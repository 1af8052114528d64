// The first etcd operator, of CoreOS: bare pods that belong to the EtcdCluster and that nobody
// starts again, and claims that go with it. Pure.
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { fieldOf, type LegacyEtcd, legacyOf, type LegacyTls } from '../legacy.ts';
import { isAenix } from './aenix-image.ts';
import type { EtcdOperator } from './operator.ts';
import { runsProgram } from './program.ts';
import { replicasFor, resourcesOf, storageOf } from './said.ts';

const SIZE_MAX = 7;
/** On pods, Services and claims. */
const LABEL = 'etcd_cluster';
const isProgram = runsProgram('etcd-operator');

export const COREOS: EtcdOperator = {
  ref: LEGACY_ETCDS,
  runsIn: (container) => isProgram(container) && !isAenix(container),
  legacyOf: legacyEtcdOf,
  carried: ({ spec, size }) => {
    const pod = fieldOf(spec, 'pod');
    return {
      ...replicasFor(size),
      ...storageOf(fieldOf(pod, 'persistentVolumeClaimSpec')),
      ...resourcesOf(fieldOf(pod, 'resources')),
    };
  },
  going: () => [],
  refuse: () => [],
  notes: () => [],
  unknown:
    'It is looked after by an operator of all namespaces (annotation ' +
    'etcd.database.coreos.com/scope), which is not in this one and may run still. Create a ' +
    'Takeover that names its Deployment in spec.legacy.operator, or take the annotation off if ' +
    'it is gone.',
};

function legacyEtcdOf(object: KubeObject): LegacyEtcd {
  const { resourceVersion, annotations = {} } = object.metadata;
  const legacy = legacyOf(object, SIZE_MAX);
  const { name } = legacy;
  return {
    ...legacy,
    resourceVersion,
    clientService: `${name}-client`,
    headlessService: name,
    selector: `${LABEL}=${name}`,
    label: LABEL,
    labels: { app: 'etcd', [LABEL]: name },
    statefulSet: undefined,
    peers: undefined,
    tls: tlsIn(legacy.spec),
    isClusterwide: annotations['etcd.database.coreos.com/scope'] === 'clusterwide',
  };
}

function tlsIn(spec: Readonly<Record<string, unknown>>): LegacyTls | undefined {
  const settings = fieldOf(fieldOf(spec, 'TLS'), 'static');
  const serverSecret = textOf(fieldOf(settings, 'member')['serverSecret']);
  const operatorSecret = textOf(settings['operatorSecret']);
  if (serverSecret === '') return undefined;
  return {
    serverSecret,
    served: 'server.crt',
    trustSecret: serverSecret,
    trusted: 'server-ca.crt',
    operatorSecret,
    namedIn: 'spec.TLS.static.operatorSecret',
    keys: {
      certificate: 'etcd-client.crt',
      key: 'etcd-client.key',
      authority: 'etcd-client-ca.crt',
    },
  };
}
