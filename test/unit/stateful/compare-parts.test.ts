// All parts of an owner against how they are rendered: what is missing, changed, or somebody
// else's, and one part that may be forbidden.
import { expect, test } from 'vitest';
import { KubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { compareParts } from '../../../shared/stateful/compare-parts.ts';
import {
  NETWORK_POLICIES,
  owned,
  type RenderedPart,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { KubeModel } from './kube-model.ts';
import { OWNER } from './samples.ts';

const AT = { namespace: 'shop', name: 'db' };
type Key = 'service' | 'policy' | 'set';

const part = (key: Key, ref: ResourceRef, kind: string): RenderedPart<Key> => ({
  key,
  ref,
  manifest: owned(OWNER, 'v1', kind, 'db', { spec: { replicas: 3 } }),
});
const PARTS = [
  part('service', SERVICES, 'Service'),
  part('policy', NETWORK_POLICIES, 'NetworkPolicy'),
  part('set', STATEFUL_SETS, 'StatefulSet'),
];

/** All parts are there, as rendered. */
function made(): KubeModel {
  const kube = new KubeModel();
  for (const { ref, manifest } of PARTS) kube.put(ref, manifest);
  return kube;
}

const REFUSED = { reason: 'Refused', message: 'It must not be made.' };

interface Given {
  readonly parts?: readonly RenderedPart<Key>[];
  readonly early?: ReadonlyMap<Key, KubeObject | null>;
  readonly refusal?: typeof REFUSED;
}

async function compared(
  kube: KubeModel,
  { parts = PARTS, early = new Map(), refusal }: Given = {},
) {
  const refusalOf = (error: unknown) => (error instanceof KubeError ? REFUSED : undefined);
  const forbidden = { key: 'policy', refusal, refusalOf } as const;
  const deps = { kube: kube.client, signal: new AbortController().signal };
  const { wrong, found, ...rest } = await compareParts(deps, {
    owner: OWNER,
    parts,
    early,
    forbidden,
  });
  return { wrong: wrong.map(({ key }) => key), found, ...rest };
}

test('parts as rendered are found, and none is wrong', async () => {
  const { wrong, found, nameConflict, refusal } = await compared(made());
  expect([wrong, nameConflict, refusal]).toEqual([[], undefined, undefined]);
  expect([...found.keys()]).toEqual(['service', 'policy', 'set']);
  expect(found.get('set')?.replicas).toBe(3);
});

test('parts that are missing or changed are wrong, in the order of their making', async () => {
  const kube = made();
  kube.remove(SERVICES, AT);
  kube.change(STATEFUL_SETS, AT, { spec: { replicas: 4 } });
  const { wrong, found } = await compared(kube);
  expect(wrong).toEqual(['service', 'set']);
  expect([...found.keys()]).toEqual(['policy', 'set']);
});

test('a part of somebody else is told', async () => {
  const kube = made();
  kube.change(SERVICES, AT, { metadata: { ownerReferences: [] } });
  expect((await compared(kube)).nameConflict?.message).toContain('Service db is there already');
});

test('what was read early is not read again, and found where nothing is rendered too', async () => {
  const kube = made();
  const early = new Map<Key, KubeObject | null>([
    ['set', await kube.get(STATEFUL_SETS, AT)],
    ['service', null],
  ]);
  const { reads } = kube;
  expect((await compared(kube, { early })).wrong).toEqual(['service']);
  expect(kube.reads - reads).toBe(1);
  const { found, wrong } = await compared(kube, { parts: [], early });
  expect([[...found.keys()], wrong]).toEqual([['set'], []]);
});

function forbidding(plural: string): KubeModel {
  const kube = made();
  const get = kube.get.bind(kube);
  kube.get = async (ref, target) => {
    if (ref.resource !== plural) return get(ref, target);
    throw new KubeError('KUBE_FORBIDDEN', 'No.', { verb: 'get', ref });
  };
  return kube;
}

test('the part that may be forbidden holds up no other, and is told', async () => {
  const kube = forbidding('networkpolicies');
  kube.remove(SERVICES, AT);
  expect(await compared(kube)).toMatchObject({ wrong: ['service'], refusal: REFUSED });
});

test('while it was refused a short while ago it is not wrong', async () => {
  const kube = made();
  kube.remove(NETWORK_POLICIES, AT);
  expect((await compared(kube)).wrong).toEqual(['policy']);
  expect(await compared(kube, { refusal: REFUSED })).toMatchObject({ wrong: [], refusal: REFUSED });
});

test('any other part that may not be read is a failure', async () => {
  await expect(compared(forbidding('services'))).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' });
});
