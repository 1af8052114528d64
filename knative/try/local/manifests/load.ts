// Reads the installation, `knative/kustomization.yaml` with all that it names, and the feeds beside
// it into one Wiring: what `kubectl apply -k` installs on a cluster is what runs here.
import { dirname, join } from 'node:path';
import { type ConfigMaps, resolveEnv } from './config-map.ts';
import { readKustomization } from './documents.ts';
import { Fields, ManifestError, type Document } from './fields.ts';
import {
  type ReadTrigger,
  readApiServerSource,
  readBroker,
  readPing,
  readTrigger,
} from './read-objects.ts';
import { type ReadFunction, readService } from './read-service.ts';
import type {
  ApiServerSourceWiring,
  BrokerWiring,
  ClusterObject,
  Destination,
  ObjectName,
  PingWiring,
  TriggerWiring,
  Wiring,
} from './wiring.ts';
import { keyOf } from './wiring.ts';

const KNATIVE_KINDS = {
  'eventing.knative.dev/v1 Broker': 'brokers',
  'eventing.knative.dev/v1 Trigger': 'triggers',
  'sources.knative.dev/v1 ApiServerSource': 'sources',
  'sources.knative.dev/v1 PingSource': 'pings',
  'serving.knative.dev/v1 Service': 'functions',
} as const;

const CLUSTER_KINDS: readonly string[] = [
  'v1 Namespace',
  'v1 ServiceAccount',
  'v1 ConfigMap',
  'networking.k8s.io/v1 NetworkPolicy',
  'rbac.authorization.k8s.io/v1 ClusterRole',
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
  'rbac.authorization.k8s.io/v1 Role',
  'rbac.authorization.k8s.io/v1 RoleBinding',
  'apiextensions.k8s.io/v1 CustomResourceDefinition',
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding',
  'ballast.dev/v1alpha1 MetadataFeed',
];

interface Draft {
  readonly brokers: BrokerWiring[];
  readonly triggers: ReadTrigger[];
  readonly sources: ApiServerSourceWiring[];
  readonly pings: PingWiring[];
  readonly functions: ReadFunction[];
  readonly objects: ClusterObject[];
}

/** `root` is the folder `knative` of the repository, or one laid out like it. */
export async function loadWiring(root: string): Promise<Wiring> {
  const dirs = [root, join(root, 'feeds')];
  const documents = await Promise.all(dirs.map((dir) => readKustomization(dirname(root), dir)));
  return wiringOf(documents.flat());
}

export function wiringOf(documents: readonly Document[]): Wiring {
  const draft: Draft = {
    brokers: [],
    triggers: [],
    sources: [],
    pings: [],
    functions: [],
    objects: [],
  };
  const seen = new Map<string, string>();
  for (const document of documents) {
    const id = addTo(draft, document);
    const other = seen.get(id);
    if (other !== undefined) {
      throw new ManifestError(document.file, 'metadata.name', `is ${id}, which ${other} has too`);
    }
    seen.set(id, document.file);
  }
  const maps = configMapsIn(draft.objects);
  const wiring = {
    ...draft,
    triggers: draft.triggers.map((trigger) => complete(draft, trigger)),
    functions: draft.functions.map((one) => ({
      ...one,
      env: resolveEnv(one.env, one.namespace, maps),
    })),
  };
  checkReferences(wiring);
  return wiring;
}

function configMapsIn(objects: readonly ClusterObject[]): ConfigMaps {
  const maps = objects.filter(({ object }) => object.kind === 'ConfigMap');
  const entries = maps.map(({ file, object }) => {
    const { name, namespace = '' } = object.metadata;
    return [keyOf({ namespace, name }), new Fields(file, '', object).textMap('data')] as const;
  });
  return new Map(entries);
}

/** Returns what the object is called in the whole cluster. */
function addTo(draft: Draft, { file, value }: Document): string {
  const fields = new Fields(file, '', value);
  const type = `${fields.text('apiVersion')} ${fields.text('kind')}`;
  if (CLUSTER_KINDS.includes(type)) {
    const object = readClusterObject(fields);
    draft.objects.push({ file, object });
    return `${type} ${object.metadata.namespace ?? ''}/${object.metadata.name}`;
  }
  const added = addKnative(draft, fields, type);
  fields.end();
  return `${type} ${keyOf(added)}`;
}

function addKnative(draft: Draft, fields: Fields, type: string): ObjectName {
  const add = <Item extends ObjectName>(list: Item[], item: Item): Item => {
    list.push(item);
    return item;
  };
  const kind = isKnative(type) ? KNATIVE_KINDS[type] : undefined;
  switch (kind) {
    case 'brokers':
      return add(draft.brokers, readBroker(fields));
    case 'triggers':
      return add(draft.triggers, readTrigger(fields));
    case 'sources':
      return add(draft.sources, readApiServerSource(fields));
    case 'pings':
      return add(draft.pings, readPing(fields));
    case 'functions':
      return add(draft.functions, readService(fields));
    default:
      throw fields.error('kind', `is ${type}, which the embedded control plane does not know`);
  }
}

const isKnative = (type: string): type is keyof typeof KNATIVE_KINDS => type in KNATIVE_KINDS;

/** The API server judges everything in it beyond its name. */
function readClusterObject(fields: Fields): ClusterObject['object'] {
  const metadata = fields.object('metadata');
  const namespace = metadata.optionalText('namespace');
  return {
    ...fields.all(),
    apiVersion: fields.text('apiVersion'),
    kind: fields.text('kind'),
    metadata: {
      ...metadata.all(),
      name: metadata.text('name'),
      ...(namespace === undefined ? {} : { namespace }),
    },
  };
}

function complete(draft: Draft, trigger: ReadTrigger): TriggerWiring {
  const broker = draft.brokers.find(
    ({ name, namespace }) => name === trigger.broker && namespace === trigger.namespace,
  );
  if (broker === undefined) {
    const problem = `names ${trigger.namespace}/${trigger.broker}, which no manifest has`;
    throw new ManifestError(trigger.file, 'spec.broker', problem);
  }
  return { ...trigger, delivery: trigger.delivery ?? broker.delivery };
}

function checkReferences(wiring: Wiring): void {
  const known = {
    Broker: new Set(wiring.brokers.map(keyOf)),
    Service: new Set(wiring.functions.map(keyOf)),
  };
  const check = (file: string, field: string, to: Destination | undefined): void => {
    if (to === undefined || to.kind === 'uri' || known[to.kind].has(keyOf(to))) return;
    const problem = `names ${to.kind} ${keyOf(to)}, which no manifest has`;
    throw new ManifestError(file, field, problem);
  };
  for (const { file, sink } of [...wiring.sources, ...wiring.pings]) check(file, 'spec.sink', sink);
  for (const { file, subscriber } of wiring.triggers) check(file, 'spec.subscriber', subscriber);
  for (const { file, delivery } of [...wiring.triggers, ...wiring.brokers]) {
    check(file, 'spec.delivery.deadLetterSink', delivery.deadLetterSink);
  }
  const accounts = new Set(
    wiring.objects
      .filter(({ object }) => object.kind === 'ServiceAccount')
      .map(({ object }) => `${object.metadata.namespace}/${object.metadata.name}`),
  );
  for (const { file, namespace, serviceAccountName: name } of [
    ...wiring.sources,
    ...wiring.functions,
  ]) {
    if (accounts.has(keyOf({ namespace, name }))) continue;
    const problem = `is ${name}, and no manifest has this ServiceAccount in ${namespace}`;
    throw new ManifestError(file, 'serviceAccountName', problem);
  }
}
