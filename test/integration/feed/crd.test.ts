// MetadataFeed as the real API server takes it: what is refused, and with which sentence, and what
// is filled in.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { METADATA_FEEDS, type MetadataFeedSpec } from '../../../shared/api/metadata-feed.ts';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';
import { refuseFieldPath } from '../../../shared/feed/projections/fields.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { refusalOf } from '../../builders/refusal-of.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const namespace = 'ballast-system';

let kube: KubeClient;

beforeAll(() => {
  const { kubeconfigPath } = sharedPlane();
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await kube?.close();
});

const feed = (spec?: unknown, name = 'f'): Manifest => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'MetadataFeed',
  metadata: { name, namespace },
  ...(spec === undefined ? {} : { spec }),
});

/** The API server's refusal of a feed; the empty text when it takes it. */
function refusal(manifest: Manifest): Promise<string> {
  return refusalOf(kube.create(METADATA_FEEDS, manifest, { dryRun: true }));
}

const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' };
const resource = (changes: object): object => ({ resources: [{ ...widgets, ...changes }] });
const fields = (path: string, changes: object = {}): object =>
  resource({ ...changes, fields: [{ name: 'value', path }] });
const many = (length: number, prefix: string): readonly string[] =>
  Array.from({ length }, (_, index) => `${prefix}${index}`);
const kinds = (count: number): object => ({
  resources: many(count, 'kind').map((one) => ({ ...widgets, resource: one })),
});
const core = { group: '' };

test.each([
  ['a dot', 'web.feed'],
  ['64 characters', 'x'.repeat(64)],
])('a name with %s is refused', async (_what, name) => {
  expect(await refusal(feed({}, name))).toContain(
    'metadata.name: Invalid value: The name of a feed is part of every subject on NATS; ' +
      'use 1 to 63 lower-case letters, digits and hyphens, and no dots.',
  );
});

const GROUP = 'Write the API group alone and in lower case, such as apps or example.com';
const VERSION = 'Write the version alone, such as v1 or v1beta2';
const PLURAL = 'Write the plural in lower case, such as ingresses';
const FIXED = 'What is shown of this kind is fixed; leave fields out.';
const DATA = 'A feed never shows the data of Secrets and ConfigMaps';
const PATH = 'A path begins with a dot; write it as .spec.replicas';
const WHOLE = 'That would show metadata that repeats the whole object; name one field of it';
const FIELD_NAME = 'A name begins with a letter and goes on with letters, digits, hyphens';
const PATTERN = 'Write a key, such as app.kubernetes.io/name, or the beginning of keys';
const NAMESPACE = 'Write the whole name of a namespace';
const STREAM = 'The name is part of every subject on NATS; use 1 to 63 letters, digits';
const SECRET = 'Write the name of a Secret in the namespace of this feed';

/** A name, the spec, the field that the refusal names, and words of its message. */
type Refused = readonly [title: string, spec: object, field: string, words: string];

const STREAMS: readonly Refused[] = [
  ['a dotted stream', { stream: { name: 'a.b' } }, 'stream.name', STREAM],
  ['a wildcard stream', { stream: { name: '>' } }, 'stream.name', STREAM],
  ['a stream without name', { stream: { name: '' } }, 'stream.name', STREAM],
  ['a long stream', { stream: { name: 'x'.repeat(64) } }, 'stream.name', STREAM],
  ['two replicas', { stream: { replicas: 2 } }, 'stream.replicas', '"1", "3", "5"'],
  ['other storage', { stream: { storage: 'Tape' } }, 'stream.storage', 'File'],
  ['a quick sweep', { sweepSeconds: 59 }, 'sweepSeconds', 'greater than or equal to 60'],
  ['a slow sweep', { sweepSeconds: 3601 }, 'sweepSeconds', 'less than or equal to 3600'],
  [
    'a short tombstone',
    { retention: { tombstoneSeconds: 239, historySeconds: 0 } },
    'retention.tombstoneSeconds',
    'greater than or equal to 240',
  ],
  [
    'an endless tombstone',
    { retention: { tombstoneSeconds: 2_592_001 } },
    'retention.tombstoneSeconds',
    'less than or equal to 2592000',
  ],
  [
    'tombstones of less than four sweeps',
    { retention: { tombstoneSeconds: 399, historySeconds: 0 }, sweepSeconds: 100 },
    'retention.tombstoneSeconds',
    'raise spec.retention.tombstoneSeconds or lower spec.sweepSeconds.',
  ],
  [
    'sweeps for which the default tombstone is too short',
    { sweepSeconds: 901 },
    'retention.tombstoneSeconds',
    'A deletion has to outlast four sweeps',
  ],
  [
    'more history than tombstones',
    { retention: { historySeconds: 3601 } },
    'retention.historySeconds',
    'raise spec.retention.tombstoneSeconds or lower spec.retention.historySeconds.',
  ],
];

