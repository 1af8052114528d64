// The projection of a pod: its node, its state, its addresses and its containers. Labels and
// annotations only if the spec allows them; never environment, arguments or volumes.
import type { ContainerMessage } from '../messages.ts';
import type { Aspect, SourceObject } from './source.ts';
import {
  conditionIn,
  fieldsIn,
  flagIn,
  isFields,
  listIn,
  numberIn,
  said,
  textIn,
  textMapIn,
  textsIn,
  unlessEmpty,
} from './values.ts';

/** Repeats the whole object, environment and all: no allow-list lets it out. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface PodPlan {
  /** Keys, or beginnings of keys that end in `*`. */
  readonly podLabels: readonly string[];
  readonly podAnnotations: readonly string[];
}

type Role = ContainerMessage['role'];

export function podAspect(pod: SourceObject, { podLabels, podAnnotations }: PodPlan): Aspect {
  const { metadata } = pod;
  const spec = fieldsIn(pod['spec']);
  const status = fieldsIn(pod['status']);
  return said<Aspect>({
    labels: allowed(metadata.labels, podLabels),
    annotations: allowed(metadata.annotations, podAnnotations),
    node: nodeOf(pod),
    phase: textIn(status['phase']),
    ready: conditionIn(status, 'Ready') ?? false,
    reason:
      textIn(metadata.deletionTimestamp) === undefined ? textIn(status['reason']) : 'Terminating',
    hostNetwork: spec['hostNetwork'] === true ? true : undefined,
    ips: ipsOf(status),
    containers: unlessEmpty([
      ...containersOf(spec['initContainers'], status['initContainerStatuses'], 'init'),
      ...containersOf(spec['containers'], status['containerStatuses'], undefined),
      ...containersOf(
        spec['ephemeralContainers'],
        status['ephemeralContainerStatuses'],
        'ephemeral',
      ),
    ]),
  });
}

export const nodeOf = (pod: SourceObject): string | undefined =>
  textIn(fieldsIn(pod['spec'])['nodeName']);

function allowed(values: unknown, allowList: readonly string[]): Aspect['labels'] {
  if (allowList.length === 0) return undefined;
  return textMapIn(
    values,
    (key) => key !== LAST_APPLIED && allowList.some((entry) => isCovered(key, entry)),
  );
}

function isCovered(key: string, entry: string): boolean {
  return entry.endsWith('*') ? key.startsWith(entry.slice(0, -1)) : key === entry;
}

function ipsOf(status: Readonly<Record<string, unknown>>): Aspect['ips'] {
  const all = textsIn(listIn(status['podIPs']).map((entry) => fieldsIn(entry)['ip']));
  return all ?? textsIn([status['podIP']]);
}

function containersOf(specs: unknown, statuses: unknown, role: Role): readonly ContainerMessage[] {
  const wanted = listIn(specs);
  if (wanted.length === 0) return [];
  const byName = new Map(listIn(statuses).map((entry) => [fieldsIn(entry)['name'], entry]));
  return wanted.map((entry) => {
    const { name, image } = fieldsIn(entry);
    return containerOf(textIn(name) ?? '', textIn(image) ?? '', fieldsIn(byName.get(name)), role);
  });
}

function containerOf(
  name: string,
  image: string,
  status: Readonly<Record<string, unknown>>,
  role: Role,
): ContainerMessage {
  const { state, reason } = stateOf(fieldsIn(status['state']));
  const restarts = numberIn(status['restartCount']);
  return said<ContainerMessage>({
    name,
    image,
    id: textIn(status['containerID']),
    state,
    reason,
    ready: flagIn(status['ready']),
    restarts: restarts === 0 ? undefined : restarts,
    role,
  });
}

interface State {
  readonly state?: ContainerMessage['state'];
  readonly reason?: string | undefined;
}

function stateOf(states: Readonly<Record<string, unknown>>): State {
  for (const state of ['running', 'waiting', 'terminated'] as const) {
    const detail = states[state];
    if (isFields(detail)) return { state, reason: textIn(detail['reason']) };
  }
  return {};
}
