// Reads a Knative Service as far as a local process can be it. What only a container has (image,
// probes, resources, security) is accepted by name.
import type { Fields } from './fields.ts';
import { readMetadata } from './read-objects.ts';
import type { FunctionWiring, Texts } from './wiring.ts';

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

export function readService(document: Fields): FunctionWiring {
  const name = readMetadata(document);
  const spec = document.object('spec');
  const template = spec.object('template').accept('metadata');
  const pod = template.object('spec');
  const [container, ...more] = pod.objects('containers');
  if (container === undefined) throw pod.error('containers', 'must hold one container');
  if (more.length > 0) throw pod.error('containers[1]', 'is one container too many for a process');
  const service: FunctionWiring = {
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

function readEnv(container: Fields): Texts {
  const entries = container.objects('env').map((entry) => {
    const name = entry.text('name');
    const value = entry.has('value') ? entry.anyText('value') : '';
    // `valueFrom` is left unread here, and so refused.
    entry.end();
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