const KINDS: readonly Refused[] = [
  [
    'include and exclude',
    { namespaces: { include: ['a'], exclude: ['b'] } },
    'namespaces',
    'remove one of the two.',
  ],
  ['nobody included', { namespaces: { include: [] } }, 'namespaces.include', 'at least 1'],
  ['a pattern', { namespaces: { exclude: ['kube-*'] } }, 'namespaces.exclude[0]', NAMESPACE],
  [
    '257 namespaces',
    { namespaces: { exclude: many(257, 'n') } },
    'namespaces.exclude',
    'at most 256 items',
  ],
  ['no kinds', { resources: [] }, 'resources', 'at least 1'],
  ['65 kinds', kinds(65), 'resources', 'at most 64 items'],
  [
    'a kind twice, by two versions',
    { resources: [widgets, { ...widgets, version: 'v2' }] },
    'resources',
    'A resource may be named once; leave one entry for each group and resource.',
  ],
  ['a group with version', resource({ group: 'apps/v1' }), 'resources[0].group', GROUP],
  ['a group in capitals', resource({ group: 'Apps' }), 'resources[0].group', GROUP],
  ['a group called core', resource({ group: 'core' }), 'resources[0].group', GROUP],
  ['a version with group', resource({ version: 'apps/v1' }), 'resources[0].version', VERSION],
  ['a version of releases', resource({ version: '1.0' }), 'resources[0].version', VERSION],
  ['a kind', resource({ resource: 'Widget' }), 'resources[0].resource', PLURAL],
  ['a sub-resource', resource({ resource: 'widgets/scale' }), 'resources[0].resource', PLURAL],
  [
    'a label that none can have',
    resource({ matchLabels: { tier: 'a b' } }),
    'resources[0].matchLabels[tier]',
    "Write a label's value",
  ],
];

const FIELDS: readonly Refused[] = [
  ['33 fields', { resources: [{ ...widgets, fields: manyFields(33) }] }, 'fields', 'at most 32'],
  [
    'two fields of one name',
    { resources: [{ ...widgets, fields: [...manyFields(2), ...manyFields(1)] }] },
    'resources[0].fields',
    'Two fields have one name; give each a name of its own.',
  ],
  [
    'a field with an odd name',
    resource({ fields: [{ name: '__proto__', path: '.spec' }] }),
    'resources[0].fields[0].name',
    FIELD_NAME,
  ],
  ['no dot', fields('spec'), 'resources[0].fields[0].path', PATH],
  ['JSONPath', fields('{.spec}'), 'resources[0].fields[0].path', PATH],
  ['an open bracket', fields('.spec[0'), 'resources[0].fields[0].path', PATH],
  ['all metadata', fields('.metadata'), 'resources[0].fields[0].path', WHOLE],
  ['all annotations', fields('.metadata.annotations'), 'fields[0].path', WHOLE],
  ['annotations in brackets', fields(".metadata['annotations']"), 'fields[0].path', WHOLE],
  ['who wrote it', fields('.metadata.managedFields[0].manager'), 'fields[0].path', WHOLE],
  ['the data of Secrets', fields('.data.password', secrets()), 'resources[0].fields', DATA],
  ['all of it', fields('.data', secrets()), 'resources[0].fields', DATA],
  ['in clear', fields('.stringData.a', secrets()), 'resources[0].fields', DATA],
  [
    'the data of ConfigMaps',
    fields(".binaryData['a']", { ...core, resource: 'configmaps' }),
    'resources[0].fields',
    DATA,
  ],
];

