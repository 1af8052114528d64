// Named fields of kinds of others: which paths are read, what they find, and which are refused.
import { expect, test } from 'vitest';
import { refuseFieldPath } from '../../../shared/feed/projections/fields.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import { object, plan } from './objects.ts';

const labels = { 'example.com/tier': 'gold' };
const widget = object(
  'Widget',
  { labels, annotations: { 'example.com/notes': 'n' } },
  {
    spec: { size: 3, 'a.b': { c: true }, nothing: null },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Fit', reason: 'Small' },
      ],
    },
  },
);

function found(path: string): unknown {
  const fields = [{ name: 'it', path }];
  return show('widgets.example.com', widget, { ...plan, fields })[0]?.message.fields?.['it'];
}

test.each<[string, unknown]>([
  ['.spec.size', 3],
  ['.spec.nothing', null],
  [".spec['a.b']", { c: true }],
  [".spec['a.b'].c", true],
  ["['spec']['size']", 3],
  ['.status.conditions[1].reason', 'Small'],
  ['.status.conditions[1]', { reason: 'Small', type: 'Fit' }],
  [".metadata.labels['example.com/tier']", 'gold'],
  [".metadata.annotations['example.com/notes']", 'n'],
  ['.status.conditions[2]', undefined],
  ['.status.conditions.length', undefined],
  ['.spec[0]', undefined],
  ['.spec.constructor', undefined],
  ['.spec.size.more', undefined],
  ['.missing', undefined],
])('the path %s finds %j', (path, value) => {
  expect(refuseFieldPath('example.com', 'widgets', path)).toBeUndefined();
  expect(found(path)).toEqual(value);
});

test('fields stand in the order of their names, and so does all that is in them', () => {
  const fields = [
    { name: 'b', path: '.status.conditions' },
    { name: 'none', path: '.missing' },
    { name: 'a', path: '.spec' },
  ];
  const [shown] = show('widgets.example.com', widget, { ...plan, fields });
  expect(JSON.stringify(shown?.message.fields)).toBe(
    '{"a":{"a.b":{"c":true},"nothing":null,"size":3},' +
      '"b":[{"status":"True","type":"Ready"},{"reason":"Small","type":"Fit"}]}',
  );
  expect(shown?.message).toMatchObject({ kind: 'Widget', labels });
  expect(shown?.subject).toBe('all._.widgets%2eexample%2ecom.web.a');
});

test('an integer that no number holds exactly is shown digit by digit', () => {
  const big = object('Widget', {}, { spec: { at: JSON.rawJSON('9007199254740993') } });
  const fields = [{ name: 'spec', path: '.spec' }];
  const [shown] = show('widgets.example.com', big, { ...plan, fields });
  expect(JSON.stringify(shown?.message.fields)).toBe('{"spec":{"at":9007199254740993}}');
});

test('built-in kinds show what they show: no field can be named', () => {
  const fields = [{ name: 'spec', path: '.spec' }];
  const [shown] = show('deployments', widget, { ...plan, fields });
  expect(shown?.message).not.toHaveProperty('fields');
});

test.each([
  ['', 'secrets', '.data', 'the data of secrets'],
  ['', 'Secret', '.data.password', 'the data of Secret'],
  ['', 'secrets', ".stringData['a.b']", 'the data of secrets'],
  ['', 'configmaps', "['binaryData']", 'the data of configmaps'],
  ['', 'ConfigMap', '.data[0]', 'the data of ConfigMap'],
  ['example.com', 'widgets', '.spec.template.spec.containers[0].env', 'env'],
  ['example.com', 'widgets', ".spec['args']", 'args'],
  ['', 'secrets', '.metadata.managedFields[0]', 'managedFields'],
  ['', 'secrets', '.metadata', 'all annotations'],
  ['example.com', 'widgets', '.metadata.annotations', 'all annotations'],
  [
    'example.com',
    'widgets',
    ".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']",
    'kubectl.kubernetes.io/last-applied-configuration',
  ],
])('of %j %s the path %s is refused in a sentence', (group, kind, path, sentence) => {
  const reason = refuseFieldPath(group, kind, path);
  expect(reason).toContain(`The path ${path} holds ${sentence}, which no feed shows; name`);
  expect(reason).toMatch(/\.$|\]\.$/);
});

test.each(['', '.', 'spec', '.spec.', '.spec..a', '.spec[-1]', '.spec[*]', '.spec[a]', '. spec'])(
  'the path %j cannot be read',
  (path) => {
    expect(refuseFieldPath('example.com', 'widgets', path)).toMatch(/^The path .* cannot be read/);
    expect(found(path)).toBeUndefined();
  },
);

test('only the data of secrets and config maps is hidden by that name', () => {
  expect(refuseFieldPath('example.com', 'secrets', '.data')).toBeUndefined();
  expect(refuseFieldPath('', 'secrets', '.type')).toBeUndefined();
  expect(refuseFieldPath('', 'configmaps', '.spec.data')).toBeUndefined();
});
