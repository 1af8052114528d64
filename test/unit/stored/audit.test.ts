// The answer as a whole: what is counted, what is said of each version of a CRD, and what it comes
// to. Each case is a handful of values as they stand in etcd.
import { describe, expect, test } from 'vitest';
import { auditStored, countStored } from '../../../shared/stored/audit.ts';
import { findingsOf } from '../../../shared/stored/findings.ts';
import { Tally } from '../../../shared/stored/tally.ts';
import { verdictOn } from '../../../shared/stored/verdict.ts';
import type { StoredSource } from '../../../shared/stored/value.ts';

type Values = Readonly<Record<string, string>>;

async function* sourceOf(values: Values): StoredSource {
  for (const [key, text] of Object.entries(values)) {
    const head = Buffer.from(text);
    yield [{ key, head, sizeBytes: head.length, whole: () => head }];
  }
}

const audit = (values: Values, options = {}) => auditStored(sourceOf(values), options);

const object = (apiVersion: string, kind = 'Widget'): string =>
  JSON.stringify({ apiVersion, kind, metadata: {} });

const crd = (versions: readonly string[], storage: string, storedVersions: readonly string[]) => ({
  '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com': JSON.stringify({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: versions.map((name) => ({ name, served: true, storage: name === storage })),
    },
    status: { storedVersions },
  }),
});
const widgets = (...versions: readonly string[]): Values =>
  Object.fromEntries(
    versions.map((version, index) => [
      `/registry/example.com/widgets/web/w${index}`,
      version.startsWith('k8s:') ? version : object(`example.com/${version}`),
    ]),
  );

const verdicts = async (values: Values): Promise<Record<string, string>> => {
  const { verdicts: all } = await audit(values);
  const versions = all.flatMap((verdict) => verdict.versions);
  return Object.fromEntries(
    versions.map(({ apiVersion, says }) => [apiVersion.split('/')[1] ?? '', says]),
  );
};

describe('the verdict on a version', () => {
  test('that nothing is stored in: it may be removed, once the status is trimmed', async () => {
    const both = crd(['v1alpha1', 'v1'], 'v1', ['v1alpha1', 'v1']);
    expect(await verdicts({ ...both, ...widgets('v1', 'v1') })).toEqual({
      v1alpha1:
        'v1alpha1 may be removed: nothing is stored in it; trim status.storedVersions, which ' +
        'lists it, first.',
      v1: 'v1 is the storage version: 2 objects are stored in it.',
    });
    const trimmed = crd(['v1alpha1', 'v1'], 'v1', ['v1']);
    expect(await verdicts(trimmed)).toMatchObject({
      v1alpha1: 'v1alpha1 may be removed: nothing is stored in it.',
    });
  });

  test('that something is stored in: it may not, and one object is named', async () => {
    const trimmed = crd(['v1alpha1', 'v1'], 'v1', ['v1']);
    const values = { ...trimmed, ...widgets('v1alpha1', 'v1', 'v1alpha1') };
    expect((await verdicts(values))['v1alpha1']).toBe(
      'v1alpha1 may not be removed, because 2 objects are stored in it, such as web/w0.',
    );
    expect(await audit(values)).toMatchObject({ outcome: 'old', findings: [expect.any(String)] });
  });

  test('that the CRD has no more, with an object still in it: the kind is broken', async () => {
    const values = { ...crd(['v1'], 'v1', ['v1']), ...widgets('v1', 'v1alpha1') };
    const { v1alpha1 } = await verdicts(values);
    expect(v1alpha1).toContain('v1alpha1 is not in the CRD any more, but 1 object is stored in it');
    expect((await audit(values)).outcome).toBe('old');
  });

  test('beside values that hide theirs: it cannot be told', async () => {
    const values = {
      ...crd(['v1alpha1', 'v1'], 'v1', ['v1']),
      ...widgets('v1', 'k8s:enc:aescbc:v1:key1:xyz'),
    };
    expect((await verdicts(values))['v1alpha1']).toContain('cannot be told');
    expect((await audit(values)).outcome).toBe('unknown');
  });

  test('of a storage version that the status lacks, says so', async () => {
    const { v1 } = await verdicts(crd(['v1'], 'v1', ['v9']));
    expect(v1).toContain('although status.storedVersions lacks it');
  });
});

