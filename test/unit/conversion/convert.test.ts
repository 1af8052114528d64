// Each kind says it in its two versions, and keeps what the other one has no words for: how long
// that counts, and what of somebody else's text is believed.
import { describe, expect, test } from 'vitest';
import { convertObject, Unconvertible } from '../../../shared/kube/own-kinds/convert.ts';
import { annotationOf } from '../../../shared/kube/own-kinds/kept.ts';
import { KINDS } from '../../../shared/kube/own-kinds/kinds.ts';
import type { Fields } from '../../../shared/kube/own-kinds/part.ts';
import { apiVersionOf, type Version } from '../../../shared/kube/own-kinds/versions.ts';

const ALPHA = annotationOf('v1alpha1');
const BETA = annotationOf('v1beta1');

const object = (version: Version, kind: string, body: Fields, annotations?: Fields): Fields => ({
  apiVersion: apiVersionOf(version),
  kind,
  metadata: { name: 'one', ...(annotations === undefined ? {} : { annotations }) },
  ...body,
});

const partsOf = (one: Fields) => KINDS.get(String(one['kind'])) ?? [];
const up = (one: Fields): Fields => convertObject(one, partsOf(one), 'v1alpha1', 'v1beta1');
const down = (one: Fields): Fields => convertObject(one, partsOf(one), 'v1beta1', 'v1alpha1');

const CASES: readonly (readonly [string, Fields, Fields])[] = [
  ['StorageMigration', { spec: { pause: true } }, { spec: { paused: true } }],
  ['StorageMigration', { status: { phase: 'Done' } }, { status: { phase: 'Complete' } }],
  ['StorageMigration', { status: { phase: 'Rewriting' } }, { status: { phase: 'Rewriting' } }],
  [
    'EtcdCluster',
    { spec: { paused: true, compaction: { mode: 'Periodic', retention: '90m' } } },
    { spec: { paused: true, compaction: { mode: 'Periodic', retentionSeconds: 5_400 } } },
  ],
  [
    'EtcdCluster',
    { spec: { compaction: { mode: 'Revision', retention: '10000' } } },
    { spec: { compaction: { mode: 'Revision', retentionRevisions: 10_000 } } },
  ],
  [
    'EtcdCluster',
    { spec: { compaction: { mode: 'None' } } },
    { spec: { compaction: { mode: 'None' } } },
  ],
  [
    'EtcdPeer',
    { spec: { cluster: 'main', compaction: { mode: 'Periodic', retention: '8h' } } },
    {
      spec: {
        etcdCluster: { name: 'main' },
        compaction: { mode: 'Periodic', retentionSeconds: 28_800 },
      },
    },
  ],
  [
    'EtcdBackup',
    {
      spec: { encryption: { secretName: 'seal', key: 'k' } },
      status: { startedAt: 'then', completedAt: 'now' },
    },
    {
      spec: { encryption: { keySecret: { name: 'seal', key: 'k' } } },
      status: { startTime: 'then', completionTime: 'now' },
    },
  ],
  [
    'EtcdBackupSchedule',
    { spec: { suspend: true, template: { encryption: { secretName: 'seal', key: 'k' } } } },
    {
      spec: { suspend: true, template: { encryption: { keySecret: { name: 'seal', key: 'k' } } } },
    },
  ],
  [
    'EtcdRestore',
    {
      spec: {
        source: { encryption: { secretName: 'seal', key: 'k' } },
        etcdCluster: { name: 'a', spec: { compaction: { mode: 'Periodic', retention: '1h' } } },
      },
      status: { startedAt: 'then' },
    },
    {
      spec: {
        source: { encryption: { keySecret: { name: 'seal', key: 'k' } } },
        etcdCluster: {
          name: 'a',
          spec: { compaction: { mode: 'Periodic', retentionSeconds: 3_600 } },
        },
      },
      status: { startTime: 'then' },
    },
  ],
  [
    'Takeover',
    { spec: { into: { name: 'a', spec: { compaction: { mode: 'Periodic', retention: '2h' } } } } },
    {
      spec: {
        into: { name: 'a', spec: { compaction: { mode: 'Periodic', retentionSeconds: 7_200 } } },
      },
    },
  ],
  [
    'MetadataFeed',
    {
      spec: {
        resources: [{ group: '', resource: 'pods', matchLabels: { app: 'a' } }],
        nats: { secretRef: { name: 'nats' } },
      },
    },
    {
      spec: {
        resources: [{ group: '', resource: 'pods', selector: { matchLabels: { app: 'a' } } }],
        nats: { secretName: 'nats' },
      },
    },
  ],
  ['NatsCluster', { spec: { paused: true } }, { spec: { paused: true } }],
];

