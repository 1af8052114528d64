// Advice for a running plane: the path of its kubeconfig, and commands to try that work as they
// stand.
import { resolvePart } from '../parts/resolve.ts';
import { tryOutAdvice } from '../population/try-out.ts';
import type { Plane } from '../plane/plane.ts';

export async function advice(plane: Plane): Promise<string> {
  const kubectl = `${await resolvePart('kubectl')} --kubeconfig ${plane.kubeconfigPath}`;
  const parts = plane.parts();
  const page = parts.find(({ name }) => name === 'function/console');
  const converts = parts.some(({ name }) => name === 'function/conversion');
  const reader = parts.find(({ name }) => name === 'function/locate');
  return [
    ...(page === undefined
      ? []
      : [`Open ${page.url}/console in a browser: what is wrong, and what runs where.`, '']),
    `kubeconfig: ${plane.kubeconfigPath}`,
    'Worth trying, in another terminal:',
    `  ${kubectl} get pods -A --watch`,
    '  npm run watch -- --node node-000',
    '  npm run part -- kill adapter/metadata     # the next sweep heals what is missed',
    ...tryOutAdvice(kubectl, plane).map((line) => `  ${line}`),
    ...(converts
      ? ['  npm run step -- N     # our own kinds, a step at a time: docs/upgrading.md']
      : []),
    ...(reader === undefined ? [] : [`  curl ${reader.url}/`]),
    'Pods only play here: a NatsCluster or an EtcdCluster runs on `npm run cluster`.',
  ].join('\n');
}