describe('built-in kinds', () => {
  test('in one version are clean, in two of them something is old', async () => {
    const one = { '/registry/deployments/web/a': object('apps/v1', 'Deployment') };
    expect((await audit(one)).outcome).toBe('clean');
    const old = { '/registry/deployments/web/b': object('extensions/v1beta1', 'Deployment') };
    const { outcome, findings } = await audit({ ...one, ...old });
    expect(outcome).toBe('old');
    expect(findings[0]).toContain('deployments.apps: stored in several versions');
  });

  test('that are encrypted are counted by provider and key', async () => {
    const { rows, outcome } = await audit({
      '/registry/secrets/web/a': 'k8s:enc:aescbc:v1:key1:xyz',
      '/registry/secrets/web/b': 'k8s:enc:aescbc:v1:key2:xyz',
      '/registry/secrets/web/c': object('v1', 'Secret'),
    });
    const shown = rows.map(({ keyName, apiVersion, count }) => [keyName, apiVersion, count]);
    expect(shown).toEqual([
      ['key1', 'v1', 1],
      ['key2', 'v1', 1],
      [undefined, 'v1', 1],
    ]);
    // The core group has no other version.
    expect(outcome).toBe('clean');
  });

  test('whose version is hidden cannot be told', async () => {
    const hidden = { '/registry/deployments/web/a': 'k8s:enc:kms:v2:vault:xyz' };
    expect((await audit(hidden)).findings).toEqual([
      'deployments.apps: 1 stored encrypted (kms:v2, key vault), such as web/a: ' +
        'the version is inside.',
    ]);
  });
});

test('what cannot be read is counted and named by its key', async () => {
  const { unreadable, outcome, findings, values } = await audit({
    '/registry/pods/web/a': 'rubbish',
    '/registry/pods/web/b': object('v1', 'Pod'),
  });
  expect(unreadable.count).toBe(1);
  expect(unreadable.examples[0]).toMatch(/^\/registry\/pods\/web\/a is neither/);
  expect([outcome, values, findings.length]).toEqual(['unknown', 2, 1]);
});

test('a definition that cannot be read leaves a doubt', async () => {
  const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com';
  const broken = {
    [key]: '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1"}',
  };
  expect((await audit({ ...broken, ...widgets('v1') })).outcome).toBe('unknown');
});

test('objects of a custom resource whose definition is not there leave a doubt', async () => {
  const apiServices = {
    '/registry/apiregistration.k8s.io/apiservices/v1.apps': object(
      'apiregistration.k8s.io/v1',
      'APIService',
    ),
  };
  const answer = await audit({ ...apiServices, ...widgets('v1alpha1', 'v1alpha1') });
  expect(answer).toMatchObject({
    outcome: 'unknown',
    findings: [
      'widgets.example.com: 2 objects are stored as v1alpha1, and no CustomResourceDefinition ' +
        'says which version is written: see that all of etcd was read, and that the prefix is ' +
        "the API server's own.",
    ],
  });
  expect((await audit(apiServices)).outcome).toBe('clean');
});

test('no key at all is not what the etcd of an API server holds', async () => {
  expect(await audit({})).toMatchObject({
    outcome: 'unknown',
    findings: ['There is no key at all: see that this is the etcd of an API server.'],
  });
});

test('definitions under a longer prefix are not taken for something else', async () => {
  const longer = Object.fromEntries(
    Object.entries({ ...crd(['v1alpha1', 'v1'], 'v1', []), ...widgets('v1alpha1') }).map(
      ([key, value]) => [key.replace('/registry/', '/registry/blue/'), value],
    ),
  );
  const pods = { '/registry/pods/web/a': object('v1', 'Pod') };
  expect(await audit({ ...pods, ...longer })).toMatchObject({
    outcome: 'unknown',
    findings: expect.arrayContaining([
      'CustomResourceDefinitions are under /registry/blue too: name it as a prefix.',
    ]),
  });
  const prefixes = ['/registry', '/registry/blue'];
  expect((await audit({ ...pods, ...longer }, { prefixes })).outcome).toBe('old');
});

test('keys elsewhere are told, and with nothing under ours it is no clean answer', async () => {
  const values = { '/my/pods/web/a': object('v1', 'Pod') };
  const { outcome, elsewhere } = await audit(values);
  expect([outcome, elsewhere]).toEqual(['unknown', { count: 1, examples: ['/my/pods/web/a'] }]);
  expect((await audit(values, { prefixes: ['/my'] })).outcome).toBe('clean');
});