const REST: readonly Refused[] = [
  ['label with space', { pods: { labels: ['a b'] } }, 'pods.labels[0]', PATTERN],
  ['two wildcards', { pods: { labels: ['a*b*'] } }, 'pods.labels[0]', PATTERN],
  ['an early wildcard', { pods: { annotations: ['*/a'] } }, 'pods.annotations[0]', PATTERN],
  ['an empty key', { pods: { annotations: [''] } }, 'pods.annotations[0]', PATTERN],
  ['65 keys', { pods: { labels: many(65, 'k') } }, 'pods.labels', 'at most 64 items'],
  ['no Secret', { nats: {} }, 'nats.secretRef', 'Required value'],
  ['an odd Secret', { nats: { secretRef: { name: 'a/b' } } }, 'nats.secretRef.name', SECRET],
];

test.each([...STREAMS, ...KINDS, ...FIELDS, ...REST])(
  '%s is refused',
  async (_what, spec, field, words) => {
    const said = await refusal(feed(spec));
    expect(said).toContain(`${field}: `);
    expect(said).toContain(words);
  },
);

function manyFields(count: number): readonly object[] {
  return many(count, 'f').map((name) => ({ name, path: '.spec' }));
}

function secrets(): object {
  return { ...core, resource: 'secrets' };
}

test.each(BUILT_IN.map(({ ref }) => [ref.resource, ref] as const))(
  'fields of %s are refused: their projection is fixed',
  async (_name, ref) => {
    const spec = { resources: [{ ...ref, fields: [{ name: 'spec', path: '.spec' }] }] };
    expect(await refusal(feed(spec))).toContain(FIXED);
    const ofOthers = { ...ref, group: 'example.com' };
    expect(await refusal(feed({ resources: [{ ...ofOthers, fields: manyFields(1) }] }))).toBe('');
    expect(await refusal(feed({ resources: [ref] }))).toBe('');
  },
);

test.each([
  '.spec',
  '.spec.replicas',
  '.status.conditions[0].type',
  ".metadata.labels['example.com/tier']",
  ".metadata.annotations['example.com/tier']",
  '.metadata.annotations.tier',
  '.metadata.generation',
  '.database.name',
  '.spec.data',
  '.',
  '.spec.',
  '.spec..a',
  '.spec[]',
  ".spec['']",
  '.metadata',
  '.metadata.annotations',
  ".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']",
  ".metadata['managedFields']",
])('the definition and the projection agree on the path %s', async (one) => {
  const isRefused = (await refusal(feed(fields(one)))) !== '';
  expect(isRefused).toBe(refuseFieldPath('example.com', 'widgets', one) !== undefined);
});

const DEFAULTS: MetadataFeedSpec = {
  pods: { labels: ['*'], annotations: [] },
  stream: { replicas: 1, storage: 'File' },
  retention: { tombstoneSeconds: 3_600, historySeconds: 3_600 },
  sweepSeconds: 60,
};

