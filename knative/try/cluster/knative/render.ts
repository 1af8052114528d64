// Turns the manifests of Knative's modules into what a cluster on one small machine gets, in the
// order in which the API server can take it: our images, our settings, less of everything.
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { localImage } from './component-images.ts';
import { type Gateways, settingsFor } from './knative-settings.ts';
import { shrunk } from './shrink.ts';

export interface KnativeManifests {
  /** To be served before anything else is started. */
  readonly definitions: readonly Manifest[];
  /** Everything that Kubernetes itself understands, deployments last. */
  readonly base: readonly Manifest[];
  /** After `base`: a webhook without a server would refuse the settings it stands before. */
  readonly webhooks: readonly Manifest[];
  /** Objects of Knative's own kinds; accepted once the webhooks answer. */
  readonly own: readonly Manifest[];
}

/** Kinds that others of the same list need first; all other kinds come after these. */
const KIND_ORDER = [
  'Namespace',
  'ServiceAccount',
  'ClusterRole',
  'Role',
  'ClusterRoleBinding',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'Service',
];

/**
 * One replica of each is what the machine has room for, and what may be drained; certificates are
 * for a cert-manager, which is not here.
 */
const leftOutKinds = new Set(['HorizontalPodAutoscaler', 'PodDisruptionBudget', 'Certificate']);

/** Parts of Eventing that no function of ours uses. */
const leftOutNames = new Set(['job-sink', 'request-reply', 'request-reply-keys']);
const workloadKinds = new Set(['Deployment', 'StatefulSet', 'Service', 'Secret']);

export function renderKnative(objects: readonly Manifest[], gateways: Gateways): KnativeManifests {
  const wanted = objects
    .filter((object) => !isLeftOut(object))
    .map((object) => settingsFor(shrunk(mapTexts(object, localImage)), gateways));
  const stage = (name: keyof KnativeManifests): readonly Manifest[] =>
    wanted.filter((object) => stageOf(object) === name);
  return {
    definitions: stage('definitions'),
    base: stage('base').toSorted((one, other) => rank(one) - rank(other)),
    webhooks: stage('webhooks'),
    own: stage('own'),
  };
}

function isLeftOut({ kind, metadata }: Manifest): boolean {
  return leftOutKinds.has(kind) || (workloadKinds.has(kind) && leftOutNames.has(metadata.name));
}

function stageOf({ apiVersion, kind }: Manifest): keyof KnativeManifests {
  if (kind === 'CustomResourceDefinition') return 'definitions';
  if (kind.endsWith('WebhookConfiguration')) return 'webhooks';
  return /(^|\.)knative\.dev\//.test(apiVersion) ? 'own' : 'base';
}

function rank({ kind }: Manifest): number {
  const place = KIND_ORDER.indexOf(kind);
  return place === -1 ? KIND_ORDER.length : place;
}

/** The same value with each text in it, however deep, put through `map`. */
function mapTexts<Value>(value: Value, map: (text: string) => string): Value {
  const mapped = (one: unknown): unknown => {
    if (typeof one === 'string') return map(one);
    if (Array.isArray(one)) return one.map(mapped);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, mapped(inner)]));
  };
  // Texts stay texts and nothing is added or taken away.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return mapped(value) as Value;
}
