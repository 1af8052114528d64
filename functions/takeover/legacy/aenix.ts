// The etcd operator of aenix: a StatefulSet that belongs to the EtcdCluster and starts members
// again, claims that belong to nobody, and one operator for all namespaces, which would write its
// Services anew. Pure.
import { AENIX_ETCDS } from '../../../shared/api/takeover.ts';
import { textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { fieldOf, type LegacyEtcd, legacyOf, type LegacyTls } from '../legacy.ts';
import { selectorText } from '../records.ts';
import { isAenix } from './aenix-image.ts';
import { notesOnAenix } from './aenix-notes.ts';
import { optionsIn } from './aenix-options.ts';
import { podsIn } from './aenix-pods.ts';
import { refuseAenix } from './aenix-refuse.ts';
import { isSaidGone, OPERATOR_ANNOTATION } from './gone.ts';
import { type EtcdOperator, goes } from './operator.ts';
import { type Fields, replicasFor, resourcesOf, storageOf } from './said.ts';

const SIZE_MAX = 9;
const SIZE_DEFAULT = 3;
const LABEL = 'app.kubernetes.io/instance';

export const AENIX: EtcdOperator = {
  ref: AENIX_ETCDS,
  runsIn: isAenix,
  legacyOf: aenixEtcdOf,
  carried: ({ spec, size }) => ({
    ...replicasFor(size),
    ...resourcesOf(podsIn(spec).resources),
    ...withRoom(spec),
  }),
  going: ({ name, spec }) => [
    goes('StatefulSet', name, 'Has the pods; it goes with the legacy object.'),
    goes('ConfigMap', `${name}-cluster-state`, 'Only the old members read it; it goes with it.'),
    ...(spec['podDisruptionBudgetTemplate'] === undefined
      ? []
      : [goes('PodDisruptionBudget', name, 'It is of the old pods, and goes with it.')]),
  ],
  refuse: refuseAenix,
  notes: notesOnAenix,
  unknown:
    'An operator of etcd.aenix.io looks after all namespaces, and would lead the Service back to ' +
    'the old members. Create a Takeover that names its Deployment in spec.legacy.operator; or, ' +
    `if there is none any more, annotate the EtcdCluster with ${OPERATOR_ANNOTATION}: Gone.`,
};

function aenixEtcdOf(object: KubeObject): LegacyEtcd {
  const { resourceVersion, annotations = {} } = object.metadata;
  const legacy = legacyOf(object, SIZE_MAX, ({ replicas = SIZE_DEFAULT }) => replicas);
  const { name, spec } = legacy;
  const labels = {
    'app.kubernetes.io/name': 'etcd',
    [LABEL]: name,
    'app.kubernetes.io/managed-by': 'etcd-operator',
  };
  return {
    ...legacy,
    resourceVersion,
    clientService: templateName(spec, 'serviceTemplate') || name,
    headlessService: templateName(spec, 'headlessServiceTemplate') || `${name}-headless`,
    selector: selectorText(labels),
    label: LABEL,
    labels,
    statefulSet: name,
    peers: undefined,
    tls: tlsIn(spec),
    isClusterwide: !isSaidGone(annotations),
  };
}

const templateName = (spec: Fields, template: string): string =>
  textOf(fieldOf(fieldOf(spec, template), 'metadata')['name']);

/** The storage holds what the options say twice, as that of an EtcdCluster has to. */
function withRoom(spec: Fields): Fields {
  const claim = fieldOf(fieldOf(fieldOf(spec, 'storage'), 'volumeClaimTemplate'), 'spec');
  const said = storageOf(claim);
  const options = optionsIn(spec).said;
  const twice = 2 * quantityOf(textOf(options['quota']));
  const { size, ...storage } = fieldOf(said, 'storage');
  const fits = !(twice > quantityOf(textOf(size)));
  return { ...options, storage: { ...storage, size: fits ? size : String(twice) } };
}

/** Members that show a certificate and ask for none are told of elsewhere. */
function tlsIn(spec: Fields): LegacyTls | undefined {
  const tls = fieldOf(fieldOf(spec, 'security'), 'tls');
  const serverSecret = textOf(tls['serverSecret']);
  if (serverSecret === '') return undefined;
  return {
    serverSecret,
    served: 'tls.crt',
    trustSecret: textOf(tls['clientTrustedCASecret']),
    trusted: 'ca.crt',
    operatorSecret: textOf(tls['clientSecret']),
    namedIn: 'spec.security.tls.clientSecret',
    keys: { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' },
  };
}
