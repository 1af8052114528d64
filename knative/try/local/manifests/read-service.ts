// Reads a Knative Service as far as a local process can be it. Settings of containers alone (image,
// probes, resources, security) are accepted by name.
import { type EnvValue, readEnvValue } from './config-map.ts';
import type { Fields } from './fields.ts';
import { readMetadata } from './read-objects.ts';
import type { FunctionWiring } from './wiring.ts';

/** A function before it is known what stands in the ConfigMaps. */
export type ReadFunction = Omit<FunctionWiring, 'env'> & {
  readonly env: Readonly<Record<string, EnvValue>>;
};

/** Knative Serving's own default. */
const TIMEOUT_SECONDS = 300;
const CONTAINER_ONLY = [
  'name',
  'image',
  'imagePullPolicy',
  'ports',
  'readinessProbe',
  'livenessProbe',
  'startupProbe',
  'resources',
  'securityContext',
] as const;

export function readService(document: Fields): ReadFunction {
  const name = readMetadata(document);
  const spec = document.object('spec');
  const template = spec.object('template').accept('metadata');
  const pod = template.object('spec');
  const [container, ...more] = pod.objects('containers');
  if (container === undefined) throw pod.error('containers', 'must hold one container');
  if (more.length > 0) throw pod.error('containers[1]', 'is one container too many for a process');
  const service: ReadFunction = {
    file: document.file,
    ...name,
    env: readEnv(container),
    serviceAccountName: pod.optionalText('serviceAccountName') ?? 'default',
    containerConcurrency: pod.has('containerConcurrency')
      ? pod.wholeNumber('containerConcurrency')
      : 0,
    timeoutSeconds: pod.has('timeoutSeconds') ? pod.wholeNumber('timeoutSeconds') : TIMEOUT_SECONDS,
  };
  container.accept(...CONTAINER_ONLY).end();
  for (const fields of [pod, template, spec]) fields.end();
  return service;
}

function readEnv(container: Fields): ReadFunction['env'] {
  const entries = container.objects('env').map((entry) => {
    const name = entry.text('name');
    const value = readEnvValue(entry);
    entry.end();
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
