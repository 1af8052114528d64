// Two definitions alone say of an upgrade: a weight, a sentence, commands.
import { describe, expect, test } from 'vitest';
import {
  compareCrds,
  compareWithOthers,
  type Stored,
} from '../../../../functions/storage-audit/against/compare.ts';
import { type Crd, crdOf } from '../../../../functions/storage-audit/against/crd.ts';
import { crdManifest, type CrdShape } from '../../../builders/crd-shape.ts';

const NONE = { count: 0, examples: [] };
const schema = { type: 'object' };
/** The last is the storage version. */
const shape = (...names: readonly string[]): CrdShape => ({
  group: 'example.com',
  plural: 'widgets',
  kind: 'Widget',
  versions: names.map((name) => ({ name, schema, storage: name === names.at(-1) })),
});
const crd = (of: CrdShape, ...storedVersions: readonly string[]): Crd =>
  crdOf({ ...crdManifest(of), status: { storedVersions } });
const service = (name: string) => ({
  strategy: 'Webhook',
  webhook: { clientConfig: { service: { namespace: 'web', name } } },
});

function stored(versions?: Readonly<Record<string, number>>, more: Partial<Stored> = {}): Stored {
  const counts = Object.entries(versions ?? {});
  const byVersion = new Map(counts.map(([name, count]) => [name, { count, examples: ['web/a'] }]));
  const objects = counts.reduce((sum, [, count]) => sum + count, 0);
  const known = versions === undefined ? undefined : byVersion;
  return { objects, byVersion: known, inFields: new Map(), hidden: NONE, ...more };
}

const reasons = (from: Crd, to: Crd, of: Stored) =>
  compareCrds({ from, to, stored: of }).map(({ what, weight }) => `${what}: ${weight}`);

const [old, both, current] = [shape('v1alpha1'), shape('v1alpha1', 'v1'), shape('v1')];
const webhook = { ...both, conversion: service('hook') };

describe('a version is removed', () => {
  test.each([
    ['listed and stored', ['v1alpha1', 'v1'], { v1alpha1: 2, v1: 1 }, 'unsafe'],
    ['listed, and nothing is stored in it', ['v1alpha1', 'v1'], { v1: 1 }, 'unsafe'],
    ['stored, and not listed any more', ['v1'], { v1alpha1: 2 }, 'unsafe-objects'],
    ['neither', ['v1'], { v1: 3 }, 'note'],
    ['not listed, and nobody knows what is stored', ['v1'], undefined, 'note'],
  ])('%s', (_, listed, versions, weight) => {
    const found = reasons(crd(both, ...listed), crd(current), stored(versions));
    expect(found).toEqual([`version-removed: ${weight}`]);
  });

  test('a version that only the list names is lost as well', () => {
    const found = reasons(crd(current, 'v1alpha1', 'v1'), crd(current), stored({}));
    expect(found).toEqual(['version-removed: unsafe']);
  });

  test('the storage version of now can be exchanged before: a third command does it', () => {
    const from = crd(shape('v1', 'v1alpha1'), 'v1alpha1');
    const [reason] = compareCrds({ from, to: crd(current), stored: stored({ v1alpha1: 1 }) });
    const patch = [
      { op: 'test', path: '/spec/versions/1/name', value: 'v1alpha1' },
      { op: 'replace', path: '/spec/versions/1/storage', value: false },
      { op: 'test', path: '/spec/versions/0/name', value: 'v1' },
      { op: 'replace', path: '/spec/versions/0/storage', value: true },
    ];
    expect(reason?.commands).toEqual([
      `kubectl patch crd widgets.example.com --type=json -p '${JSON.stringify(patch)}'`,
      'npm run -s migrate -- widgets.example.com | kubectl apply -f -',
      "kubectl wait --for=jsonpath='{.status.phase}'=Done " +
        'storagemigration/widgets.example.com --timeout=1h',
    ]);
  });

  test('where the new one is not there yet, a release between them helps, and no command', () => {
    const upgrade = { from: crd(old, 'v1alpha1'), to: crd(current), stored: stored({}) };
    const [reason] = compareCrds(upgrade);
    expect(reason?.commands).toEqual([]);
    expect(reason?.says).toContain('First apply a release that has it and v1');
  });

  test('managedFields that name it are told', () => {
    const inFields = new Map([['v1alpha1', { count: 4, examples: [] }]]);
    const upgrade = { from: crd(both, 'v1'), to: crd(current), stored: stored({}, { inFields }) };
    expect(compareCrds(upgrade)[0]?.says).toContain('The managedFields of 4 objects name it');
  });
});

describe('conversion', () => {
  test.each([
    ['comes', both, webhook, { v1: 1 }, 'note'],
    ['ends, and all is stored in the new storage version', webhook, both, { v1: 1 }, 'note'],
    ['ends, and something is not', webhook, both, { v1alpha1: 1 }, 'unsafe-objects'],
    ['moves', webhook, { ...both, conversion: service('other') }, { v1: 1 }, 'note'],
  ])('by a webhook %s', (_, from, to, versions, weight) => {
    const found = reasons(crd(from, 'v1'), crd(to), stored(versions));
    expect(found).toEqual([`conversion-changed: ${weight}`]);
  });

  test('by a webhook ends, and how objects are stored is not known', () => {
    const of = stored(undefined, { objects: 3 });
    expect(reasons(crd(webhook, 'v1'), crd(both), of)).toEqual(['conversion-changed: unknown']);
  });

  test('by the same webhook as before is nothing to tell', () => {
    expect(reasons(crd(webhook, 'v1'), crd(webhook), stored({ v1: 1 }))).toEqual([]);
  });
});

test.each([
  ['another scope', { ...both, scope: 'Cluster' }, ['scope-changed: unsafe']],
  ['not served any more', unserved(), ['version-unserved: note']],
  ['another storage version', shape('v1', 'v1alpha1'), ['storage-flipped: note']],
])('%s', (_, to, expected) => {
  expect(reasons(crd(both, 'v1'), crd(to), stored({ v1: 1 }))).toEqual(expected);
});

function unserved(): CrdShape {
  return { ...both, versions: both.versions.map((one) => ({ ...one, served: one.name === 'v1' })) };
}

test('values that cannot be read make it unknown', () => {
  const hidden = { count: 2, examples: ['web/x'] };
  const found = reasons(crd(both, 'v1'), crd(both), stored({}, { hidden }));
  expect(found).toEqual(['not-checked: unknown']);
});

describe('other definitions', () => {
  const other = (more: Partial<CrdShape>) => crd({ ...current, plural: 'gadgets', ...more });
  test.each([
    ['the same kind in the group', other({}), ['name-taken: unsafe']],
    ['another kind in the group', other({ kind: 'Gadget' }), []],
    ['the same kind elsewhere', crd({ ...current, group: 'old.com' }), ['kind-elsewhere: note']],
    ['itself', crd(current), []],
  ])('%s', (_, one, expected) => {
    const found = compareWithOthers(crd(current), [one]);
    expect(found.map(({ what, weight }) => `${what}: ${weight}`)).toEqual(expected);
  });
});
