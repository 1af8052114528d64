// Steps on parts, pods and claims: each changes what was observed and nothing that came in its
// place, and tells what it did.
import { expect, test } from 'vitest';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { newSecret, renewedSecret } from '../../../shared/stateful/certificates/secret-data.ts';
import {
  CLAIMS,
  owned,
  PODS,
  SECRETS,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { applyStatefulStep, type StatefulStep } from '../../../shared/stateful/steps.ts';
import { KubeModel } from './kube-model.ts';
import { claim, OWNER, pod } from './samples.ts';

/** Does the step, and returns the Event as text. */
async function done(kube: KubeModel, step: StatefulStep<string>): Promise<string> {
  const { signal } = new AbortController();
  const { event } = await applyStatefulStep(kube.client, OWNER, step, signal);
  return `${event?.type ?? ''} ${event?.reason ?? ''}: ${event?.message ?? ''}`;
}

const put = (kube: KubeModel, ref: ResourceRef, kind: string, name: string) =>
  kube.put(ref, { apiVersion: 'v1', kind, metadata: { namespace: 'shop', name }, spec: {} });

const dataIn = (kube: KubeModel) => kube.objects.get('secrets/shop/db-login')?.['data'];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a Secret that somebody else made meanwhile stays as it is', async () => {
  const kube = new KubeModel();
  const make = (password: string) =>
    ({ type: 'make-secret', secret: newSecret(OWNER, '-login', { password }) }) as const;
  expect(await done(kube, make('first'))).toBe('Normal Created: Created Secret db-login.');
  await done(kube, make('second'));
  expect(dataIn(kube)).toEqual({ password: base64('first') });
});

test('a Secret is renewed as it was read, and not over an edit', async () => {
  const kube = new KubeModel();
  await done(kube, { type: 'make-secret', secret: newSecret(OWNER, '-login', { a: '1' }) });
  const read = await kube.get(SECRETS, { namespace: 'shop', name: 'db-login' });
  const own = { data: { a: '1' }, resourceVersion: read?.metadata.resourceVersion ?? '' };
  const renew = { type: 'make-secret', secret: renewedSecret(OWNER, '-login', own, { a: '2' }) };
  const step = renew as StatefulStep<string>;
  expect(await done(kube, step)).toBe('Normal Renewed: Renewed Secret db-login.');
  expect(dataIn(kube)).toEqual({ a: base64('2') });
  await expect(done(kube, step)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
});

test('content that is lost for good is told as a warning', async () => {
  const lost = { reason: 'PasswordLost', message: 'It was gone.' };
  const secret = newSecret(OWNER, '-login', {}, lost);
  const told = await done(new KubeModel(), { type: 'make-secret', secret });
  expect(told).toBe('Warning PasswordLost: It was gone.');
});

test('a part is applied', async () => {
  const kube = new KubeModel();
  const manifest = owned(OWNER, 'v1', 'Service', 'db', { spec: { ports: [] } });
  const told = await done(kube, { type: 'apply', part: { key: 'any', ref: SERVICES, manifest } });
  expect(told).toBe('Normal Applied: Service db is as the spec says.');
  expect(kube.objects.get('services/shop/db')?.['spec']).toEqual({ ports: [] });
});

test('a claim is asked for more', async () => {
  const kube = new KubeModel();
  put(kube, CLAIMS, 'PersistentVolumeClaim', 'data-db-0');
  const told = await done(kube, { type: 'grow', claim: claim('db-0'), size: '20Gi' });
  expect(told).toBe('Normal Grown: Asked for 20Gi instead of 10Gi for claim data-db-0.');
  const wanted = { resources: { requests: { storage: '20Gi' } } };
  expect(kube.objects.get('persistentvolumeclaims/shop/data-db-0')?.['spec']).toEqual(wanted);
});

type Deletion = (kube: KubeModel, uid: string, resourceVersion: string) => Promise<string>;

test.each<[string, ResourceRef, string, Deletion, string]>([
  [
    'claim',
    CLAIMS,
    'data-db-0',
    (kube, uid) =>
      done(kube, { type: 'delete-claim', claim: claim('db-0', { uid }), server: 'db-0' }),
    'Normal ClaimDeleted: Deleted claim data-db-0 (uid',
  ],
  [
    'pod',
    PODS,
    'db-0',
    (kube, uid, resourceVersion) =>
      done(kube, { type: 'restart', pod: pod('db-0', { uid, resourceVersion }), reason: 'Why.' }),
    'Normal Restarted: Deleted pod db-0 (uid',
  ],
  [
    'StatefulSet',
    STATEFUL_SETS,
    'db',
    (kube, uid, resourceVersion) => done(kube, { type: 'orphan', uid, resourceVersion }),
    'Normal StatefulSetRenewed: Deleted StatefulSet db alone',
  ],
])('a %s is deleted, and not another one that came by its name', async (...row) => {
  const [kind, ref, name, remove, told] = row;
  const kube = new KubeModel();
  const { uid, resourceVersion } = put(kube, ref, kind, name).metadata;
  await expect(remove(kube, 'former', resourceVersion)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
  });
  expect(kube.writes).toEqual([]);
  expect(await remove(kube, uid, resourceVersion)).toContain(told);
  expect(kube.writes).toEqual([`delete ${ref.resource} ${name}`]);
});