test.each<[string, object | undefined, MetadataFeedSpec]>([
  ['no spec', undefined, DEFAULTS],
  ['an empty spec', {}, DEFAULTS],
  ['empty parts', { pods: {}, stream: {}, retention: {} }, DEFAULTS],
  [
    'part of each',
    {
      pods: { annotations: ['example.com/*'] },
      stream: { name: 'other_Feed-1', replicas: 3 },
      retention: { historySeconds: 0 },
      sweepSeconds: 900,
    },
    {
      pods: { labels: ['*'], annotations: ['example.com/*'] },
      stream: { name: 'other_Feed-1', replicas: 3, storage: 'File' },
      retention: { tombstoneSeconds: 3_600, historySeconds: 0 },
      sweepSeconds: 900,
    },
  ],
  [
    'a resource without group',
    { resources: [{ version: 'v1', resource: 'persistentvolumes' }] },
    { ...DEFAULTS, resources: [{ group: '', version: 'v1', resource: 'persistentvolumes' }] },
  ],
])('%s is taken, with its defaults', async (_what, spec, filled) => {
  const { object } = await kube.create(METADATA_FEEDS, feed(spec), { dryRun: true });
  expect(object['spec']).toEqual(filled);
});

test('as much as may be is taken', async () => {
  const all = kinds(64) as { readonly resources: readonly object[] };
  const spec = {
    resources: all.resources.map((one) => ({ ...one, fields: manyFields(32) })),
    namespaces: { include: many(256, 'n') },
    pods: { labels: many(64, 'k'), annotations: many(64, 'k') },
    stream: { name: 'x'.repeat(63), replicas: 5, storage: 'Memory' },
    retention: { tombstoneSeconds: 2_592_000, historySeconds: 2_592_000 },
    sweepSeconds: 3_600,
  };
  expect(await refusal(feed(spec, 'x'.repeat(63)))).toBe('');
  const least = { retention: { tombstoneSeconds: 240, historySeconds: 0 } };
  expect(await refusal(feed(least, 'x'))).toBe('');
});

const KEEP_NAME = 'The name of the stream is how its readers find it; leave it as it was';
const KEEP_STORAGE = 'NATS cannot move a stream between File and Memory; leave the storage';

test.each<[string, object, object, string]>([
  ['a stream that gets a name', {}, { stream: { name: 'b' } }, KEEP_NAME],
  ['its own name too', {}, { stream: { name: 'edited' } }, KEEP_NAME],
  ['another name', { name: 'a' }, { stream: { name: 'b' } }, KEEP_NAME],
  ['a name taken away', { name: 'a' }, { stream: { name: null } }, KEEP_NAME],
  ['the stream taken away', { name: 'a' }, { stream: null }, KEEP_NAME],
  ['from File to Memory', {}, { stream: { storage: 'Memory' } }, KEEP_STORAGE],
  ['from Memory to the default', { storage: 'Memory' }, { stream: null }, KEEP_STORAGE],
])('an edit is refused: %s', async (_what, stream, edit, sentence) => {
  await withFeed(stream, async (target) => {
    const body = { spec: edit };
    const patched = kube.patch(METADATA_FEEDS, target, { type: 'merge', body }, { dryRun: true });
    expect(await refusalOf(patched)).toContain(sentence);
  });
});

test('all spec taken away is refused when it named a stream', async () => {
  await withFeed({ name: 'a' }, async (target) => {
    const patch = { type: 'merge', body: { spec: null } } as const;
    expect(await refusalOf(kube.patch(METADATA_FEEDS, target, patch))).toContain(KEEP_NAME);
  });
});

test('every other edit is taken', async () => {
  await withFeed({ name: 'a' }, async (target) => {
    const spec = {
      resources: [widgets],
      namespaces: { exclude: ['kube-system'] },
      pods: { labels: [] },
      stream: { name: 'a', replicas: 3 },
      retention: { tombstoneSeconds: 7_200 },
      sweepSeconds: 120,
    };
    const { spec: now } = await kube.patch(METADATA_FEEDS, target, {
      type: 'merge',
      body: { spec },
    });
    expect(now).toMatchObject(spec);
  });
});

async function withFeed(
  stream: object,
  act: (target: { readonly namespace: string; readonly name: string }) => Promise<void>,
): Promise<void> {
  const target = { namespace, name: 'edited' };
  await kube.create(METADATA_FEEDS, feed({ stream }, target.name));
  try {
    await act(target);
  } finally {
    const because = 'the test made it';
    await kube.delete(METADATA_FEEDS, target, { precondition: 'none', because });
  }
}