test.each(CASES)('%s %j', (kind, alpha, beta) => {
  const [one, other] = [object('v1alpha1', kind, alpha), object('v1beta1', kind, beta)];
  expect(up(one)).toEqual(other);
  expect(down(other)).toEqual(one);
});

describe('a text that means the same and is another one', () => {
  const cluster = (retention: string): Fields =>
    object('v1alpha1', 'EtcdCluster', { spec: { compaction: { mode: 'Periodic', retention } } });
  const withCompaction = (one: Fields, compaction: Fields): Fields => ({
    ...one,
    spec: { compaction },
  });

  test('comes back', () => {
    const there = up(cluster('60m'));
    expect(there['spec']).toEqual({ compaction: { mode: 'Periodic', retentionSeconds: 3_600 } });
    expect(down(there)).toEqual(cluster('60m'));
  });

  test('is out of date once the other version says something else', () => {
    const edited = withCompaction(up(cluster('60m')), {
      mode: 'Periodic',
      retentionSeconds: 7_200,
    });
    expect(down(edited)).toEqual(cluster('2h'));
  });

  test('that means nothing is kept as well, and its field is left out', () => {
    const there = up(cluster('abc'));
    expect(there['spec']).toEqual({ compaction: { mode: 'Periodic' } });
    expect(down(there)).toEqual(cluster('abc'));
  });
});

describe('a selector with expressions', () => {
  const expressions = [{ key: 'tier', operator: 'Exists' }];
  const feed = (...resources: readonly Fields[]): Fields =>
    object('v1beta1', 'MetadataFeed', { spec: { resources } });
  const pods = { group: '', resource: 'pods' };
  const nodes = { group: '', resource: 'nodes' };
  const there = down(
    feed(
      { ...pods, selector: { matchLabels: { app: 'a' }, matchExpressions: expressions } },
      nodes,
    ),
  );
  const edited = (...resources: readonly Fields[]): Fields => up({ ...there, spec: { resources } });

  test('keeps them while others change the labels, so that the feed grows no wider', () => {
    const selector = { matchLabels: { app: 'b' }, matchExpressions: expressions };
    expect(edited({ ...pods, matchLabels: { app: 'b' } })).toEqual(feed({ ...pods, selector }));
    const alone = { matchExpressions: expressions };
    expect(edited(pods)).toEqual(feed({ ...pods, selector: alone }));
  });

  test('keeps them for its own resource, wherever in the list that is, and no other', () => {
    const selector = { matchLabels: { app: 'a' }, matchExpressions: expressions };
    expect(edited(nodes, { ...pods, matchLabels: { app: 'a' } })).toEqual(
      feed(nodes, { ...pods, selector }),
    );
    expect(edited(nodes)).toEqual(feed(nodes));
  });
});

describe('an annotation of this name that is not ours', () => {
  const migration = (annotations: Fields): Fields =>
    object('v1alpha1', 'StorageMigration', { spec: { pause: true } }, annotations);

  test.each(['', 'no JSON', '[]', '{"parts":[]}', '{"parts":{"a":1}}', '{"parts":{},"other":1}'])(
    'stays where it is unreadable: %j',
    (text) => {
      const one = migration({ [BETA]: text, mine: 'a' });
      expect(up(one)['metadata']).toEqual(one['metadata']);
      expect(down(up(one))).toEqual(one);
    },
  );

  test('of the own version is put aside and comes back', () => {
    const one = migration({ [ALPHA]: '{"parts":{}}' });
    expect(down(up(one))).toEqual(one);
  });

  test('puts no field into an object that the part does not have', () => {
    const forged = { paused: true, dryRun: true };
    const text = JSON.stringify({ parts: { '.spec:pause': forged } });
    const one = up(migration({ [BETA]: text }));
    expect(one).toEqual(object('v1beta1', 'StorageMigration', { spec: { paused: true } }));
  });

  test('says nothing that the object does not say', () => {
    const text = JSON.stringify({ parts: { '.spec:pause': { paused: false } } });
    expect(up(migration({ [BETA]: text }))['spec']).toEqual({ paused: true });
  });
});

test('more than the annotations of an object may hold is refused, and the field is named', () => {
  const labels = { app: 'x'.repeat(256 * 1_024) };
  const selector = { matchLabels: labels, matchExpressions: [] };
  const resources = [{ group: '', resource: 'pods', selector }];
  const feed = object('v1beta1', 'MetadataFeed', { spec: { resources } });
  expect(() => down(feed)).toThrow(Unconvertible);
  expect(() => down(feed)).toThrow(/^metadata\.annotations would have 2\d{5} bytes/);
});

test('the same version is the same object', () => {
  const one = object('v1beta1', 'EtcdCluster', { spec: {} });
  expect(convertObject(one, partsOf(one), 'v1beta1', 'v1beta1')).toBe(one);
});