test('examples are the same in whatever order the values come', async () => {
  const values = widgets('v1', 'v1', 'v1', 'v1', 'v1');
  const turned = Object.fromEntries(Object.entries(values).toReversed());
  const [there, back] = [await audit(values), await audit(turned)];
  expect(there.rows).toEqual(back.rows);
  expect(there.rows[0]?.examples).toEqual(['web/w0', 'web/w1', 'web/w2']);
});

test('one resource is counted without the others', async () => {
  const source = sourceOf({
    ...widgets('v1', 'v1alpha1', 'k8s:enc:aescbc:v1:key1:xyz'),
    '/registry/pods/web/a': object('v1', 'Pod'),
  });
  const count = await countStored(source, { group: 'example.com', resource: 'widgets' });
  expect(count).toEqual({
    total: 3,
    versions: new Map([
      ['example.com/v1', { count: 1, examples: ['web/w0'] }],
      ['example.com/v1alpha1', { count: 1, examples: ['web/w1'] }],
    ]),
    hidden: { count: 1, examples: ['web/w2'] },
  });
});

const WIDGETS = { group: 'example.com', resource: 'widgets' };
const GADGETS = { group: 'example.com', resource: 'gadgets' };
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' };
const TEMPLATES = { group: '', resource: 'podtemplates' };

describe('a resource that was asked for, of which there is nothing', () => {
  test('is clean where its definition is there', async () => {
    const answer = await audit(crd(['v1'], 'v1', ['v1']), { resources: [WIDGETS] });
    expect(answer.outcome).toBe('clean');
  });

  test('is clean where it is a known one, and other keys are there', async () => {
    const answer = await audit(crd(['v1'], 'v1', ['v1']), { resources: [DEPLOYMENTS, TEMPLATES] });
    expect(answer.outcome).toBe('clean');
  });

  test('is not told where nobody knows such a name', async () => {
    const answer = await audit(crd(['v1'], 'v1', ['v1']), { resources: [WIDGETS, GADGETS] });
    expect(answer).toMatchObject({
      outcome: 'unknown',
      findings: [
        'gadgets.example.com: neither a value nor a CustomResourceDefinition of it is under ' +
          '/registry, /kubernetes.io: see that this is its name, and where the API server keeps ' +
          'its keys.',
      ],
    });
  });

  test.each([[WIDGETS], [DEPLOYMENTS], [TEMPLATES]])(
    'is not told where no key at all is under the prefixes: %s',
    async (resource) => {
      const resources = [resource];
      expect((await audit({}, { resources, prefixes: ['/wrong'] })).outcome).toBe('unknown');
      const elsewhere = { '/other/example.com/widgets/web/w0': object('example.com/v1') };
      expect((await audit(elsewhere, { resources })).outcome).toBe('unknown');
    },
  );
});

test('keys elsewhere are no doubt about a resource of which there is nothing', async () => {
  const answer = await audit(
    { ...crd(['v1'], 'v1', ['v1']), '/other/key': 'x' },
    { resources: [WIDGETS] },
  );
  expect(answer).toMatchObject({ outcome: 'clean', elsewhere: { count: 1 } });
});

test('each row is looked at as often among many definitions as among few', () => {
  const readsOf = (count: number): number => {
    const options = { prefixes: ['/registry'], examplesMax: 0, looksElsewhere: false };
    const tally = new Tally(options);
    for (let index = 0; index < count; index += 1) {
      const head = Buffer.from(object('example.com/v1'));
      const key = `/registry/example.com/kinds${index}/web/a`;
      tally.add({ key, head, sizeBytes: head.length, whole: () => head });
    }
    const rows = tally.rows();
    const judged = rows.map((row) =>
      verdictOn({ ...row, versions: [], storedVersions: [] }, { rows: [row], fields: new Map() }),
    );
    let reads = 0;
    const counting = rows.map(
      (row) =>
        new Proxy(row, {
          get: (target, name) => {
            reads += 1;
            const value: unknown = Reflect.get(target, name);
            return value;
          },
        }),
    );
    findingsOf(counting, judged, tally, { prefixes: ['/registry'] });
    return reads / count;
  };
  expect(readsOf(400)).toBe(readsOf(100));
});
