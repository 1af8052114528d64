// Whatever was put and dropped, in whatever order, every lookup answers as if it had looked through
// all that is held.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Place } from '../../../shared/feed/subjects.ts';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import type { Entry } from '../../../shared/nats/replica/entry.ts';
import { parseSelector } from '../../../shared/nats/replica/selector.ts';
import { type EntryText, entryOf } from './entries.ts';

const NAMES = ['a', 'b', 'a-b'];
const SPACES = ['x', 'y'];
const UIDS = ['u1', 'u2', 'u3', 'u4'];
/** So many that a slice may hold more than are scanned. */
const MANY_UIDS = [...UIDS, ...Array.from({ length: 10 }, (_, index) => `v${index}`)];
const IPS = ['10.0.0.1', '10.0.0.2', 'fd00::1'];
const CONTAINERS = ['containerd://c1', 'cri-o://c2', 'c3'];
const NODES = ['n1', 'n2'];

const oneOf = <Value>(values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const place: fc.Arbitrary<Place> = oneOf<Place>(['all', 'cluster', { node: 'n1' }, { node: 'n2' }]);

const anEntry = fc
  .record({
    resource: oneOf(['pods', 'endpointslices', 'nodes', 'deployments']),
    place,
    namespace: maybe(oneOf(SPACES)),
    name: oneOf(NAMES),
    uid: oneOf(UIDS),
    node: maybe(oneOf(NODES)),
    phase: maybe(oneOf(['Running', 'Succeeded'])),
    hostNetwork: maybe(fc.constant(true as const)),
    ips: maybe(fc.array(oneOf(IPS), { maxLength: 3 })),
    owner: maybe(fc.record({ kind: oneOf(['A']), name: oneOf(NAMES), uid: oneOf(UIDS) })),
    labels: maybe(fc.dictionary(oneOf(['app', 'tier']), oneOf(['1', '2']))),
    service: maybe(oneOf(NAMES)),
    endpoints: maybe(
      fc.array(
        fc.record({
          ips: fc.constant(['10.0.0.1']),
          pod: fc.record({ name: fc.constant('a'), uid: oneOf(MANY_UIDS) }),
        }),
        { maxLength: 12 },
      ),
    ),
    containers: maybe(
      fc.array(fc.record({ name: oneOf(NAMES), image: oneOf(NAMES), id: oneOf(CONTAINERS) }), {
        maxLength: 2,
      }),
    ),
  })
  .map((parts) => Object.fromEntries(Object.entries(parts).filter(([, v]) => v !== undefined)));

/** Puts are more common than drops; a drop takes what was put at some time. */
const steps = fc.array(
  fc.record({ put: maybe(anEntry), drop: fc.nat({ max: 30 }), moved: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

/** A lookup by looking at everything. */
function naive(all: readonly Entry[], holds: (entry: Entry) => boolean): readonly Entry[] {
  const isNewest = (one: Entry): boolean =>
    one.key.resource === 'endpointslices' ||
    !all.some((other) => sameKey(one, other) && other.version > one.version);
  return all
    .filter((entry) => holds(entry) && isNewest(entry))
    .toSorted((a, b) => b.version - a.version);
}

const sameKey = (a: Entry, b: Entry): boolean =>
  a.key.resource === b.key.resource &&
  a.key.namespace === b.key.namespace &&
  a.key.name === b.key.name;

const unordered = (entries: Iterable<Entry>): string[] =>
  [...entries].map(({ subject, version }) => `${version} ${subject}`).toSorted();

/** Lookups are prepared for after so many steps, or by the first lookup. */
const prepared = fc.nat({ max: 45 });

const run = (
  changes: readonly { put?: EntryText; drop: number; moved: boolean }[],
  indexedAfter: number,
) => {
  const catalog = new Catalog({ historySeconds: 60 });
  const model = new Map<string, Entry>();
  const subjects: string[] = [];
  for (const [step, { put, drop, moved }] of changes.entries()) {
    if (step === indexedAfter) catalog.index();
    if (put !== undefined) {
      const entry = entryOf(put);
      const same = structuredClone(entry);
      expect(catalog.put(entry)).toEqual(model.get(entry.subject));
      model.set(entry.subject, same);
      subjects.push(entry.subject);
      continue;
    }
    const subject = subjects[drop] ?? 'all._.pods._.nothing';
    const tombstone = { deleted: true, epoch: 1, uid: 'u1', resourceVersion: '1', at: '' } as const;
    const buried = moved ? { ...tombstone, moved } : drop % 2 === 0 ? tombstone : undefined;
    expect(catalog.drop(subject, buried)).toEqual(model.get(subject));
    model.delete(subject);
  }
  return { catalog, all: [...model.values()] };
};

const isClaimed = ({ object, key }: Entry): number =>
  object.phase === 'Succeeded'
    ? 3
    : object.hostNetwork === true
      ? 2
      : key.resource === 'pods'
        ? 0
        : 1;

function compareWithNaive(catalog: Catalog, all: readonly Entry[]): void {
  expect(unordered(catalog.entries())).toEqual(unordered(all));
  for (const one of all) {
    expect(catalog.entry(one.subject)).toEqual(one);
    const newest = all.filter((other) => sameKey(one, other)).toSorted(newestFirst)[0];
    expect(catalog.find(one.key)).toEqual(newest);
  }
  for (const uid of UIDS) {
    expect(catalog.byUid(uid)).toEqual(naive(all, ({ object }) => object.uid === uid));
    expect(catalog.ownedBy(uid)).toEqual(naive(all, ({ object }) => object.owner?.uid === uid));
  }
  for (const ip of IPS) {
    const holders = naive(all, ({ object }) => object.ips?.includes(ip) === true);
    expect(catalog.byIp(ip)).toEqual(holders.toSorted((a, b) => isClaimed(a) - isClaimed(b)));
  }
  for (const node of NODES) {
    const here = ({ key, object }: Entry) => key.resource === 'pods' && object.node === node;
    expect(catalog.onNode(node)).toEqual(naive(all, here));
  }
  for (const full of CONTAINERS) {
    const [runs] = naive(
      all,
      ({ object }) => object.containers?.some(({ id }) => id === full) === true,
    );
    expect(catalog.byContainer(full)).toEqual(runs);
    expect(catalog.byContainer(full.split('://').at(-1) ?? '')).toEqual(runs);
  }
}

const newestFirst = (a: Entry, b: Entry): number => b.version - a.version;

function compareSelections(catalog: Catalog, all: readonly Entry[]): void {
  const labels = parseSelector('app=1,!tier');
  if (typeof labels === 'string') throw new Error(labels);
  const found = catalog.select({ resource: 'pods', namespace: 'x', labels });
  const wanted = naive(
    all,
    ({ key, object }) =>
      key.resource === 'pods' &&
      key.namespace === 'x' &&
      object.labels?.['app'] === '1' &&
      object.labels['tier'] === undefined,
  );
  expect(unordered(found)).toEqual(unordered(wanted));
  expect(unordered(catalog.select({}))).toEqual(unordered(naive(all, () => true)));
  for (const namespace of SPACES) {
    for (const service of NAMES) {
      const isOf = ({ key, object }: Entry) =>
        key.resource === 'endpointslices' &&
        key.namespace === namespace &&
        object.service === service;
      expect(catalog.slicesOf(namespace, service)).toEqual(naive(all, isOf));
    }
  }
  const names = catalog
    .complete('a', { limit: 100 })
    .flatMap(({ resource, name, namespaces }) =>
      namespaces.map((namespace) => `${resource}/${namespace}/${name}`),
    );
  const held = all.filter(({ key }) => key.name.startsWith('a'));
  const keys = held.map(({ key }) => `${key.resource}/${key.namespace}/${key.name}`);
  expect(names.toSorted()).toEqual([...new Set(keys)].toSorted());
}

test('every lookup answers as if it had looked through all that is held', () => {
  fc.assert(
    fc.property(steps, prepared, (changes, after) => {
      const { catalog, all } = run(changes as never, after);
      expect(catalog.size).toBe(all.length);
      compareWithNaive(catalog, all);
      compareSelections(catalog, all);
    }),
    { numRuns: 300 },
  );
});

test('what was put and dropped again leaves nothing behind', () => {
  fc.assert(
    fc.property(steps, prepared, (changes, after) => {
      const { catalog, all } = run(changes as never, after);
      for (const { subject } of all) catalog.drop(subject);
      compareWithNaive(catalog, []);
      expect(catalog.complete('', { limit: 10 })).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('an object keeps saying what it said, whatever it shares with others', () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs' };
  const catalog = new Catalog({ historySeconds: 60 });
  const said = ['1', '2', '3'].map((name) =>
    entryOf({
      name,
      namespace: 'shop',
      node: 'n1',
      labels: name === '3' ? { app: 'web', extra: 'yes' } : { app: 'web' },
      owner: name === '2' ? { ...owner, name: 'renamed' } : owner,
      containers: [{ name: 'c', image: 'web:1', id: `containerd://${name}` }],
    }),
  );
  const before = structuredClone(said);
  for (const entry of said) catalog.put(entry);
  expect([...catalog.entries()]).toEqual(before);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Each of another owner, with labels of its own. */
function putAndDrop(catalog: Catalog, count: number): readonly WeakRef<object>[] {
  return Array.from({ length: count }, (_, at) => {
    const labels = Object.fromEntries(
      Array.from({ length: 2_000 }, (_label, index) => [`label-${index}`, `value-${at}`]),
    );
    const name = `pod-${at}`;
    const owner = { kind: 'A', name, uid: `owner-${at}` };
    const entry = entryOf({ name, namespace: 'x', node: 'n1', owner, labels });
    catalog.put(entry);
    catalog.drop(entry.subject);
    return new WeakRef(labels);
  });
}

test('pods with thousands of labels and an owner each leave nothing behind', async () => {
  const catalog = new Catalog({ historySeconds: 60 });
  const left = putAndDrop(catalog, 100);
  // References that are weak hold until the turn is over.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const labels = left.filter((one) => one.deref() !== undefined);
  expect(labels.length).toBeLessThan(50);
  expect(catalog.size).toBe(0);
});
