// A dead letter as a broker sends it, for tests to change.
import type { IncomingEvent } from '../../../shared/function/define.ts';

export const PROBLEM = {
  type: 'tag:ballast.dev,2026:errors:KUBE_FORBIDDEN',
  title: 'The API server refused a request that somebody has to allow',
  status: 503,
  code: 'KUBE_FORBIDDEN',
  detail: 'list pods was refused: "list" is lacking.',
};

export const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

const ATTRIBUTES = {
  specversion: '1.0',
  id: '1',
  source: 'https://10.96.0.1:443',
  type: 'dev.knative.apiserver.resource.update',
  apiversion: 'v1',
  kind: 'Pod',
  namespace: 'shop',
  name: 'web-1',
  ballastfunction: 'metadata',
  knativeerrordest: 'http://metadata.ballast-system.svc.cluster.local/',
  knativeerrorcode: '503',
  knativeerrordata: base64(PROBLEM),
  data: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name: 'web-1', uid: 'u1' },
  },
};

/** As the function is told by default. */
export const KNOWN: ReadonlySet<string> = new Set([
  'etcd-backup',
  'etcd-cluster',
  'etcd-peer',
  'etcd-restore',
  'metadata',
  'nats-cluster',
  'storage-migration',
]);

export const letterEvent = (changes: Readonly<Record<string, unknown>> = {}): IncomingEvent => ({
  ...ATTRIBUTES,
  ...changes,
});
