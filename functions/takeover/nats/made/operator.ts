// The NATS operator: bare pods that belong to the NatsCluster and that nobody makes anew, two
// Services, and a Secret with what the servers were told.
import { LEGACY_NATS } from '../../../../shared/api/takeover.ts';
import type { Reason } from '../../../../shared/kube/conditions.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { serviceOf } from '../../find-left.ts';
import { belongsTo } from '../../labelled.ts';
import { leadToNew, leadToOld } from '../../lead-service.ts';
import { fieldOf, legacyOf } from '../../legacy.ts';
import { resourcesOf } from '../../legacy/said.ts';
import { goneService, keptDefinition } from '../../planned-objects.ts';
import { readSecrets } from '../../read-secrets.ts';
import { refuseServices } from '../../refuse-found.ts';
import { configIn, passwordsIn } from '../config.ts';
import { CONFIG_KEY, type LegacyNats, selectorOf } from '../legacy.ts';
import type { FoundConfig, NatsState } from '../state.ts';
import type { NatsMaker } from './maker.ts';

/** More than a NatsCluster of ours may have. */
const SIZE_MAX = 100;
/** On pods, Services and Secrets: the name of the object. */
const LABEL = 'nats_cluster';

export const OPERATOR: NatsMaker = {
  ref: LEGACY_NATS,
  legacyOf: operatorNatsOf,
  serviceOf: (object, { uid }) => serviceOf(object, belongsTo(object, uid)),
  configKind: 'Secret',
  readConfig,
  readPasswords: async (kube, legacy, signal) =>
    passwordsIn((await readText(kube, legacy, signal)).text ?? ''),
  grantsOf: ({ takeover }) => ({ secrets: [takeover.spec.legacy.name] }),
  planned: ({ routes, config }, { name, routeService, configName }) => [
    ...(routes === undefined ? [] : [goneService(routeService, 'servers')]),
    {
      action: 'Delete',
      kind: 'NatsCluster (nats.io)',
      name,
      why: 'Deleted last, when no client is left on its servers.',
    },
    ...(config.is === 'missing'
      ? []
      : [
          {
            action: 'Delete',
            kind: 'Secret',
            name: configName,
            why: 'The configuration of the old servers alone; it goes with the legacy object.',
          } as const,
        ]),
    keptDefinition('natsclusters.nats.io'),
  ],
  words: {
    object: (name) => `NatsCluster ${name} of the old operator`,
    leaving: (names) => `${names} are deleted one after another`,
    appeared: () => 'so an operator runs somewhere and makes them. Scale it to 0, delete that pod',
    restored: `Put the file of a pod there (/etc/nats-config/nats.conf), with the label ${LABEL}`,
    takeOut: 'take it out of the legacy object while its operator runs',
    askLogin: 'name it in spec.into.spec.accounts',
    endsBy: ({ namespace }, { name }) => `kubectl -n ${namespace} delete pod ${name}`,
    routeLogin: 'auth.clusterAuthSecret',
    routeAuthority: 'tls.routesSecret',
    monitoringTls: 'tls.enableHttps',
  },
  refuse: (state, legacy) => refuseItsServices(state, legacy),
  notes: elsewhere,
  nextOf: ([first]) => first,
  leave: (server) => (server.isEnding ? undefined : { type: 'delete-server', server }),
  appeared: ({ takeover, pods }) => {
    const known = new Set(takeover.status.work?.servers?.map(({ uid }) => uid));
    return pods.filter(({ uid }) => !known.has(uid)).map(({ name }) => name);
  },
  leadToNew: (kube, takeover, { service, selector }, signal) =>
    leadToNew(kube, takeover, service, { kind: 'NatsCluster', selector }, signal),
  leadToOld: (kube, takeover, { service }, signal) =>
    leadToOld(kube, takeover, service, { ref: LEGACY_NATS, who: 'servers' }, signal),
};

function operatorNatsOf(object: KubeObject): LegacyNats {
  const legacy = legacyOf(object, SIZE_MAX);
  const { name, spec } = legacy;
  return {
    ...legacy,
    resourceVersion: object.metadata.resourceVersion,
    clientService: name,
    routeService: `${name}-mgmt`,
    configName: name,
    selector: selectorOf({ [LABEL]: name }),
    labels: { app: 'nats', [LABEL]: name },
    resources: resourcesOf(fieldOf(fieldOf(spec, 'pod'), 'resources')),
    replicas: 0,
    chart: undefined,
  };
}

async function readText(
  kube: KubeClient,
  { namespace, configName }: Pick<LegacyNats, 'namespace' | 'configName'>,
  signal: AbortSignal,
) {
  const secret = (await readSecrets(kube, namespace, [configName], signal)).get(configName);
  const text = secret?.is === 'found' ? secret.data[CONFIG_KEY] : undefined;
  return { secret, text };
}

async function readConfig(
  kube: KubeClient,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<FoundConfig> {
  const { secret, text } = await readText(kube, legacy, signal);
  if (secret?.is === 'forbidden') return { is: 'forbidden' };
  if (text === undefined) return { is: 'missing' };
  const config = configIn(text);
  if (secret?.is !== 'found' || config === undefined) return { is: 'odd', why: NO_JSON };
  return { is: 'found', resourceVersion: secret.resourceVersion, config };
}

const NO_JSON = 'not as the operator writes it: JSON';

function refuseItsServices(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const services = [
    [legacy.clientService, state.client],
    [legacy.routeService, state.routes],
  ] as const;
  return refuseServices(state, { label: LABEL, labels: legacy.labels, services });
}

/** The legacy object does not say whether one of all namespaces looks after it. */
function elsewhere({ takeover, operators }: NatsState): readonly Reason[] {
  if (operators.length > 0 || takeover.spec.legacy.operator !== undefined) return [];
  const message =
    'No operator of it is in this namespace. One of all namespaces would be in nats-io, and make ' +
    'pods anew that are deleted: if there is one, name it in spec.legacy.operator.';
  return [{ reason: 'OperatorElsewhere', message }];
}
